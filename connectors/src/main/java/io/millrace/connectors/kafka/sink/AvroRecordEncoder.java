// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.column.Schema;
import io.millrace.connectors.avro.ColumnSchemas;
import io.millrace.connectors.avro.SchemaRegistry;
import io.millrace.connectors.avro.SchemaRegistryClient;
import io.millrace.device.DeviceStream;
import io.millrace.format.RecordWriter;
import io.millrace.format.avro.AvroWriter;
import io.millrace.memory.MemoryResource;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes a record for each row: its value is the row as a datum of Avro, as {@link AvroWriter}
 * writes it on the device. A key is the bytes of a STRING or BINARY column, or a datum of other
 * columns or of several. The schemas are {@link ColumnSchemas#text}.
 *
 * <p>With a registry, the schemas are registered when the operator begins, and datums stand behind
 * the ids of their schemas, in the wire format of Confluent.
 */
@PublicEvolving
public final class AvroRecordEncoder extends RowRecordEncoder {
  private static final long serialVersionUID = 1L;

  // Both are null if there is no registry.
  private final SchemaRegistry registry;
  private final String topic;

  // null if the values have no id, or the registry gives it.
  private final Integer valueId;

  private AvroRecordEncoder(
      Schema schema,
      List<String> values,
      List<String> keys,
      SchemaRegistry registry,
      String topic,
      Integer valueId) {
    super(schema, values, keys, 0);
    this.registry = registry;
    this.topic = topic;
    this.valueId = valueId;
  }

  /**
   * Values of all columns, without a key and without ids of schemas.
   *
   * @throws IllegalArgumentException if {@link ColumnSchemas#text} says why rows cannot be written
   */
  public static AvroRecordEncoder of(Schema schema) {
    ColumnSchemas.text(schema);
    return new AvroRecordEncoder(schema, schema.names(), List.of(), null, null, null);
  }

  /**
   * The same values, with a key of these columns.
   *
   * @throws IllegalArgumentException if there is no such column
   */
  public AvroRecordEncoder withKey(String... columns) {
    return new AvroRecordEncoder(schema(), values(), List.of(columns), registry, topic, valueId);
  }

  /** Values of the columns that are not in the key, which {@link #withKey} gave before. */
  public AvroRecordEncoder withoutKeyInValue() {
    return new AvroRecordEncoder(schema(), valuesWithoutKey(), keys(), registry, topic, valueId);
  }

  /**
   * The same records, with the ids that the schemas have in a registry.
   *
   * @param topicName whose schemas have the subjects {@code NAME-value} and {@code NAME-key}
   */
  public AvroRecordEncoder withRegistry(SchemaRegistry schemas, String topicName) {
    return new AvroRecordEncoder(schema(), values(), keys(), schemas, topicName, null);
  }

  /** The same records, with an id in front of their values; keys have none. */
  public AvroRecordEncoder withSchemaId(int id) {
    return new AvroRecordEncoder(schema(), values(), keys(), null, null, id);
  }

  /**
   * {@inheritDoc}
   *
   * @throws java.io.UncheckedIOException if the registry does not answer, or refuses a schema
   */
  @Override
  public void open(DeviceStream stream, MemoryResource memory) {
    super.open(stream, memory);
  }

  @Override
  RecordWriter valueWriter(Schema columns, DeviceStream stream, MemoryResource memory) {
    return valueId == null
        ? writer(columns, "value", stream, memory)
        : new AvroWriter(columns, valueId, stream, memory);
  }

  @Override
  RecordWriter keyWriter(Schema columns, DeviceStream stream, MemoryResource memory) {
    return writer(columns, "key", stream, memory);
  }

  private RecordWriter writer(
      Schema columns, String part, DeviceStream stream, MemoryResource memory) {
    if (registry == null) {
      return new AvroWriter(columns, stream, memory);
    }
    int id =
        new SchemaRegistryClient(registry)
            .register(topic + "-" + part, ColumnSchemas.text(columns));
    return new AvroWriter(columns, id, stream, memory);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.avro;

import io.millrace.column.Schema;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.format.RecordFilter;
import io.millrace.format.RecordReader;
import io.millrace.format.avro.AvroReader;
import io.millrace.format.avro.AvroType;
import io.millrace.operators.context.DeviceContext;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;

/** Records of Avro, as {@link AvroReader} reads them. */
@PublicEvolving
public final class AvroRecordFormat implements RecordFormat {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  // One of them is null.
  private final AvroType writer;
  private final SchemaRegistry registry;

  private AvroRecordFormat(Schema schema, AvroType writer, SchemaRegistry registry) {
    this.schema = schema;
    this.writer = writer;
    this.registry = registry;
  }

  /**
   * Records of one schema, which they do not name.
   *
   * @param writerSchema the schema that the records were written with, as JSON
   * @throws IllegalArgumentException if it is not a schema, or its records cannot be read into the
   *     columns
   */
  public static AvroRecordFormat of(Schema schema, String writerSchema) {
    AvroType writer = WriterSchemas.parse(writerSchema);
    AvroReader.checkSupported(schema);
    AvroReader.unsupported(schema, writer)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException(why);
            });
    return new AvroRecordFormat(schema, writer, null);
  }

  /**
   * Records that begin with the id of their schema in a registry, in the wire format of Confluent.
   * The registry is asked for each schema once by each reader; if it does not answer, the job
   * fails. A record of a schema that is not there, or that cannot be read into the columns, is
   * malformed.
   *
   * @throws IllegalArgumentException if {@link AvroReader#unsupported(Schema)} says why the columns
   *     cannot be read
   */
  public static AvroRecordFormat of(Schema schema, SchemaRegistry registry) {
    AvroReader.checkSupported(schema);
    return new AvroRecordFormat(schema, null, registry);
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public Optional<String> unsupported(RecordFilter filter) {
    return filter.unsupported(schema);
  }

  @Override
  public RecordReader createReader(DeviceContext context, Optional<RecordFilter> filter) {
    if (writer != null) {
      return new AvroReader(schema, writer, filter, context.stream(), context.resource());
    }
    SchemaRegistryClient client = new SchemaRegistryClient(registry);
    return new AvroReader(
        schema,
        id -> client.schema(id).map(WriterSchemas::parse),
        filter,
        context.stream(),
        context.resource());
  }

  @Override
  public String reason(byte[] record, String reason) {
    return reason;
  }
}

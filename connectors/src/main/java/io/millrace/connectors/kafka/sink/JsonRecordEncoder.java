// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.column.Schema;
import io.millrace.device.DeviceStream;
import io.millrace.format.RecordWriter;
import io.millrace.format.TimestampFormat;
import io.millrace.format.json.JsonWriter;
import io.millrace.memory.MemoryResource;
import java.util.List;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes a record for each row: its value is the row as a JSON object, as {@link JsonWriter} writes
 * it on the device. A key is the bytes of a STRING or BINARY column, or a JSON object of other
 * columns or of several.
 */
@PublicEvolving
public final class JsonRecordEncoder extends RowRecordEncoder {
  private static final long serialVersionUID = 1L;

  private static final int LINE_FEED_BYTES = 1;

  private final TimestampFormat timestamps;

  private JsonRecordEncoder(
      Schema schema, List<String> values, List<String> keys, TimestampFormat timestamps) {
    super(schema, values, keys, LINE_FEED_BYTES);
    this.timestamps = timestamps;
  }

  /**
   * Values of all columns, without a key.
   *
   * @throws IllegalArgumentException if {@link JsonWriter#unsupported} says why rows cannot be
   *     written
   */
  public static JsonRecordEncoder of(Schema schema) {
    Optional<String> unsupported = JsonWriter.unsupported(schema);
    if (unsupported.isPresent()) {
      throw new IllegalArgumentException(unsupported.get());
    }
    return new JsonRecordEncoder(schema, schema.names(), List.of(), TimestampFormat.ISO_8601);
  }

  /**
   * The same values, with a key of these columns.
   *
   * @throws IllegalArgumentException if there is no such column
   */
  public JsonRecordEncoder withKey(String... columns) {
    return new JsonRecordEncoder(schema(), values(), List.of(columns), timestamps);
  }

  /** Values of the columns that are not in the key, which {@link #withKey} gave before. */
  public JsonRecordEncoder withoutKeyInValue() {
    return new JsonRecordEncoder(schema(), valuesWithoutKey(), keys(), timestamps);
  }

  /** The same records with another form of timestamps than that of ISO 8601. */
  public JsonRecordEncoder withTimestamps(TimestampFormat format) {
    return new JsonRecordEncoder(schema(), values(), keys(), format);
  }

  @Override
  RecordWriter valueWriter(Schema columns, DeviceStream stream, MemoryResource memory) {
    return new JsonWriter(columns, timestamps, stream, memory);
  }
}

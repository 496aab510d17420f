// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.column.Schema;
import io.millrace.device.DeviceStream;
import io.millrace.format.RecordWriter;
import io.millrace.format.TimestampFormat;
import io.millrace.format.csv.CsvWriter;
import io.millrace.memory.MemoryResource;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes a record for each row: its value is the row as CSV, as {@link CsvWriter} writes it on the
 * device, without the line feed. A key is the bytes of a STRING or BINARY column, or CSV of other
 * columns or of several.
 */
@PublicEvolving
public final class CsvRecordEncoder extends RowRecordEncoder {
  private static final long serialVersionUID = 1L;

  private static final int LINE_FEED_BYTES = 1;

  private final char delimiter;
  private final TimestampFormat timestamps;

  private CsvRecordEncoder(
      Schema schema,
      List<String> values,
      List<String> keys,
      char delimiter,
      TimestampFormat timestamps) {
    super(schema, values, keys, LINE_FEED_BYTES);
    this.delimiter = delimiter;
    this.timestamps = timestamps;
  }

  /**
   * Values of all columns, without a key.
   *
   * @param delimiter between fields, as {@link CsvWriter} takes it
   * @throws IllegalArgumentException if {@link CsvWriter#unsupported} says why rows cannot be
   *     written
   */
  public static CsvRecordEncoder of(Schema schema, char delimiter) {
    CsvWriter.checkSupported(schema);
    return new CsvRecordEncoder(
        schema, schema.names(), List.of(), delimiter, TimestampFormat.ISO_8601);
  }

  /**
   * The same values, with a key of these columns.
   *
   * @throws IllegalArgumentException if there is no such column
   */
  public CsvRecordEncoder withKey(String... columns) {
    return new CsvRecordEncoder(schema(), values(), List.of(columns), delimiter, timestamps);
  }

  /** Values of the columns that are not in the key, which {@link #withKey} gave before. */
  public CsvRecordEncoder withoutKeyInValue() {
    return new CsvRecordEncoder(schema(), valuesWithoutKey(), keys(), delimiter, timestamps);
  }

  /** The same records with another form of timestamps than that of ISO 8601. */
  public CsvRecordEncoder withTimestamps(TimestampFormat format) {
    return new CsvRecordEncoder(schema(), values(), keys(), delimiter, format);
  }

  @Override
  RecordWriter valueWriter(Schema columns, DeviceStream stream, MemoryResource memory) {
    return new CsvWriter(columns, delimiter, timestamps, stream, memory);
  }
}

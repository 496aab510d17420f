// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.column.ColumnReader;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes a record for each row, whose value is the bytes of a STRING or BINARY column as they are;
 * a null becomes a record without a value. Flink calls the format {@code raw}.
 */
@PublicEvolving
public final class RawRecordEncoder implements RecordEncoder {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  // The value's, and the key's if there is one.
  private final List<String> columns;

  private RawRecordEncoder(Schema schema, List<String> columns) {
    columns.forEach(name -> check(schema, name));
    this.schema = schema;
    this.columns = List.copyOf(columns);
  }

  private static void check(Schema schema, String name) {
    if (!schema.type(schema.indexOf(name)).id().isVariableWidth()) {
      throw new IllegalArgumentException(
          "expected STRING or BINARY for the column '%s', got %s"
              .formatted(name, schema.type(schema.indexOf(name))));
    }
  }

  /**
   * Values of a column, without a key.
   *
   * @throws IllegalArgumentException if there is no such column, or it is neither STRING nor BINARY
   */
  public static RawRecordEncoder of(Schema schema, String value) {
    return new RawRecordEncoder(schema, List.of(value));
  }

  /**
   * The same values, with the bytes of a column as the key.
   *
   * @throws IllegalArgumentException as {@link #of}
   */
  public RawRecordEncoder withKey(String key) {
    return new RawRecordEncoder(schema, List.of(columns.get(0), key));
  }

  @Override
  public Table write(Table table) {
    return table.select(columns);
  }

  @Override
  public List<KafkaRecord> records(Table written, AccessScope scope) {
    List<ColumnReader> readers =
        written.columns().stream().map(column -> new ColumnReader(column, scope)).toList();
    List<KafkaRecord> records = new ArrayList<>(written.rowCount());
    for (int row = 0; row < written.rowCount(); row++) {
      byte[] key = readers.size() > 1 ? bytes(readers.get(1), row) : null;
      records.add(new KafkaRecord(key, bytes(readers.get(0), row), KafkaRecord.NO_TIMESTAMP));
    }
    return records;
  }

  private static byte[] bytes(ColumnReader column, int row) {
    return column.isNull(row) ? null : column.getBytes(row);
  }
}

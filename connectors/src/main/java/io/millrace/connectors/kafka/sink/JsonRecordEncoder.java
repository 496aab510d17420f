// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.column.ColumnReader;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.memory.AccessScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes a record for each row: its value is the row as a JSON object, as {@link JsonLinesEncoder}
 * writes it. A key is the bytes of a STRING or BINARY column, or a JSON object of other columns or
 * of several.
 */
@PublicEvolving
public final class JsonRecordEncoder implements RecordEncoder {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final List<String> values;
  private final List<String> keys;
  private final JsonLinesEncoder json = new JsonLinesEncoder();

  private JsonRecordEncoder(Schema schema, List<String> values, List<String> keys) {
    this.schema = schema;
    this.values = List.copyOf(values);
    this.keys = List.copyOf(keys);
  }

  /** Values of all columns, without a key. */
  public static JsonRecordEncoder of(Schema schema) {
    return new JsonRecordEncoder(schema, schema.names(), List.of());
  }

  /**
   * The same values, with a key of these columns.
   *
   * @throws IllegalArgumentException if there is no such column
   */
  public JsonRecordEncoder withKey(String... columns) {
    List<String> names = List.of(columns);
    names.forEach(schema::indexOf);
    return new JsonRecordEncoder(schema, values, names);
  }

  /** Values of the columns that are not in the key. */
  public JsonRecordEncoder withoutKeyInValue() {
    return new JsonRecordEncoder(
        schema, schema.names().stream().filter(name -> !keys.contains(name)).toList(), keys);
  }

  @Override
  public List<KafkaRecord> encode(Table table, AccessScope scope) {
    List<byte[]> valueBytes = objects(table, values, scope);
    List<byte[]> keyBytes = keys(table, scope);
    List<KafkaRecord> records = new ArrayList<>(valueBytes.size());
    for (int row = 0; row < valueBytes.size(); row++) {
      records.add(
          new KafkaRecord(keyBytes.get(row), valueBytes.get(row), KafkaRecord.NO_TIMESTAMP));
    }
    return records;
  }

  private List<byte[]> keys(Table table, AccessScope scope) {
    if (keys.isEmpty()) {
      return Arrays.asList(new byte[table.rowCount()][]);
    }
    int first = schema.indexOf(keys.get(0));
    return keys.size() == 1 && schema.type(first).id().isVariableWidth()
        ? bytes(new ColumnReader(table.column(first), scope))
        : objects(table, keys, scope);
  }

  private static List<byte[]> bytes(ColumnReader column) {
    byte[][] bytes = new byte[column.size()][];
    for (int row = 0; row < bytes.length; row++) {
      bytes[row] = column.isNull(row) ? null : column.getBytes(row);
    }
    return Arrays.asList(bytes);
  }

  private List<byte[]> objects(Table table, List<String> columns, AccessScope scope) {
    byte[] lines;
    try (Table selected = table.select(columns)) {
      lines = json.encode(selected, scope);
    }
    List<byte[]> objects = new ArrayList<>(table.rowCount());
    int start = 0;
    for (int i = 0; i < lines.length; i++) {
      // Line feeds within strings are escapes.
      if (lines[i] == '\n') {
        objects.add(Arrays.copyOfRange(lines, start, i));
        start = i + 1;
      }
    }
    return objects;
  }
}

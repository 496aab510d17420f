// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordWriter;
import io.millrace.format.json.JsonWriter;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes a record for each row: its value is the row as a JSON object, as {@link JsonWriter} writes
 * it on the device. A key is the bytes of a STRING or BINARY column, or a JSON object of other
 * columns or of several.
 */
@PublicEvolving
public final class JsonRecordEncoder implements RecordEncoder {
  private static final long serialVersionUID = 1L;

  private static final String VALUE = "value";
  private static final String KEY = "key";

  private final Schema schema;
  private final List<String> values;
  private final List<String> keys;
  private transient RecordWriter valueWriter;
  // null if there is no key, or the key is a column as it is
  private transient RecordWriter keyWriter;

  private JsonRecordEncoder(Schema schema, List<String> values, List<String> keys) {
    this.schema = schema;
    this.values = List.copyOf(values);
    this.keys = List.copyOf(keys);
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

  private boolean isKeyAsItIs() {
    return keys.size() == 1 && schema.type(schema.indexOf(keys.get(0))).id().isVariableWidth();
  }

  @Override
  public void open(DeviceStream stream, MemoryResource memory) {
    valueWriter = new JsonWriter(schema.select(values), stream, memory);
    if (!keys.isEmpty() && !isKeyAsItIs()) {
      keyWriter = new JsonWriter(schema.select(keys), stream, memory);
    }
  }

  @Override
  public Table write(Table table) {
    return Table.of(
        writtenSchema(),
        table.rowCount(),
        column -> column == 0 ? lines(table, values, valueWriter) : key(table));
  }

  private Schema writtenSchema() {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field(VALUE, DataType.BINARY, false));
    if (!keys.isEmpty()) {
      DataType type = isKeyAsItIs() ? schema.type(schema.indexOf(keys.get(0))) : DataType.BINARY;
      fields.add(Field.of(KEY, type));
    }
    return new Schema(fields);
  }

  private Column key(Table table) {
    return isKeyAsItIs() ? table.column(keys.get(0)).share() : lines(table, keys, keyWriter);
  }

  private static Column lines(Table table, List<String> columns, RecordWriter writer) {
    try (Table selected = table.select(columns);
        RecordBytes lines = writer.write(selected)) {
      int count = lines.count();
      Column positions =
          new Column(DataType.INT32, count + 1, 0, lines.positions().share(), null, List.of());
      return new Column(DataType.BINARY, count, 0, lines.bytes().share(), null, List.of(positions));
    }
  }

  @Override
  public List<KafkaRecord> records(Table written, AccessScope scope) {
    ColumnReader value = new ColumnReader(written.column(0), scope);
    ColumnReader key = keys.isEmpty() ? null : new ColumnReader(written.column(1), scope);
    List<KafkaRecord> records = new ArrayList<>(written.rowCount());
    for (int row = 0; row < written.rowCount(); row++) {
      records.add(
          new KafkaRecord(
              key == null ? null : key(key, row), line(value, row), KafkaRecord.NO_TIMESTAMP));
    }
    return records;
  }

  private byte[] key(ColumnReader column, int row) {
    if (!isKeyAsItIs()) {
      return line(column, row);
    }
    return column.isNull(row) ? null : column.getBytes(row);
  }

  // Without the line feed.
  private static byte[] line(ColumnReader column, int row) {
    byte[] line = new byte[column.getLength(row) - 1];
    HostMemory.copyToArray(line, 0, column.getBytesAddress(row), line.length);
    return line;
  }

  @Override
  public void close() {
    if (valueWriter != null) {
      valueWriter.close();
    }
    if (keyWriter != null) {
      keyWriter.close();
    }
  }
}

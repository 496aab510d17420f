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
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * Writes a record for each row: its value is what a {@link RecordWriter} writes on the device. A
 * key is the bytes of a STRING or BINARY column, or a record of other columns or of several.
 */
@Internal
abstract class RowRecordEncoder implements RecordEncoder {
  private static final long serialVersionUID = 1L;

  private static final String VALUE = "value";
  private static final String KEY = "key";

  private final Schema schema;
  private final List<String> values;
  private final List<String> keys;
  private final int endBytes;
  private transient RecordWriter valueWriter;
  // null if there is no key, or the key is a column as it is
  private transient RecordWriter keyWriter;

  /**
   * @param values the columns of the values
   * @param keys the columns of the keys; empty for no key
   * @param endBytes that a writer writes behind a record, and that are left out
   * @throws IllegalArgumentException if there is no such column
   */
  RowRecordEncoder(Schema schema, List<String> values, List<String> keys, int endBytes) {
    keys.forEach(schema::indexOf);
    this.schema = schema;
    this.values = List.copyOf(values);
    this.keys = List.copyOf(keys);
    this.endBytes = endBytes;
  }

  final Schema schema() {
    return schema;
  }

  final List<String> values() {
    return values;
  }

  final List<String> keys() {
    return keys;
  }

  /** The columns that are not in the key. */
  final List<String> valuesWithoutKey() {
    return schema.names().stream().filter(name -> !keys.contains(name)).toList();
  }

  /** Whether keys are the bytes of a column. */
  final boolean isKeyAsItIs() {
    return keys.size() == 1 && schema.type(schema.indexOf(keys.get(0))).id().isVariableWidth();
  }

  /** A writer of values, which the encoder closes. */
  abstract RecordWriter valueWriter(Schema columns, DeviceStream stream, MemoryResource memory);

  /** A writer of keys that are records, which the encoder closes; one of values by default. */
  RecordWriter keyWriter(Schema columns, DeviceStream stream, MemoryResource memory) {
    return valueWriter(columns, stream, memory);
  }

  @Override
  public void open(DeviceStream stream, MemoryResource memory) {
    valueWriter = valueWriter(schema.select(values), stream, memory);
    if (!keys.isEmpty() && !isKeyAsItIs()) {
      keyWriter = keyWriter(schema.select(keys), stream, memory);
    }
  }

  @Override
  public Table write(Table table) {
    return Table.of(
        writtenSchema(),
        table.rowCount(),
        column -> column == 0 ? records(table, values, valueWriter) : key(table));
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
    return isKeyAsItIs() ? table.column(keys.get(0)).share() : records(table, keys, keyWriter);
  }

  private static Column records(Table table, List<String> columns, RecordWriter writer) {
    try (Table selected = table.select(columns);
        RecordBytes records = writer.write(selected)) {
      return records.toColumn();
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
              key == null ? null : key(key, row), record(value, row), KafkaRecord.NO_TIMESTAMP));
    }
    return records;
  }

  private byte[] key(ColumnReader column, int row) {
    if (!isKeyAsItIs()) {
      return record(column, row);
    }
    return column.isNull(row) ? null : column.getBytes(row);
  }

  private byte[] record(ColumnReader column, int row) {
    byte[] record = new byte[column.getLength(row) - endBytes];
    HostMemory.copyToArray(record, 0, column.getBytesAddress(row), record.length);
    return record;
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

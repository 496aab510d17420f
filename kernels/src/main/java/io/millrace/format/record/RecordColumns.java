// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.format.record.RecordKernels.Records;
import io.millrace.format.record.RecordKernels.Strings;
import io.millrace.format.record.RecordKernels.Target;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/** The memory that records are read into, and the columns that it becomes. */
final class RecordColumns implements AutoCloseable {
  private final RecordFields fields;
  private final int rows;
  private final DeviceStream stream;
  private final MemoryResource memory;

  // By field; null where a field has none.
  private final Buffer[] values;
  private final Buffer[] seconds;
  private final Buffer[] validities;
  private final Buffer[] strings;
  private final Column[] elements;

  /**
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  RecordColumns(RecordFields fields, int rows, DeviceStream stream, MemoryResource memory) {
    this.fields = fields;
    this.rows = rows;
    this.stream = stream;
    this.memory = memory;
    this.values = new Buffer[fields.size()];
    this.seconds = new Buffer[fields.size()];
    this.validities = new Buffer[fields.size()];
    this.strings = new Buffer[fields.size()];
    this.elements = new Column[fields.size()];
    try {
      for (int i = 1; i < fields.size(); i++) {
        allocate(i, fields.get(i));
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void allocate(int index, RecordField field) {
    if (field.valueBytes() > 0) {
      values[index] = allocate((long) rows * field.valueBytes());
    }
    if (field.hasSecond()) {
      seconds[index] = allocate((rows + 1L) * Integer.BYTES);
    }
    if (field.nullable()) {
      validities[index] = allocate(Column.maskBytes(rows));
    }
  }

  private Buffer allocate(long bytes) {
    return Buffer.allocate(bytes, stream, memory);
  }

  /** Where the values of each field go, as long as {@code scope} is open. */
  List<Target> targets(AccessScope scope) {
    List<Target> targets = new ArrayList<>();
    for (int i = 0; i < fields.size(); i++) {
      targets.add(
          new Target(
              address(values[i], scope),
              address(seconds[i], scope),
              address(validities[i], scope)));
    }
    return targets;
  }

  private static long address(Buffer buffer, AccessScope scope) {
    return buffer == null ? 0 : buffer.access(AccessMode.WRITE, scope);
  }

  /**
   * The values of a column of fixed width, as long as these columns are not taken; the caller's.
   *
   * @param index the number among the columns of the records
   */
  Column share(int index) {
    int number = fields.get(0).firstChild() + index;
    DataType type = fields.get(number).type();
    Buffer validity = validities[number] == null ? null : validities[number].share();
    Buffer data = values[number].share();
    if (type.id() != TypeId.TIMESTAMP_NANOS) {
      return new Column(type, rows, 0, data, validity, List.of());
    }
    List<Column> parts =
        List.of(
            plain(type.childTypes().get(0), rows, data),
            plain(type.childTypes().get(1), rows, seconds[number].share()));
    return new Column(type, rows, 0, null, validity, parts);
  }

  int rows() {
    return rows;
  }

  /** Writes the offsets of no strings and no lists, and makes no room for their bytes. */
  void clearOffsets(AccessScope scope) {
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).hasLengths()) {
        stream.fill(address(seconds[i], scope), (byte) 0, Integer.BYTES);
      }
      if (fields.get(i).kind() == FieldType.STRING) {
        strings[i] = allocate(0);
      }
    }
  }

  /** Takes the elements of a field's lists over. */
  void putElements(int field, Column column) {
    elements[field] = column;
  }

  /**
   * Makes room for the bytes of strings.
   *
   * @param records which were parsed
   * @throws GpuOutOfMemoryException if there is too little memory, or a column would have 2 Gi
   *     bytes or more: symbols and the further texts of records stand for more than there are to
   *     read
   */
  List<Strings> allocateStrings(Records records, AccessScope scope) {
    List<Strings> places = new ArrayList<>();
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).kind() == FieldType.STRING) {
        long bytes = HostMemory.getLong(records.stringBytes(fields.get(i).string()));
        if (bytes > Integer.MAX_VALUE) {
          throw new GpuOutOfMemoryException(
              "expected fewer than 2 Gi bytes of strings in column '"
                  + fields.get(i).path()
                  + "', got "
                  + bytes);
        }
        strings[i] = allocate(bytes);
        Target target = records.targets().get(i);
        long address = bytes == 0 ? 0 : address(strings[i], scope);
        places.add(new Strings(fields.get(i), target.values(), target.second(), address));
      }
    }
    return places;
  }

  /**
   * The column of a field of the records, which takes the memory over.
   *
   * @param index the number among the fields of the record
   * @param nullCounts of each field
   */
  Column takeColumn(int index, int[] nullCounts) {
    return column(fields.get(0).firstChild() + index, nullCounts);
  }

  /**
   * The columns, which take the memory over.
   *
   * @param nullCounts of each field
   */
  Table take(Schema schema, int[] nullCounts) {
    List<Column> columns = new ArrayList<>();
    try {
      for (int i = 0; i < schema.size(); i++) {
        columns.add(takeColumn(i, nullCounts));
      }
      return new Table(schema, columns, rows);
    } catch (RuntimeException | Error e) {
      columns.forEach(Column::close);
      throw e;
    }
  }

  private Column column(int index, int[] nullCounts) {
    RecordField field = fields.get(index);
    DataType type = field.type();
    if (validities[index] != null && nullCounts[index] == 0) {
      take(validities, index).close();
    }
    List<Column> children = new ArrayList<>();
    if (field.kind() == FieldType.OBJECT) {
      for (int i = 0; i < field.children(); i++) {
        children.add(column(field.firstChild() + i, nullCounts));
      }
    } else if (field.hasLengths()) {
      children.add(plain(DataType.INT32, rows + 1, take(seconds, index)));
      take(values, index).close();
      if (field.kind() == FieldType.LIST) {
        children.add(elements[index]);
        elements[index] = null;
      }
    } else if (type.id() == TypeId.TIMESTAMP_NANOS) {
      children.add(plain(type.childTypes().get(0), rows, take(values, index)));
      children.add(plain(type.childTypes().get(1), rows, take(seconds, index)));
    }
    Buffer data = field.kind() == FieldType.STRING ? take(strings, index) : take(values, index);
    Column column = new Column(type, rows, 0, data, take(validities, index), children);
    return column.isNullable() ? column.withNullCount(nullCounts[index]) : column;
  }

  private static Column plain(DataType type, int size, Buffer data) {
    return new Column(type, size, 0, data, null, List.of());
  }

  private static Buffer take(Buffer[] buffers, int index) {
    Buffer buffer = buffers[index];
    buffers[index] = null;
    return buffer;
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    for (Buffer[] buffers : List.of(values, seconds, validities, strings)) {
      for (int i = 0; i < buffers.length; i++) {
        Buffer buffer = take(buffers, i);
        if (buffer != null) {
          failure.run(buffer::close);
        }
      }
    }
    for (int i = 0; i < elements.length; i++) {
      if (elements[i] != null) {
        failure.run(elements[i]::close);
        elements[i] = null;
      }
    }
    failure.rethrow();
  }
}

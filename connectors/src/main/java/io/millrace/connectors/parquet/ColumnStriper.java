// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnWriter;
import org.apache.parquet.io.api.Binary;

/**
 * Writes the values of one leaf of a table's column with their repetition and definition levels.
 * The leaf may lie within lists and structs. Used by one thread.
 */
final class ColumnStriper {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** The step from a column to its part. */
  private record Step(boolean isNullable, TypeId id, int field) {}

  /** Writes the value of a row that is not null. */
  private interface ValueWriter {
    void write(ColumnReader reader, int row, int repetition, int definition);
  }

  private final ColumnDescriptor descriptor;
  private final List<Step> steps;
  private final ColumnWriter writer;
  private final ValueWriter values;
  private byte[] bytes = new byte[32];

  private ColumnStriper(List<Step> steps, DataType type, LeafWriter leaf) {
    this.descriptor = leaf.descriptor();
    this.steps = steps;
    this.writer = leaf.writer();
    this.values = valueWriter(type);
  }

  /** A leaf of the file, and what its values are written to. */
  record LeafWriter(ColumnDescriptor descriptor, ColumnWriter writer) {}

  /**
   * The stripers of a column's leaves.
   *
   * @param leaves those of the file from the column on; each striper removes its own
   */
  static List<ColumnStriper> of(DataType.Field field, List<LeafWriter> leaves) {
    List<ColumnStriper> stripers = new ArrayList<>();
    add(List.of(), field, leaves, stripers);
    return stripers;
  }

  private static void add(
      List<Step> parents,
      DataType.Field field,
      List<LeafWriter> leaves,
      List<ColumnStriper> stripers) {
    DataType type = field.type();
    switch (type.id()) {
      case LIST -> add(with(parents, field, 0), type.fields().get(0), leaves, stripers);
      case STRUCT -> {
        for (int i = 0; i < type.fields().size(); i++) {
          add(with(parents, field, i), type.fields().get(i), leaves, stripers);
        }
      }
      case DICTIONARY ->
          stripers.add(
              new ColumnStriper(
                  with(parents, field, 0), type.fields().get(0).type(), leaves.remove(0)));
      default -> stripers.add(new ColumnStriper(with(parents, field, 0), type, leaves.remove(0)));
    }
  }

  private static List<Step> with(List<Step> parents, DataType.Field field, int child) {
    List<Step> steps = new ArrayList<>(parents);
    steps.add(new Step(field.nullable(), field.type().id(), child));
    return steps;
  }

  /**
   * Writes the rows {@code [start, end)}.
   *
   * @param column the table's column, of which this is a leaf
   */
  void write(ColumnReader column, int start, int end) {
    ColumnReader[] readers = new ColumnReader[steps.size()];
    readers[0] = column;
    for (int i = 1; i < readers.length; i++) {
      Step parent = steps.get(i - 1);
      readers[i] =
          parent.id() == TypeId.LIST
              ? readers[i - 1].elements()
              : readers[i - 1].field(parent.field());
    }
    for (int row = start; row < end; row++) {
      write(readers, 0, row, 0, 0, 0);
    }
  }

  private void write(
      ColumnReader[] readers, int depth, int row, int repetition, int definition, int lists) {
    Step step = steps.get(depth);
    ColumnReader reader = readers[depth];
    if (reader.isNull(row)) {
      checkNullable(step);
      writer.writeNull(repetition, definition);
      return;
    }
    int present = definition + (step.isNullable() ? 1 : 0);
    switch (step.id()) {
      case STRUCT -> write(readers, depth + 1, row, repetition, present, lists);
      case LIST -> writeList(readers, depth, row, repetition, present, lists);
      case DICTIONARY -> writeCode(reader, row, repetition, present, step);
      default -> values.write(reader, row, repetition, present);
    }
  }

  private void writeList(
      ColumnReader[] readers, int depth, int row, int repetition, int present, int lists) {
    int first = readers[depth].getOffset(row);
    int end = readers[depth].getOffset(row + 1);
    if (first == end) {
      writer.writeNull(repetition, present);
    }
    for (int i = first; i < end; i++) {
      int level = i == first ? repetition : lists + 1;
      write(readers, depth + 1, i, level, present + 1, lists + 1);
    }
  }

  private void writeCode(ColumnReader reader, int row, int repetition, int present, Step step) {
    ColumnReader dictionary = reader.dictionary();
    int code = reader.getInt(row);
    if (dictionary.isNull(code)) {
      checkNullable(step);
      writer.writeNull(repetition, present - 1);
    } else {
      values.write(dictionary, code, repetition, present);
    }
  }

  private void checkNullable(Step step) {
    if (!step.isNullable()) {
      throw new IllegalStateException(describe() + " is NOT NULL and has a null");
    }
  }

  private String describe() {
    return "column '" + String.join(".", descriptor.getPath()) + "'";
  }

  private ValueWriter valueWriter(DataType type) {
    return switch (type.id()) {
      case BOOL -> (reader, row, r, d) -> writer.write(reader.getBoolean(row), r, d);
      case INT8 -> (reader, row, r, d) -> writer.write((int) reader.getByte(row), r, d);
      case INT16 -> (reader, row, r, d) -> writer.write((int) reader.getShort(row), r, d);
      case INT32, DECIMAL32, DATE, TIME ->
          (reader, row, r, d) -> writer.write(reader.getInt(row), r, d);
      case INT64, DECIMAL64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS ->
          (reader, row, r, d) -> writer.write(reader.getLong(row), r, d);
      case FLOAT32 -> (reader, row, r, d) -> writer.write(reader.getFloat(row), r, d);
      case FLOAT64 -> (reader, row, r, d) -> writer.write(reader.getDouble(row), r, d);
      case DECIMAL128 -> this::writeDecimal;
      case TIMESTAMP_NANOS -> (reader, row, r, d) -> writer.write(nanos(reader, row), r, d);
      case STRING, BINARY -> this::writeBytes;
      case LIST, STRUCT, DICTIONARY ->
          throw new IllegalArgumentException(describe() + " has values of type " + type);
    };
  }

  private void writeDecimal(ColumnReader reader, int row, int repetition, int definition) {
    ByteBuffer.wrap(bytes)
        .putLong(reader.getDecimal128High(row))
        .putLong(reader.getDecimal128Low(row));
    writer.write(Binary.fromReusedByteArray(bytes, 0, 2 * Long.BYTES), repetition, definition);
  }

  private void writeBytes(ColumnReader reader, int row, int repetition, int definition) {
    int length = reader.getLength(row);
    if (length > bytes.length) {
      bytes = new byte[Math.max(length, 2 * bytes.length)];
    }
    HostMemory.copyToArray(bytes, 0, reader.getBytesAddress(row), length);
    writer.write(Binary.fromReusedByteArray(bytes, 0, length), repetition, definition);
  }

  private long nanos(ColumnReader reader, int row) {
    long millis = reader.getTimestampMillis(row);
    // Rounded towards zero, so that a product does not overflow that is beyond the sum.
    long ofProduct = millis < 0 ? millis + 1 : millis;
    try {
      return Math.addExact(
          Math.multiplyExact(ofProduct, NANOS_PER_MILLI),
          reader.getTimestampNanosOfMilli(row) - (ofProduct - millis) * NANOS_PER_MILLI);
    } catch (ArithmeticException e) {
      throw new IllegalStateException(
          describe()
              + " has a time of "
              + millis
              + " ms since 1970, which is too far from it for 64-bit nanoseconds",
          e);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.HostMemory;
import io.millrace.format.TimestampFormat;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How a row becomes a record: steps, each with text and a value behind it. Columns are numbered in
 * the order of the schema, and the columns within a column behind it. Immutable.
 */
@Internal
public final class WritePlan {
  /** Lists and dictionaries that may be in each other. */
  static final int MAX_DEPTH = 8;

  private final Schema schema;
  private final WriteStep[] steps;
  private final int columns;
  private final char delimiter;

  private WritePlan(Schema schema, WriteStep[] steps, int columns, char delimiter) {
    this.schema = schema;
    this.steps = steps;
    this.columns = columns;
    this.delimiter = delimiter;
  }

  /** Why rows of a schema cannot be written; empty if they can. */
  public static Optional<String> unsupported(Schema schema) {
    return schema.fields().stream().flatMap(field -> unsupportedColumn(field).stream()).findFirst();
  }

  private static Optional<String> unsupportedColumn(Field field) {
    String column = "column '" + field.name() + "' has ";
    if (field.type().hasMap()) {
      return Optional.of(column + "the type " + field.type());
    }
    return depth(field.type()) > MAX_DEPTH
        ? Optional.of(column + "more than " + MAX_DEPTH + " lists and dictionaries in each other")
        : Optional.empty();
  }

  /**
   * Checks columns before there is a device to write them on.
   *
   * @throws IllegalArgumentException if {@link #unsupported} says why rows cannot be written
   */
  public static void checkSupported(Schema schema) {
    unsupported(schema)
        .ifPresent(
            why -> {
              throw new IllegalArgumentException("rows cannot be written: " + why);
            });
  }

  private static int depth(DataType type) {
    int inside = type.fields().stream().mapToInt(field -> depth(field.type())).max().orElse(0);
    return switch (type.id()) {
      case LIST, DICTIONARY -> inside + 1;
      default -> inside;
    };
  }

  Schema schema() {
    return schema;
  }

  WriteStep step(int index) {
    return steps[index];
  }

  /** The number of steps. */
  int size() {
    return steps.length;
  }

  /** The number of columns, with those within columns. */
  int columns() {
    return columns;
  }

  /** The delimiter of fields of CSV. */
  char delimiter() {
    return delimiter;
  }

  /** Bytes of the steps and their text. */
  int bytes() {
    int bytes = steps.length * WriteStep.Layout.LAYOUT.bytes();
    for (WriteStep step : steps) {
      bytes += step.text.length * Long.BYTES;
    }
    return bytes;
  }

  /** Writes the steps, and their text behind them. */
  void write(long address) {
    int text = steps.length * WriteStep.Layout.LAYOUT.bytes();
    for (int i = 0; i < steps.length; i++) {
      WriteStep step = steps[i];
      step.write(address + (long) i * WriteStep.Layout.LAYOUT.bytes(), text);
      HostMemory.copyFromArray(address + text, step.text, step.text.length);
      text += step.text.length * Long.BYTES;
    }
  }

  /**
   * Makes a plan, from a record's first byte to its last one. Values are written in the order of
   * the columns. Used by one thread.
   */
  @Internal
  public static final class Builder {
    private final Schema schema;
    private final char delimiter;
    private final TimestampFormat timestamps;
    private final List<WriteStep> steps = new ArrayList<>();
    private final ByteArrayOutputStream text = new ByteArrayOutputStream();
    private int columns;

    // The null that the next step looks for; its text is null if there is none.
    private int nullColumn;
    private byte[] nullText;

    /**
     * As the other constructor, for timestamps as in ISO 8601.
     *
     * @throws IllegalArgumentException as the other constructor
     */
    public Builder(Schema schema, char delimiter) {
      this(schema, delimiter, TimestampFormat.ISO_8601);
    }

    /**
     * @param delimiter of fields of CSV, an ASCII character
     * @param timestamps the form of timestamps that become text
     * @throws IllegalArgumentException if {@link WritePlan#unsupported} says why rows cannot be
     *     written
     */
    public Builder(Schema schema, char delimiter, TimestampFormat timestamps) {
      checkSupported(schema);
      this.schema = schema;
      this.delimiter = delimiter;
      this.timestamps = timestamps;
    }

    /** Adds text. */
    public Builder text(byte[] bytes) {
      addPendingNull();
      text.writeBytes(bytes);
      return this;
    }

    /** Adds an ASCII character. */
    public Builder text(char ascii) {
      addPendingNull();
      text.write(ascii);
      return this;
    }

    /** The next column, whose value is written next. */
    public int nextColumn() {
      return columns++;
    }

    /**
     * Writes a null of a column, and goes on behind {@code value}.
     *
     * @param text of a null, up to four bytes
     * @param value adds what is written for a value that is not null
     */
    public void nullable(int column, byte[] text, Runnable value) {
      int first = steps.size();
      nullColumn = column;
      nullText = text.clone();
      value.run();
      flush();
      steps.get(first).nullNext = steps.size();
    }

    /**
     * Writes a value of a scalar type. Strings are as they are.
     *
     * @param isQuoted whether it is between quotes: a number only if it is not finite
     */
    public void scalar(int column, DataType type, boolean isQuoted) {
      add(kind(type), column, type, isQuoted);
    }

    private static WriteKind kind(DataType type) {
      return switch (type.id()) {
        case BOOL -> WriteKind.BOOL;
        case INT8, INT16, INT32, INT64 -> WriteKind.INTEGER;
        case FLOAT32, FLOAT64 -> WriteKind.FLOAT;
        case DECIMAL32, DECIMAL64, DECIMAL128 -> WriteKind.DECIMAL;
        case DATE -> WriteKind.DATE;
        case TIME -> WriteKind.TIME;
        case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> WriteKind.TIMESTAMP;
        case BINARY -> WriteKind.BASE64;
        case STRING -> WriteKind.BYTES;
        case LIST, STRUCT, DICTIONARY ->
            throw new IllegalArgumentException("expected a scalar type, got " + type);
      };
    }

    /**
     * Writes a value of a scalar type in Avro's binary encoding.
     *
     * @throws IllegalArgumentException for a timestamp of two parts
     */
    public void binary(int column, DataType type) {
      add(binaryKind(type), column, type, false);
    }

    private static WriteKind binaryKind(DataType type) {
      return switch (type.id()) {
        case INT8, INT16, INT32, INT64, DATE, TIME, TIMESTAMP_MILLIS, TIMESTAMP_MICROS ->
            WriteKind.VARINT;
        case BOOL, FLOAT32, FLOAT64 -> WriteKind.FIXED;
        case DECIMAL32, DECIMAL64, DECIMAL128 -> WriteKind.UNSCALED;
        case STRING, BINARY -> WriteKind.SIZED;
        case TIMESTAMP_NANOS, LIST, STRUCT, DICTIONARY ->
            throw new IllegalArgumentException("there is no binary encoding of " + type);
      };
    }

    /**
     * Writes a list as a block of Avro.
     *
     * @param element adds what is written for each element
     */
    public void blocks(int column, Runnable element) {
      addList(WriteKind.BLOCK_BEGIN, WriteKind.BLOCK_END, column, element);
    }

    /** Writes a string between quotes, with the escapes of JSON. */
    public void escapedString(int column) {
      add(WriteKind.ESCAPED, column, DataType.STRING, false);
    }

    /**
     * Writes a list as JSON does.
     *
     * @param element adds what is written for each element
     */
    public void list(int column, Runnable element) {
      addList(WriteKind.LIST_BEGIN, WriteKind.LIST_END, column, element);
    }

    private void addList(WriteKind beginKind, WriteKind endKind, int column, Runnable element) {
      WriteStep begin = add(beginKind, column, null, false);
      int first = steps.size();
      element.run();
      flush();
      begin.next = steps.size();
      add(endKind, column, null, false).next = first;
    }

    /**
     * Writes the value of a dictionary.
     *
     * @param value adds what is written for the value
     */
    public void dictionary(int column, Runnable value) {
      add(WriteKind.DICTIONARY_BEGIN, column, null, false);
      value.run();
      add(WriteKind.DICTIONARY_END, column, null, false);
    }

    /**
     * Writes a column as a field of CSV, between quotes if it has to be.
     *
     * @param value adds what is written, which is not within another field
     */
    public void field(int column, Runnable value) {
      add(WriteKind.FIELD_BEGIN, column, null, false);
      int first = steps.size();
      value.run();
      flush();
      add(WriteKind.FIELD_END, 0, null, false).next = first;
    }

    private WriteStep add(WriteKind kind, int column, DataType type, boolean isQuoted) {
      WriteStep step =
          new WriteStep(kind, column, type, text.toByteArray(), nullText, isQuoted, timestamps);
      text.reset();
      nullText = null;
      steps.add(step);
      return step;
    }

    // In front of text that is not written for a null.
    private void addPendingNull() {
      if (nullText != null) {
        add(WriteKind.TEXT, nullColumn, null, false);
      }
    }

    private void flush() {
      if (text.size() > 0) {
        add(WriteKind.TEXT, 0, null, false);
      }
    }

    /** The plan. */
    public WritePlan build() {
      flush();
      return new WritePlan(schema, steps.toArray(WriteStep[]::new), columns, delimiter);
    }
  }
}

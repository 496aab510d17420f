// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.column.DataType;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;
import io.millrace.format.TimestampFormat;

/** A step of a plan, and its form for kernels. Changed only while the plan is made. */
final class WriteStep {
  /** The structure {@code WriteStep} of write_arguments.cuh. */
  static final class Layout {
    static final KernelStructure LAYOUT = new KernelStructure("WriteStep");
    static final KernelStructure.Int32 KIND = LAYOUT.int32("kind");
    static final KernelStructure.Int32 COLUMN = LAYOUT.int32("column");
    static final KernelStructure.Int32 TEXT = LAYOUT.int32("text");
    static final KernelStructure.Int32 TEXT_BYTES = LAYOUT.int32("text_bytes");
    static final KernelStructure.Int32 NULL_BYTES = LAYOUT.int32("null_bytes");
    static final KernelStructure.Int32 NULL_NEXT = LAYOUT.int32("null_next");
    static final KernelStructure.Int32 NEXT = LAYOUT.int32("next");
    static final KernelStructure.Int32 WIDTH = LAYOUT.int32("width");
    static final KernelStructure.Int32 PRECISION = LAYOUT.int32("precision");
    static final KernelStructure.Int32 SCALE = LAYOUT.int32("scale");
    static final KernelStructure.Int32 IS_QUOTED = LAYOUT.int32("is_quoted");
    static final KernelStructure.Int32 NULL_TEXT = LAYOUT.int32("null_text");

    private Layout() {}
  }

  /** {@link #nullBytes} of a value that may not be null. */
  static final int NOT_NULL = -1;

  private static final int NANOS_OF_MICRO = 1000;
  private static final int HAS_ZONE = 1;
  private static final int HAS_SPACE = 2;

  final WriteKind kind;

  /** The number of the column whose value is written. */
  final int column;

  /** The text before the value, the first byte of a word lowest. */
  final long[] text;

  final int textBytes;

  /** Bytes of {@link #nullText} that are written for a null, or {@link #NOT_NULL}. */
  final int nullBytes;

  /** What is written for a null, the first byte lowest. */
  final int nullText;

  /** The type of the value. */
  final DataType type;

  final boolean isQuoted;

  /** The form of a timestamp that becomes text. */
  final TimestampFormat timestamps;

  /** The step behind a null. */
  int nullNext;

  /** Another step that this one may go on at. */
  int next;

  /**
   * @param type null for text
   * @param nullText up to four bytes for a null; null if the value may not be null
   */
  WriteStep(
      WriteKind kind,
      int column,
      DataType type,
      byte[] text,
      byte[] nullText,
      boolean isQuoted,
      TimestampFormat timestamps) {
    this.kind = kind;
    this.column = column;
    this.type = type;
    this.textBytes = text.length;
    this.text = new long[(text.length + Long.BYTES - 1) / Long.BYTES];
    for (int i = 0; i < text.length; i++) {
      this.text[i / Long.BYTES] |= (text[i] & 0xffL) << (i % Long.BYTES * Byte.SIZE);
    }
    this.nullBytes = nullText == null ? NOT_NULL : nullText.length;
    this.nullText = nullText == null ? 0 : word(nullText);
    this.isQuoted = isQuoted;
    this.timestamps = timestamps;
  }

  private static int word(byte[] bytes) {
    int word = 0;
    for (int i = 0; i < bytes.length; i++) {
      word |= (bytes[i] & 0xff) << (i * Byte.SIZE);
    }
    return word;
  }

  /**
   * Bytes of a value; of a timestamp that becomes text, nanoseconds of a unit, or 1 if it has two
   * parts.
   */
  int width() {
    if (type == null) {
      return 0;
    }
    if (kind == WriteKind.VARINT) {
      return type.id().byteWidth();
    }
    return switch (type.id()) {
      case TIMESTAMP_MILLIS -> TimeWriter.NANOS_OF_MILLI;
      case TIMESTAMP_MICROS -> NANOS_OF_MICRO;
      case TIMESTAMP_NANOS -> 1;
      case STRING, BINARY, LIST, STRUCT -> 0;
      case DICTIONARY -> Integer.BYTES;
      default -> type.id().byteWidth();
    };
  }

  /**
   * The scale of a decimal; of a timestamp, 1 if it has a time zone, and 2 more if there is a space
   * between its date and its time.
   */
  int scaleOrForm() {
    if (type == null) {
      return 0;
    }
    if (!type.isTimestamp()) {
      return type.scale();
    }
    return (type.withTimeZone() ? HAS_ZONE : 0)
        | (timestamps == TimestampFormat.SQL ? HAS_SPACE : 0);
  }

  /**
   * Writes the step.
   *
   * @param textAt bytes from the plan to the text
   */
  void write(long address, int textAt) {
    put(address, Layout.KIND, kind.number());
    put(address, Layout.COLUMN, column);
    put(address, Layout.TEXT, textAt);
    put(address, Layout.TEXT_BYTES, textBytes);
    put(address, Layout.NULL_BYTES, nullBytes);
    put(address, Layout.NULL_NEXT, nullNext);
    put(address, Layout.NEXT, next);
    put(address, Layout.WIDTH, width());
    put(address, Layout.PRECISION, type == null ? 0 : type.precision());
    put(address, Layout.SCALE, scaleOrForm());
    put(address, Layout.IS_QUOTED, isQuoted ? 1 : 0);
    put(address, Layout.NULL_TEXT, nullText);
  }

  private static void put(long address, KernelStructure.Int32 field, int value) {
    HostMemory.putInt(address + field.offset(), value);
  }
}

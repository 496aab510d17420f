// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.HostMemory;

/**
 * Puts rows of columns as records, by the steps of a plan. The twin of {@code row_writer.cuh}. Used
 * by one thread.
 */
final class RowWriter {
  private static final long WORD_TRUE = 0x65757274;
  private static final long WORD_FALSE = 0x65736c6166L;
  private static final int TIME_PRECISION = 3;
  private static final char END_OF_BLOCKS = 0;

  private final WritePlan plan;
  private final TextSink sink;

  // The addresses of each column.
  private final long[] values;
  private final long[] seconds;
  private final long[] validities;

  private final NumberWriter numbers = new NumberWriter();
  private final FloatWriter floats = new FloatWriter(numbers);
  private final TimeWriter times = new TimeWriter(numbers);

  // The lists and dictionaries around the value that is written.
  private final int[] rows = new int[WritePlan.MAX_DEPTH];
  private final int[] ends = new int[WritePlan.MAX_DEPTH];
  private int depth;
  private int row;

  /**
   * @param columns what {@link WriteColumns} wrote
   */
  RowWriter(WritePlan plan, long columns, TextSink sink) {
    this.plan = plan;
    this.sink = sink;
    this.values = new long[plan.columns()];
    this.seconds = new long[plan.columns()];
    this.validities = new long[plan.columns()];
    for (int i = 0; i < plan.columns(); i++) {
      long column = columns + (long) i * WriteColumns.Layout.LAYOUT.bytes();
      values[i] = HostMemory.getLong(column + WriteColumns.Layout.VALUES.offset());
      seconds[i] = HostMemory.getLong(column + WriteColumns.Layout.SECOND.offset());
      validities[i] = HostMemory.getLong(column + WriteColumns.Layout.VALIDITY.offset());
    }
  }

  /** Puts a row. */
  void put(int number) {
    row = number;
    int at = 0;
    while (at < plan.size()) {
      WriteStep step = plan.step(at);
      sink.put(step.text, step.textBytes);
      if (step.nullBytes >= 0 && isNull(step.column)) {
        sink.put(step.nullText, step.nullBytes);
        at = step.nullNext;
      } else {
        at = put(step, at + 1);
      }
    }
  }

  private boolean isNull(int column) {
    if (validities[column] == 0) {
      return false;
    }
    long bit = validities[column] + row;
    return (HostMemory.getByte(bit >>> 3) >>> (bit & 7) & 1) == 0;
  }

  // The step to go on at; `next` is the one behind.
  private int put(WriteStep step, int next) {
    switch (step.kind) {
      case TEXT -> {}
      case BOOL -> {
        boolean isTrue = HostMemory.getByte(values[step.column] + row) != 0;
        sink.put(isTrue ? WORD_TRUE : WORD_FALSE, isTrue ? 4 : 5);
      }
      case INTEGER, DECIMAL, UNSCALED -> putDecimal(step);
      case VARINT -> BinaryWriter.putVarint(sink, integer(step));
      case FIXED -> sink.put(integer(step), step.width());
      case SIZED -> {
        BinaryWriter.putVarint(sink, length(step));
        BytesWriter.put(sink, bytes(step), length(step));
      }
      case FLOAT -> putFloat(step);
      case DATE, TIME, TIMESTAMP, BASE64, BYTES -> putQuotable(step);
      case ESCAPED -> BytesWriter.putEscaped(sink, bytes(step), length(step));
      case LIST_BEGIN, BLOCK_BEGIN -> {
        return beginList(step, next);
      }
      case LIST_END, BLOCK_END -> {
        return endList(step, next);
      }
      case DICTIONARY_BEGIN -> {
        int index = HostMemory.getInt(values[step.column] + (long) row * Integer.BYTES);
        rows[depth++] = row;
        row = index;
      }
      case DICTIONARY_END -> row = rows[--depth];
      case FIELD_BEGIN -> sink.beginField();
      case FIELD_END -> sink.endField();
    }
    return next;
  }

  private int beginList(WriteStep step, int next) {
    int start = offset(step, 0);
    int end = offset(step, 1);
    boolean isBlock = step.kind == WriteKind.BLOCK_BEGIN;
    if (!isBlock) {
      sink.put('[');
    } else if (start < end) {
      BinaryWriter.putVarint(sink, (long) end - start);
    }
    if (start == end) {
      sink.put(isBlock ? END_OF_BLOCKS : ']');
      return step.next + 1;
    }
    rows[depth] = row;
    ends[depth++] = end;
    row = start;
    return next;
  }

  private int endList(WriteStep step, int next) {
    boolean isBlock = step.kind == WriteKind.BLOCK_END;
    row++;
    if (row < ends[depth - 1]) {
      if (!isBlock) {
        sink.put(',');
      }
      return step.next;
    }
    sink.put(isBlock ? END_OF_BLOCKS : ']');
    row = rows[--depth];
    return next;
  }

  private long integer(WriteStep step) {
    long place = values[step.column] + (long) row * step.width();
    return switch (step.width()) {
      case Byte.BYTES -> HostMemory.getByte(place);
      case Short.BYTES -> HostMemory.getShort(place);
      case Integer.BYTES -> HostMemory.getInt(place);
      default -> HostMemory.getLong(place);
    };
  }

  private void putDecimal(WriteStep step) {
    long low = integer(step);
    long high = low >> (Long.SIZE - 1);
    if (step.width() > Long.BYTES) {
      high = HostMemory.getLong(values[step.column] + (long) row * step.width() + Long.BYTES);
    }
    if (step.kind == WriteKind.UNSCALED) {
      BinaryWriter.putUnscaled(sink, low, high);
    } else {
      numbers.putDecimal(sink, low, high, step.scaleOrForm());
    }
  }

  private void putFloat(WriteStep step) {
    long place = values[step.column] + (long) row * step.width();
    if (step.width() == Float.BYTES) {
      floats.putFloat(sink, HostMemory.getInt(place), step.isQuoted);
    } else {
      floats.putDouble(sink, HostMemory.getLong(place), step.isQuoted);
    }
  }

  private void putQuotable(WriteStep step) {
    if (step.isQuoted) {
      sink.put('"');
    }
    switch (step.kind) {
      case DATE ->
          times.putDate(sink, HostMemory.getInt(values[step.column] + (long) row * Integer.BYTES));
      case TIME -> {
        int millis = HostMemory.getInt(values[step.column] + (long) row * Integer.BYTES);
        times.putTimeOfMillis(sink, millis, TIME_PRECISION);
      }
      case TIMESTAMP -> putTimestamp(step);
      case BASE64 -> BytesWriter.putBase64(sink, bytes(step), length(step));
      default -> BytesWriter.put(sink, bytes(step), length(step));
    }
    if (step.isQuoted) {
      sink.put('"');
    }
  }

  private void putTimestamp(WriteStep step) {
    boolean hasNanos = step.width() == 1;
    times.putTimestamp(
        sink,
        HostMemory.getLong(values[step.column] + (long) row * Long.BYTES),
        hasNanos ? TimeWriter.NANOS_OF_MILLI : step.width(),
        hasNanos ? offset(step, 0) : 0,
        step.type.precision(),
        step.timestamps.separator(),
        step.type.withTimeZone());
  }

  private long bytes(WriteStep step) {
    return values[step.column] + offset(step, 0);
  }

  private int length(WriteStep step) {
    return offset(step, 1) - offset(step, 0);
  }

  // An INT32 beside the values.
  private int offset(WriteStep step, int more) {
    return HostMemory.getInt(seconds[step.column] + ((long) row + more) * Integer.BYTES);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Appends values of columns as JSON that {@link JsonValueReader} reads back. */
final class JsonValueWriter {
  private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);
  private static final String HEX_DIGITS = "0123456789abcdef";

  private final TextBuffer out;
  private final TextValueWriter text;

  JsonValueWriter(TextBuffer out) {
    this.out = out;
    this.text = new TextValueWriter(out);
  }

  /** Appends the value at a row of {@code column}, or null. */
  IntConsumer of(ColumnReader column) {
    IntConsumer value = valid(column);
    if (!column.isNullable()) {
      return value;
    }
    return row -> {
      if (column.isNull(row)) {
        out.append(NULL);
      } else {
        value.accept(row);
      }
    };
  }

  private IntConsumer valid(ColumnReader column) {
    return switch (column.type().id()) {
      case BOOL, INT8, INT16, INT32, INT64, DECIMAL32, DECIMAL64, DECIMAL128 -> text.of(column);
      case FLOAT32 -> finiteOrQuoted(text.of(column), row -> Float.isFinite(column.getFloat(row)));
      case FLOAT64 ->
          finiteOrQuoted(text.of(column), row -> Double.isFinite(column.getDouble(row)));
      case STRING -> row -> appendString(column.getBytesAddress(row), column.getLength(row));
      case LIST -> list(column);
      case STRUCT -> {
        List<Field> fields = column.type().fields();
        yield object(fields, IntStream.range(0, fields.size()).mapToObj(column::field).toList());
      }
      case DICTIONARY -> {
        IntConsumer values = of(column.dictionary());
        yield row -> values.accept(column.getInt(row));
      }
      default -> quoted(text.of(column));
    };
  }

  private IntConsumer quoted(IntConsumer value) {
    return row -> {
      out.append('"');
      value.accept(row);
      out.append('"');
    };
  }

  private IntConsumer finiteOrQuoted(IntConsumer value, IntPredicate finite) {
    IntConsumer quoted = quoted(value);
    return row -> (finite.test(row) ? value : quoted).accept(row);
  }

  private IntConsumer list(ColumnReader column) {
    IntConsumer element = of(column.elements());
    return row -> {
      out.append('[');
      int start = column.getOffset(row);
      int end = start + column.getLength(row);
      for (int i = start; i < end; i++) {
        if (i > start) {
          out.append(',');
        }
        element.accept(i);
      }
      out.append(']');
    };
  }

  /** Appends an object whose members are {@code fields}, read at the same row. */
  IntConsumer object(List<Field> fields, List<ColumnReader> columns) {
    List<byte[]> names = new ArrayList<>();
    List<IntConsumer> values = new ArrayList<>();
    for (int i = 0; i < fields.size(); i++) {
      names.add(memberStart(fields.get(i).name(), i == 0));
      values.add(of(columns.get(i)));
    }
    return row -> {
      if (names.isEmpty()) {
        out.append('{');
      }
      for (int i = 0; i < names.size(); i++) {
        out.append(names.get(i));
        values.get(i).accept(row);
      }
      out.append('}');
    };
  }

  private static byte[] memberStart(String name, boolean first) {
    TextBuffer start = new TextBuffer();
    start.append(first ? '{' : ',');
    new JsonValueWriter(start).appendString(name);
    start.append(':');
    return start.toByteArray();
  }

  /** Appends {@code value} as a JSON string. */
  void appendString(String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    out.append('"');
    int start = out.size();
    out.append(utf8);
    finishString(start);
  }

  private void appendString(long address, int length) {
    out.append('"');
    int start = out.size();
    out.append(address, length);
    finishString(start);
  }

  // The bytes behind start are the string's: escapes them if need be and closes the string.
  private void finishString(int start) {
    int end = out.size();
    for (int i = start; i < end; i++) {
      if (needsEscape(out.byteAt(i))) {
        byte[] tail = out.copyFrom(i);
        out.truncate(i);
        for (byte b : tail) {
          appendEscaped(b);
        }
        break;
      }
    }
    out.append('"');
  }

  private static boolean needsEscape(byte b) {
    return (b >= 0 && b < ' ') || b == '"' || b == '\\';
  }

  private void appendEscaped(byte b) {
    if (!needsEscape(b)) {
      out.append(b);
      return;
    }
    out.append('\\');
    switch (b) {
      case '"', '\\' -> out.append(b);
      case '\n' -> out.append('n');
      case '\r' -> out.append('r');
      case '\t' -> out.append('t');
      default -> {
        out.append("u00");
        out.append(HEX_DIGITS.charAt(b >> 4));
        out.append(HEX_DIGITS.charAt(b & 0xf));
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import io.millrace.device.HostMemory;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import io.millrace.text.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Host implementations of functions that edit strings. Functions that Flink implements with Java
 * strings decode malformed UTF-8 to U+FFFD and count UTF-16 units.
 */
final class StringEdits {
  private StringEdits() {}

  /** Concatenates bytes without decoding them. */
  static void concat(HostVector[] operands, HostVector result, int row) {
    int left = operands[0].length(row);
    int right = operands[1].length(row);
    long address = result.allocate(left + right);
    HostMemory.copy(address, operands[0].address(row), left);
    HostMemory.copy(address + left, operands[1].address(row), right);
    result.setBytes(row, address, left + right);
  }

  /** The operator {@code ||}. */
  static void concatText(HostVector[] operands, HostVector result, int row) {
    if (isAscii(operands[0], row) && isAscii(operands[1], row)) {
      concat(operands, result, row);
    } else {
      result.setString(row, operands[0].getString(row) + operands[1].getString(row));
    }
  }

  private static boolean isAscii(HostVector text, int row) {
    return Utf8.isAscii(text.address(row), text.length(row));
  }

  static void upper(HostVector[] operands, HostVector result, int row) {
    if (!changeCase(operands[0], result, row, 'a', 'z')) {
      result.setString(row, operands[0].getString(row).toUpperCase(Locale.ROOT));
    }
  }

  static void lower(HostVector[] operands, HostVector result, int row) {
    if (!changeCase(operands[0], result, row, 'A', 'Z')) {
      result.setString(row, operands[0].getString(row).toLowerCase(Locale.ROOT));
    }
  }

  // Like Flink, keeps bytes that do not start a code point if the text has no multi-byte code
  // points.
  private static boolean changeCase(
      HostVector text, HostVector result, int row, char first, char last) {
    int length = text.length(row);
    long target = result.allocate(length);
    for (int i = 0; i < length; i++) {
      long source = text.address(row) + i;
      byte value = HostMemory.getByte(source);
      if (value < 0 && Utf8.width(source, Integer.MAX_VALUE) > 1) {
        return false;
      }
      HostMemory.putByte(
          target + i, value >= first && value <= last ? (byte) (value ^ 0x20) : value);
    }
    result.setBytes(row, target, length);
    return true;
  }

  static void initcap(HostVector[] operands, HostVector result, int row) {
    char[] text = operands[0].getString(row).toCharArray();
    boolean starts = true;
    for (int i = 0; i < text.length; i++) {
      boolean lower = text[i] >= 'a' && text[i] <= 'z';
      boolean upper = text[i] >= 'A' && text[i] <= 'Z';
      if (starts ? lower : upper) {
        text[i] = (char) (text[i] ^ 0x20);
      }
      starts = !lower && !upper && !(text[i] >= '0' && text[i] <= '9');
    }
    result.setString(row, new String(text));
  }

  static void replace(HostVector[] operands, HostVector result, int row) {
    result.setString(
        row,
        operands[0].getString(row).replace(operands[1].getString(row), operands[2].getString(row)));
  }

  /** {@code TRANSLATE(text, from, to)}. */
  static void translate(HostVector[] operands, HostVector result, int row) {
    if (operands[0].length(row) == 0 || operands[1].length(row) == 0) {
      result.setBytes(row, operands[0].address(row), operands[0].length(row));
      return;
    }
    int[] from = operands[1].getString(row).codePoints().toArray();
    int[] to = operands[2].getString(row).codePoints().toArray();
    Map<Integer, String> translations = new HashMap<>();
    for (int i = 0; i < from.length; i++) {
      translations.putIfAbsent(from[i], i < to.length ? Character.toString(to[i]) : "");
    }
    StringBuilder translated = new StringBuilder();
    operands[0]
        .getString(row)
        .codePoints()
        .forEach(
            point ->
                translated.append(translations.getOrDefault(point, Character.toString(point))));
    result.setString(row, translated.toString());
  }

  /**
   * {@code OVERLAY(text PLACING replacement FROM start)}; an optional fourth operand is the length.
   */
  static void overlay(HostVector[] operands, HostVector result, int row, Rows rows) {
    String text = operands[0].getString(row);
    String replacement = operands[1].getString(row);
    long start = operands[2].longs()[row];
    int length = operands.length == 4 ? (int) operands[3].longs()[row] : replacement.length();
    long end = start + length;
    if (start <= 0 || start > text.length()) {
      result.setString(row, text);
    } else if (length > 0 && end > Integer.MAX_VALUE) {
      rows.fail(row, Status.INVALID_ARGUMENT);
    } else {
      boolean hasTail = length > 0 && end <= text.length();
      result.setString(
          row,
          text.substring(0, (int) start - 1)
              + replacement
              + (hasTail ? text.substring((int) end - 1) : ""));
    }
  }

  /** {@code LPAD(text, units, filling)}. */
  static void padLeft(HostVector[] operands, HostVector result, int row) {
    pad(operands, result, row, true);
  }

  /** {@code RPAD(text, units, filling)}. */
  static void padRight(HostVector[] operands, HostVector result, int row) {
    pad(operands, result, row, false);
  }

  private static void pad(HostVector[] operands, HostVector result, int row, boolean left) {
    int units = (int) operands[1].longs()[row];
    if (units < 0 || operands[2].length(row) == 0) {
      result.setNull(row);
      return;
    }
    String text = operands[0].getString(row);
    int missing = units - text.length();
    if (missing <= 0) {
      result.setString(row, text.substring(0, units));
      return;
    }
    String filling = operands[2].getString(row);
    String padding = filling.repeat(missing / filling.length());
    padding += filling.substring(0, missing - padding.length());
    result.setString(row, left ? padding + text : text + padding);
  }

  static void repeat(HostVector[] operands, HostVector result, int row) {
    byte[] text = operands[0].getString(row).getBytes(StandardCharsets.UTF_8);
    long count = text.length == 0 ? 0 : Math.max(operands[1].longs()[row], 0);
    long bytes = count * text.length;
    long address = result.allocate(bytes);
    for (long i = 0; i < bytes; i += text.length) {
      HostMemory.copyFromArray(address + i, text, 0, text.length);
    }
    result.setBytes(row, address, (int) bytes);
  }

  /** Reverses the order of the code points without validating them. */
  static void reverse(HostVector[] operands, HostVector result, int row) {
    long source = operands[0].address(row);
    int length = operands[0].length(row);
    long target = result.allocate(length);
    int width;
    for (int offset = 0; offset < length; offset += width) {
      width = Utf8.width(source + offset, length - offset);
      HostMemory.copy(target + length - offset - width, source + offset, width);
    }
    result.setBytes(row, target, length);
  }

  /** The character whose code is the lowest byte. */
  static void chr(HostVector[] operands, HostVector result, int row) {
    long code = operands[0].longs()[row];
    result.setString(row, code < 0 ? "" : String.valueOf((char) (code & 0xff)));
  }
}

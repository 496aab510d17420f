// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import io.millrace.device.HostMemory;
import io.millrace.expression.vector.HostVector;
import io.millrace.text.Utf8;
import java.util.ArrayList;
import java.util.List;

/**
 * Parts of strings as addresses within them. The twins of the device functions of the same names.
 */
final class StringParts {
  private StringParts() {}

  /**
   * The substring from a code point position; an optional third operand is the number of code
   * points.
   */
  static void substring(HostVector[] operands, HostVector result, int row) {
    int count = operands.length == 3 ? (int) operands[2].longs()[row] : Integer.MAX_VALUE;
    if (count < 0) {
      result.setNull(row);
      return;
    }
    long address = operands[0].address(row);
    int length = operands[0].length(row);
    int start = (int) operands[1].longs()[row];
    int skipped = start < 0 ? Utf8.count(address, length) + start : Math.max(start - 1, 0);
    if (skipped < 0) {
      result.setBytes(row, address, 0);
      return;
    }
    int from = Utf8.offsetOf(address, length, skipped);
    int rest = length - from;
    result.setBytes(
        row, address + from, count >= rest ? rest : Utf8.offsetOf(address + from, rest, count));
  }

  static void left(HostVector[] operands, HostVector result, int row) {
    long address = operands[0].address(row);
    int count = (int) operands[1].longs()[row];
    result.setBytes(row, address, Utf8.offsetOf(address, operands[0].length(row), count));
  }

  static void right(HostVector[] operands, HostVector result, int row) {
    long address = operands[0].address(row);
    int length = operands[0].length(row);
    int count = Math.max((int) operands[1].longs()[row], 0);
    int from = count >= length ? 0 : Utf8.count(address, length) - count;
    int offset = Utf8.offsetOf(address, length, from);
    result.setBytes(row, address + offset, length - offset);
  }

  /** Removes leading code points that occur in the second operand. */
  static void trimLeading(HostVector[] operands, HostVector result, int row) {
    int length = operands[0].length(row);
    int start = leading(operands[0].address(row), length, operands[1], row);
    result.setBytes(row, operands[0].address(row) + start, length - start);
  }

  /** Removes trailing code points that occur in the second operand. */
  static void trimTrailing(HostVector[] operands, HostVector result, int row) {
    long address = operands[0].address(row);
    result.setBytes(row, address, trailing(address, operands[0].length(row), operands[1], row));
  }

  static void trimBoth(HostVector[] operands, HostVector result, int row) {
    int length = operands[0].length(row);
    int start = leading(operands[0].address(row), length, operands[1], row);
    long address = operands[0].address(row) + start;
    result.setBytes(row, address, trailing(address, length - start, operands[1], row));
  }

  private static int leading(long address, int length, HostVector characters, int row) {
    int start = 0;
    while (start < length) {
      int width = Utf8.width(address + start, length - start);
      if (!contains(characters, row, address + start, width)) {
        break;
      }
      start += width;
    }
    return start;
  }

  private static int trailing(long address, int length, HostVector characters, int row) {
    int end = length;
    while (end > 0) {
      int width = Utf8.lastWidth(address, end);
      if (!contains(characters, row, address + end - width, width)) {
        break;
      }
      end -= width;
    }
    return end;
  }

  private static boolean contains(HostVector characters, int row, long address, int length) {
    return Utf8.find(characters.address(row), characters.length(row), address, length, 0) >= 0;
  }

  /** {@code SPLIT_INDEX(text, separator, index)}. */
  static void splitIndex(HostVector[] operands, HostVector result, int row) {
    if (!splitIndexOfAscii(operands, result, row)) {
      splitIndex(
          operands[0], operands[1].getString(row), (int) operands[2].longs()[row], result, row);
    }
  }

  // Without strings of Java. False if the separator or the part is not ASCII.
  private static boolean splitIndexOfAscii(HostVector[] operands, HostVector result, int row) {
    long separator = operands[1].address(row);
    int width = operands[1].length(row);
    int index = (int) operands[2].longs()[row];
    if (width == 0 || index < 0 || !Utf8.isAscii(separator, width)) {
      return false;
    }
    long text = operands[0].address(row);
    int length = operands[0].length(row);
    int start = 0;
    int end = Utf8.find(text, length, separator, width, 0);
    for (; index > 0 && end >= 0; index--) {
      start = end + width;
      end = Utf8.find(text, length, separator, width, start);
    }
    if (index > 0 || length == 0) {
      result.setNull(row);
      return true;
    }
    int partLength = (end < 0 ? length : end) - start;
    if (!Utf8.isAscii(text + start, partLength)) {
      return false;
    }
    result.setBytes(row, text + start, partLength);
    return true;
  }

  /** {@link #splitIndex} with the code of the separator, 1 to 255. */
  static void splitIndexByCode(HostVector[] operands, HostVector result, int row) {
    int code = (int) operands[1].longs()[row];
    if (code < 1 || code > 255) {
      result.setNull(row);
    } else {
      String separator = String.valueOf((char) code);
      splitIndex(operands[0], separator, (int) operands[2].longs()[row], result, row);
    }
  }

  private static void splitIndex(
      HostVector text, String separator, int index, HostVector result, int row) {
    if (index < 0 || text.length(row) == 0) {
      result.setNull(row);
      return;
    }
    String string = text.getString(row);
    List<String> parts = separator.isEmpty() ? words(string) : split(string, separator);
    if (index >= parts.size()) {
      result.setNull(row);
    } else {
      result.setString(row, parts.get(index));
    }
  }

  private static List<String> split(String text, String separator) {
    List<String> parts = new ArrayList<>();
    int start = 0;
    for (int end = text.indexOf(separator); end >= 0; end = text.indexOf(separator, start)) {
      parts.add(text.substring(start, end));
      start = end + separator.length();
    }
    parts.add(text.substring(start));
    return parts;
  }

  private static List<String> words(String text) {
    List<String> parts = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      if (Character.isWhitespace(text.charAt(i))) {
        parts.add(text.substring(start, i));
        start = i + 1;
      }
    }
    parts.add(text.substring(start));
    return parts;
  }

  /** The first byte as a signed number, or 0 for an empty string. */
  static void ascii(HostVector[] operands, HostVector result, int row) {
    result.longs()[row] =
        operands[0].length(row) == 0 ? 0 : HostMemory.getByte(operands[0].address(row));
  }
}

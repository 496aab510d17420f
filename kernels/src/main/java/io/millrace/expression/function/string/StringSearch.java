// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import io.millrace.text.Utf8;

/** Finds strings in other strings. The twins of {@code string_search.cuh}. */
final class StringSearch {
  private StringSearch() {}

  /** {@code POSITION(sought IN text)}; an optional third operand is the start. */
  static void position(HostVector[] operands, HostVector result, int row) {
    HostVector sought = operands[0];
    HostVector text = operands[1];
    // Wraps around as in Flink: nothing is found from the least integer.
    int skipped = operands.length == 3 ? (int) operands[2].longs()[row] - 1 : 0;
    result.longs()[row] =
        sought.length(row) == 0
            ? 1
            : new Cursor(text, row).skip(skipped).next(sought.address(row), sought.length(row));
  }

  /** {@code INSTR(text, sought, start, nth)}. */
  static void instr(HostVector[] operands, HostVector result, int row, Rows rows) {
    int start = (int) operands[2].longs()[row];
    int nth = (int) operands[3].longs()[row];
    if (nth <= 0) {
      rows.fail(row, Status.INVALID_ARGUMENT);
    } else {
      result.longs()[row] =
          start > 0
              ? forwards(operands[0], operands[1], start, nth, row)
              : start == 0 ? 0 : backwards(operands[0], operands[1], start, nth, row);
    }
  }

  private static int forwards(HostVector text, HostVector sought, int start, int nth, int row) {
    if (sought.length(row) == 0) {
      return 1;
    }
    Cursor cursor = new Cursor(text, row).skip(start - 1);
    int found = cursor.next(sought.address(row), sought.length(row));
    for (int i = 1; i < nth && found > 0; i++) {
      cursor.skip(1);
      found = cursor.next(sought.address(row), sought.length(row));
    }
    return found;
  }

  private static int backwards(HostVector text, HostVector sought, int start, int nth, int row) {
    long address = text.address(row);
    int count = Utf8.count(address, text.length(row));
    int length = sought.length(row);
    if (length == 0) {
      return start == Integer.MIN_VALUE ? 0 : count + 1;
    }
    int soughtCount = Utf8.count(sought.address(row), length);
    int end = Math.max(0, count + start + 1);
    int offset = Utf8.offsetOf(address, text.length(row), end);
    int left = nth;
    while (offset >= length) {
      if (Utf8.equal(address + offset - length, sought.address(row), length) && --left == 0) {
        return end - soughtCount + 1;
      }
      offset -= Utf8.lastWidth(address, offset);
      end--;
    }
    return 0;
  }

  /** Whether the first operand starts with the second. */
  static void startsWith(HostVector[] operands, HostVector result, int row) {
    int length = operands[1].length(row);
    result.setBoolean(
        row,
        length <= operands[0].length(row)
            && Utf8.equal(operands[0].address(row), operands[1].address(row), length));
  }

  /** Whether the first operand ends with the second. */
  static void endsWith(HostVector[] operands, HostVector result, int row) {
    int length = operands[1].length(row);
    int offset = operands[0].length(row) - length;
    result.setBoolean(
        row,
        offset >= 0
            && Utf8.equal(operands[0].address(row) + offset, operands[1].address(row), length));
  }

  /** Iterates over the code points of a text. */
  private static final class Cursor {
    private final long address;
    private final int length;
    private int offset;
    private int index = 1;

    Cursor(HostVector text, int row) {
      this.address = text.address(row);
      this.length = text.length(row);
    }

    Cursor skip(int codePoints) {
      int count = Math.max(codePoints, 0);
      offset += Utf8.offsetOf(address + offset, length - offset, count);
      index += count;
      return this;
    }

    /**
     * Advances to the next occurrence of the sought bytes. Returns its code point number, or 0 if
     * there is none.
     */
    int next(long sought, int soughtLength) {
      while (offset <= length - soughtLength) {
        if (Utf8.equal(address + offset, sought, soughtLength)) {
          return index;
        }
        offset += Utf8.width(address + offset, length - offset);
        index++;
      }
      return 0;
    }
  }
}

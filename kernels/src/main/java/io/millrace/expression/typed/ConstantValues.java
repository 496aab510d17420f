// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.typed.TypedExpression.Literal;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.ValueKind;
import java.util.Arrays;
import java.util.List;

/**
 * A list of constants of one type, in a memory layout that the host and {@code constant_table.cu}
 * share. Immutable.
 *
 * <p>Layout, little-endian: the number of constants (32 bits, followed by 96 zero bits), then two
 * 64-bit words per constant: the value or its first part, and the second part; for bytes the offset
 * in this memory and the length.
 */
@Internal
public final class ConstantValues {
  private static final int HEADER_BYTES = 16;
  private static final int VALUE_BYTES = 16;

  private final ValueKind kind;
  private final byte[] bytes;
  private final int longest;
  private final Object[] values;

  /**
   * @param constants non-null, of one type
   * @throws ExpressionException if they exceed 1 GiB
   */
  public ConstantValues(List<Literal> constants) {
    this.kind = ValueKind.of(constants.get(0).type());
    this.values =
        constants.stream()
            .map(
                constant -> kind == ValueKind.BYTES ? ConstantBytes.of(constant) : constant.value())
            .toArray();
    long size = HEADER_BYTES + (long) VALUE_BYTES * values.length;
    int most = 0;
    for (Object value : values) {
      if (value instanceof byte[] text) {
        size += ConstantTable.wholeWords(text.length);
        most = Math.max(most, text.length);
      }
    }
    ConstantTable.checkSize(size);
    this.longest = most;
    this.bytes = new byte[(int) size];
    ConstantTable.INTS.set(bytes, 0, values.length);
    int text = HEADER_BYTES + VALUE_BYTES * values.length;
    for (int i = 0; i < values.length; i++) {
      text += put(i, constants.get(i), text);
    }
  }

  /** Stores a constant; returns the number of bytes written at {@code textPlace}. */
  private int put(int index, Literal constant, int textPlace) {
    int place = HEADER_BYTES + index * VALUE_BYTES;
    if (values[index] instanceof byte[] text) {
      ConstantTable.LONGS.set(bytes, place, (long) textPlace);
      ConstantTable.LONGS.set(bytes, place + Long.BYTES, (long) text.length);
      System.arraycopy(text, 0, bytes, textPlace, text.length);
      return ConstantTable.wholeWords(text.length);
    }
    ConstantTable.LONGS.set(bytes, place, ConstantTable.word(constant));
    if (kind.isTwoPart()) {
      ConstantTable.LONGS.set(bytes, place + Long.BYTES, ConstantTable.secondWord(constant));
    }
    return 0;
  }

  /** The memory of the list. Read-only. */
  public byte[] bytes() {
    return bytes;
  }

  /** Length in bytes of the longest STRING constant. */
  public int longest() {
    return longest;
  }

  /** Returns the constants whose indexes are in the first operand. */
  public void get(HostVector[] operands, HostVector result, Rows rows) {
    long[] numbers = operands[0].longs();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      int number = (int) numbers[row];
      if (kind == ValueKind.BYTES) {
        result.setBytes(row, (byte[]) values[number]);
      } else if (kind.isFloating()) {
        result.doubles()[row] = ((Number) values[number]).doubleValue();
      } else {
        int place = HEADER_BYTES + number * VALUE_BYTES;
        result.longs()[row] = (long) ConstantTable.LONGS.get(bytes, place);
        if (kind.isTwoPart()) {
          result.secondParts()[row] = (long) ConstantTable.LONGS.get(bytes, place + Long.BYTES);
        }
      }
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ConstantValues that
        && kind == that.kind
        && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return values.length + " constants";
  }
}

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
 * Constants of one type by their number, in memory that the host and {@code constant_table.cu} read
 * alike. Immutable.
 *
 * <p>The memory is little-endian: how many there are (32 bits, and 96 that are 0), and two words of
 * 64 bits each: the value or its first part, and the second part; of bytes where they are in the
 * memory, and how many.
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
   * @param constants of one type, none of them null
   * @throws ExpressionException if they take over 1 GiB
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

  /** Returns how many bytes it puts at {@code textPlace}. */
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

  /** The memory, which nobody writes to. */
  public byte[] bytes() {
    return bytes;
  }

  /** Bytes of the longest constant of bytes. */
  public int longest() {
    return longest;
  }

  /** The values whose numbers the first operand has. */
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

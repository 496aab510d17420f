// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How many bytes a result has at most: {@code constant}, and the bytes of each operand as often as
 * its factor says. Operands that are not bytes have no factor.
 *
 * @param factors one an operand, as far as there are; those missing are 0
 */
@Internal
public record ResultSizeLimit(long constant, List<Long> factors) {
  /** No bytes. */
  public static final ResultSizeLimit NONE = constant(0);

  public ResultSizeLimit {
    factors = List.copyOf(factors);
  }

  /** At most {@code bytes}. */
  public static ResultSizeLimit constant(long bytes) {
    return new ResultSizeLimit(bytes, List.of());
  }

  /** At most as many as the operand {@code index}. */
  public static ResultSizeLimit ofOperand(int index) {
    return NONE.plusOperand(index, 1);
  }

  /** This and {@code bytes} more. */
  public ResultSizeLimit plus(long bytes) {
    return new ResultSizeLimit(constant + bytes, factors);
  }

  /** This and {@code factor} times the bytes of the operand {@code index} more. */
  public ResultSizeLimit plusOperand(int index, long factor) {
    int size = Math.max(factors.size(), index + 1);
    return new ResultSizeLimit(
        constant,
        IntStream.range(0, size).mapToObj(i -> factor(i) + (i == index ? factor : 0)).toList());
  }

  /** How often the bytes of the operand {@code index} count. */
  public long factor(int index) {
    return index < factors.size() ? factors.get(index) : 0;
  }
}

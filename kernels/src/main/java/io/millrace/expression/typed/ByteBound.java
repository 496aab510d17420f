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
public record ByteBound(long constant, List<Long> factors) {
  /** No bytes. */
  public static final ByteBound NONE = constant(0);

  public ByteBound {
    factors = List.copyOf(factors);
  }

  /** At most {@code bytes}. */
  public static ByteBound constant(long bytes) {
    return new ByteBound(bytes, List.of());
  }

  /** At most as many as the operand {@code index}. */
  public static ByteBound ofOperand(int index) {
    return NONE.plusOperand(index, 1);
  }

  /** This and {@code bytes} more. */
  public ByteBound plus(long bytes) {
    return new ByteBound(constant + bytes, factors);
  }

  /** This and {@code factor} times the bytes of the operand {@code index} more. */
  public ByteBound plusOperand(int index, long factor) {
    int size = Math.max(factors.size(), index + 1);
    return new ByteBound(
        constant,
        IntStream.range(0, size).mapToObj(i -> factor(i) + (i == index ? factor : 0)).toList());
  }

  /** How often the bytes of the operand {@code index} count. */
  public long factor(int index) {
    return index < factors.size() ? factors.get(index) : 0;
  }
}

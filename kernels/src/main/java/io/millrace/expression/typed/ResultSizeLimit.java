// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Upper bound on the size of a result in bytes: {@code constant} plus the length of each operand
 * times its factor. Operands that are not bytes have factor 0.
 *
 * @param factors one per operand; missing factors are 0
 */
@Internal
public record ResultSizeLimit(long constant, List<Long> factors) {
  /** Zero bytes. */
  public static final ResultSizeLimit NONE = constant(0);

  public ResultSizeLimit {
    factors = List.copyOf(factors);
  }

  /** A constant number of bytes. */
  public static ResultSizeLimit constant(long bytes) {
    return new ResultSizeLimit(bytes, List.of());
  }

  /** The length of the operand {@code index}. */
  public static ResultSizeLimit ofOperand(int index) {
    return NONE.plusOperand(index, 1);
  }

  /** Adds a constant number of bytes. */
  public ResultSizeLimit plus(long bytes) {
    return new ResultSizeLimit(constant + bytes, factors);
  }

  /** Adds {@code factor} times the length of the operand {@code index}. */
  public ResultSizeLimit plusOperand(int index, long factor) {
    int size = Math.max(factors.size(), index + 1);
    return new ResultSizeLimit(
        constant,
        IntStream.range(0, size).mapToObj(i -> factor(i) + (i == index ? factor : 0)).toList());
  }

  /** The factor of the operand {@code index}. */
  public long factor(int index) {
    return index < factors.size() ? factors.get(index) : 0;
  }
}

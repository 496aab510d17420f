// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FluentExpressionTest {
  @Test
  void equalityHasAShortAndALongName() {
    Expression price = col("price");
    assertThat(price.eq(5)).isEqualTo(price.isEqual(5)).isEqualTo(call("=", price, 5));
    assertThat(price.ne(5)).isEqualTo(price.isNotEqual(5)).isEqualTo(call("<>", price, 5));
  }
}

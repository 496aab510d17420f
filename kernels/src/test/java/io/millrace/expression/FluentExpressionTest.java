// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.expression.error.ExpressionException;
import org.junit.jupiter.api.Test;

class FluentExpressionTest {
  @Test
  void methodsCallTheFunctionsOfTheirNames() {
    assertThat(col("s").lowerCase()).isEqualTo(call("LOWER", col("s")));
    assertThat(col("s").upperCase()).isEqualTo(call("UPPER", col("s")));
    assertThat(col("a").in(1, col("b"))).isEqualTo(call("IN", col("a"), lit(1), col("b")));
    assertThat(col("a").coalesce(0)).isEqualTo(call("COALESCE", col("a"), lit(0)));
    assertThat(col("s").lowerCase()).hasToString("LOWER(`s`)");
  }

  @Test
  void nullsComeFirstInAscendingOrderUnlessToldOtherwise() {
    assertThat(col("a").asc()).isEqualTo(new SortKey("a", false, true));
    assertThat(col("a").desc()).isEqualTo(new SortKey("a", true, false));
    assertThat(col("a").asc().withNullsLast()).hasToString("a ASC NULLS LAST");
    assertThat(col("a").desc().withNullsFirst()).hasToString("a DESC NULLS FIRST");
  }

  @Test
  void onlyColumnsAreSortKeys() {
    assertThatThrownBy(() -> col("a").plus(1).asc())
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("expected a column to sort by, got (`a` + 1)");
  }
}

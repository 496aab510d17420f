// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import java.util.List;

/** The position of the row in its table. */
@PublicEvolving
public final class RowNumber extends TypedExpression {
  public RowNumber() {
    super(DataType.INT32, false, List.of());
  }

  @Override
  TypedExpression withOperands(List<TypedExpression> others) {
    return this;
  }

  @Override
  String toSql(List<String> operandTexts) {
    return "ROW_NUMBER()";
  }
}

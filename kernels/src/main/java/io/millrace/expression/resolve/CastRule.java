// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.typed.TypedExpression;

/** How values of some types become values of others. */
@Internal
public interface CastRule {

  /** Whether this rule casts between the two, which are not equal. */
  boolean supports(DataType from, DataType to);

  /**
   * The cast of {@code operand}. A failing function's failure is what TRY_CAST makes null of.
   *
   * @return a call, whose function may fail
   */
  TypedExpression.Call bind(TypedExpression operand, DataType to, BindingContext context);
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.typed.TypedExpression;

/** Casts from some types to others. */
@Internal
public interface CastRule {

  /** Whether this rule casts {@code from} to {@code to}, which differ. */
  boolean supports(DataType from, DataType to);

  /**
   * Binds the cast of {@code operand}.
   *
   * @return a call whose function may fail; TRY_CAST maps a failure to null
   */
  TypedExpression.Call bind(TypedExpression operand, DataType to, BindingContext context);
}

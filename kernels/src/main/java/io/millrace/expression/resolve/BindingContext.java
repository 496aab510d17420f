// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.typed.BatchValue;
import java.time.ZoneId;
import java.util.Optional;

/** The part of a session that functions and casts depend on when a call is bound. */
@Internal
public interface BindingContext {
  /** The session's time zone. */
  ZoneId zone();

  /**
   * Whether the expressions are evaluated for batches with an {@link
   * io.millrace.expression.vector.BatchContext}.
   */
  boolean hasBatch();

  /**
   * A value of the batch.
   *
   * @param nullable whether the least BIGINT stands for NULL
   * @throws ExpressionException if the expression is not evaluated for batches
   */
  default BatchValue batchValue(BatchValue.Property property, DataType type, boolean nullable) {
    if (!hasBatch()) {
      throw new ExpressionException(
          "its value belongs to a batch, which is not known here: select it as a column first");
    }
    return new BatchValue(property, type, nullable);
  }

  /** A number that is another one for each call, for functions that give other values then. */
  long nextCall();

  /** The cast from one type to another; empty if there is none. */
  Optional<CastRule> cast(DataType from, DataType to);
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.expression.vector.BatchContext;
import java.util.Collection;
import java.util.List;

/**
 * A value of the {@link BatchContext}: a leaf that is neither a column nor a constant. Kernels take
 * it as an argument, so that one kernel serves all batches.
 */
@PublicEvolving
public final class BatchValue extends TypedExpression {
  /** The values of a {@link BatchContext}. */
  public enum Property {
    PROCESSING_TIME,
    WATERMARK,
    RANDOM_SEED,
    FIRST_ROW;

    /** The value in {@code batch}. */
    public long of(BatchContext batch) {
      return switch (this) {
        case PROCESSING_TIME -> batch.processingTime();
        case WATERMARK -> batch.watermark();
        case RANDOM_SEED -> batch.randomSeed();
        case FIRST_ROW -> batch.firstRow();
      };
    }
  }

  private final Property property;

  /**
   * @param type BIGINT, or TIMESTAMP(3) or TIMESTAMP_LTZ(3) of milliseconds
   * @param nullable whether the least BIGINT stands for NULL
   */
  public BatchValue(Property property, DataType type, boolean nullable) {
    super(type, nullable, List.of(), property, type, nullable);
    this.property = property;
  }

  public Property property() {
    return property;
  }

  /** Whether one of {@code expressions} needs a {@link BatchContext}. */
  public static boolean isIn(Collection<TypedExpression> expressions) {
    return nodes(expressions).stream().anyMatch(BatchValue.class::isInstance);
  }

  @Override
  TypedExpression withOperands(List<TypedExpression> others) {
    return this;
  }

  @Override
  String toSql(List<String> operandTexts) {
    return property + "()";
  }
}

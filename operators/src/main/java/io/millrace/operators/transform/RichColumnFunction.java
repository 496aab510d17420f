// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.expression.resolve.ColumnFunction;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.functions.RuntimeContext;

/**
 * A function that lives as long as the {@link TransformOperator} whose {@link CalcPlan} calls it.
 * Each operator has an instance of its own, which its thread calls.
 */
@Internal
public interface RichColumnFunction extends ColumnFunction {
  /**
   * Called once, before the first evaluation.
   *
   * @param context of the operator
   */
  void open(RuntimeContext context) throws Exception;

  /** Called once, also if {@link #open} failed or was not called. */
  void close() throws Exception;
}

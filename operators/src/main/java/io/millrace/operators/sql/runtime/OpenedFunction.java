// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.expression.resolve.ColumnFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.operators.transform.RichColumnFunction;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.functions.ScalarFunction;

/** A function of Flink SQL that is opened before it is evaluated, and closed. */
@Internal
public final class OpenedFunction implements RichColumnFunction {
  private static final long serialVersionUID = 1L;

  private final ScalarFunction function;
  private final ColumnFunction evaluation;
  private transient boolean isOpen;

  /**
   * @param evaluation evaluates {@code function}
   */
  public OpenedFunction(ScalarFunction function, ColumnFunction evaluation) {
    this.function = function;
    this.evaluation = evaluation;
  }

  @Override
  public void open(RuntimeContext context) throws Exception {
    function.open(new FunctionContext(context));
    isOpen = true;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if the function is not open, as while a query is planned
   */
  @Override
  public void evaluate(HostVector[] operands, HostVector results, Rows rows) {
    if (!isOpen) {
      throw new IllegalStateException("function " + function + " is not open");
    }
    evaluation.evaluate(operands, results, rows);
  }

  @Override
  public void close() throws Exception {
    isOpen = false;
    function.close();
  }
}

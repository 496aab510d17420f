// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.calc.Calc;
import io.millrace.column.Table;
import io.millrace.expression.vector.BatchContext;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import java.util.List;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * The calcs of an operator, which hold the kernels until it is closed.
 *
 * @param calcWithEventTimes for tables with an {@link EventTimeColumn}
 * @param functions that are opened and closed with it
 */
record CalcTransform(
    Calc calc, Calc calcWithEventTimes, List<RichColumnFunction> functions, DeviceContext context)
    implements TableTransform {
  @Override
  public void open(RuntimeContext runtime) throws Exception {
    for (RichColumnFunction function : functions) {
      function.open(runtime);
    }
  }

  @Override
  public Table apply(Table input, BatchContext batch) {
    return (EventTimeColumn.isIn(input.schema()) ? calcWithEventTimes : calc)
        .apply(input, batch, context.stream(), context.resource());
  }

  @Override
  public List<String> hostReasons() {
    return calc.hostReasons();
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    functions.forEach(function -> failure.run(ThrowingRunnable.unchecked(function::close)));
    failure.run(context.stream()::synchronize);
    failure.run(calcWithEventTimes::close);
    failure.run(calc::close);
    failure.rethrow();
  }
}

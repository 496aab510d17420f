// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.function;

import io.millrace.calc.Calc;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.error.EvaluationException;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.ExternalRowAppender;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.types.Row;

/**
 * Evaluates expressions for rows of Java objects on the device of the process. Used by one thread.
 */
final class MicroBatchCalc implements AutoCloseable {
  private final Schema columns;
  private final DeviceContext context = DeviceContext.openWithoutOperator();
  private final HostTransfer transfer = new HostTransfer(context);
  private final ExternalRowDecoder decoder;
  private final Calc calc;

  MicroBatchCalc(MicroBatchExpressions expressions) {
    this.columns = expressions.columns();
    this.decoder = new ExternalRowDecoder(expressions.results());
    this.calc = expressions.plan().calc().share();
  }

  /**
   * The results of rows, in their order.
   *
   * @throws EvaluationException if a row fails, with its position
   * @throws IllegalArgumentException if a value is not of its column's type
   */
  List<Row> evaluate(List<Row> rows) {
    List<Row> results = new ArrayList<>(rows.size());
    transfer.toDevice(
        context.retry().withHostRetry(() -> table(rows)),
        table -> {
          try (table) {
            context
                .retry()
                .withSplitAndRetry(table, this::compute, result -> decode(result, results));
          } catch (EvaluationException e) {
            throw e.behind(results.size());
          }
        });
    return results;
  }

  private Table table(List<Row> rows) {
    try (RowTableBuilder builder = transfer.tableBuilder(columns)) {
      ExternalRowAppender appender = new ExternalRowAppender(builder);
      rows.forEach(appender::append);
      return builder.finish(rows.size());
    }
  }

  private Table compute(Table table) {
    try (Table result = calc.apply(table, context.stream(), context.resource())) {
      return transfer.toHost(result);
    }
  }

  private void decode(Table result, List<Row> results) {
    try (result;
        AccessScope scope = AccessScope.on(context.hostStream())) {
      RowDecoder<Row> rows = decoder.decoder(result, scope);
      for (int row = 0; row < result.rowCount(); row++) {
        results.add(rows.decode(row));
      }
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(calc::close);
    failure.run(transfer::close);
    failure.run(context::close);
    failure.rethrow();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.Column;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.concatenate.Concatenate;
import io.millrace.operators.aggregate.GroupAggregatePlan.Steps;
import io.millrace.operators.aggregate.function.AggregateBatch;
import io.millrace.operators.aggregate.function.AggregateResult;
import io.millrace.operators.aggregate.function.BatchAggregateFunction;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.process.KeyedBatch;
import io.millrace.operators.process.KeyedBatchFunction;
import io.millrace.operators.process.KeyedResult;
import io.millrace.operators.process.ProcessPlan;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.state.StateTable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.util.IOUtils;

/**
 * Calls a user-defined aggregate function in front of the aggregates, with its accumulators as
 * state, and adds a row with the result for each key of a batch. The first operator in front of the
 * aggregates computes the arguments of all of them.
 */
final class UserDefinedAggregate implements KeyedBatchFunction {
  private static final long serialVersionUID = 1L;

  private final GroupAggregatePlan aggregates;
  private final int position;
  private final BatchAggregateFunction function;
  private final Schema stateColumns;
  private transient Steps steps;
  private transient DeviceContext device;

  private UserDefinedAggregate(GroupAggregatePlan aggregates, int position, FunctionStep step) {
    this.aggregates = aggregates;
    this.position = position;
    this.function = step.function();
    this.stateColumns = step.stateColumns();
  }

  /**
   * The plan of the operator.
   *
   * @param position of the function among {@link GroupAggregatePlan#keptArguments}
   * @throws io.millrace.expression.error.ExpressionException if the accumulators cannot be kept:
   *     see {@link ProcessPlan}
   */
  static ProcessPlan plan(GroupAggregatePlan aggregates, int position) {
    try (Steps steps = aggregates.steps()) {
      FunctionStep step = (FunctionStep) steps.ofArguments().get(position);
      return new ProcessPlan(
          position == 0 ? aggregates.input() : aggregates.argumentSchema(),
          aggregates.keys(),
          new UserDefinedAggregate(aggregates, position, step),
          aggregates.stateTtl());
    }
  }

  @Override
  public Schema outputSchema(Schema input) {
    return aggregates.argumentSchema();
  }

  @Override
  public Schema stateSchema(Schema input) {
    return stateColumns;
  }

  @Override
  public void open(Schema input, DeviceContext context, RuntimeContext runtime) throws Exception {
    device = context;
    steps = aggregates.steps();
    function.open(step().arguments(), context, runtime);
  }

  private FunctionStep step() {
    return (FunctionStep) steps.ofArguments().get(position);
  }

  private Table apply(Calc calc, Table rows) {
    return calc.apply(rows, device.stream(), device.resource());
  }

  @Override
  public KeyedResult process(KeyedBatch batch) throws Exception {
    try (Table rows =
            position == 0 ? apply(steps.arguments(), batch.rows()) : batch.rows().share();
        Table numbered = table(step().numbered(), rows, batch.keyNumbers());
        AggregateResult result = call(numbered, batch.state());
        Table values = values(numbered, batch.state(), result);
        Column results = values.column(FunctionStep.RESULT).share();
        Table keys = table(step().addedRows().inputSchema(), batch.keys(), results);
        Table added = apply(step().addedRows(), keys)) {
      Table output =
          Concatenate.concatenate(
              aggregates.argumentSchema(),
              List.of(rows, added),
              device.stream(),
              device.resource());
      return new KeyedResult(output, values.select(stateColumns.names()));
    }
  }

  private AggregateResult call(Table numbered, Table state) throws Exception {
    FunctionStep step = step();
    List<String> columns = new ArrayList<>(step.arguments().names());
    if (step.isChangelog()) {
      columns.add(RowKindColumn.NAME);
    }
    try (Table calls = apply(step.calls(), numbered);
        Table arguments = calls.select(columns);
        Table accumulators = state.select(step.accumulators().names())) {
      Column keyNumbers = calls.column(FunctionStep.KEY_NUMBER.name());
      AggregateResult result =
          function.aggregate(new AggregateBatch(arguments, keyNumbers, accumulators, device));
      try {
        check(result, accumulators.rowCount());
        return result;
      } catch (RuntimeException | Error e) {
        IOUtils.closeQuietly(result);
        throw e;
      }
    }
  }

  private void check(AggregateResult result, int keys) {
    Table accumulators = result.accumulators();
    Column results = result.results();
    Schema expected = step().accumulators();
    if (!accumulators.schema().equals(expected)
        || !results.type().equals(function.resultType(step().arguments()))
        || accumulators.rowCount() != keys
        || results.size() != keys) {
      throw new IllegalStateException(
          String.format(
              "expected %d rows of accumulators %s and results %s, got %d rows of %s and %d of %s"
                  + " from %s",
              keys,
              expected,
              function.resultType(step().arguments()),
              accumulators.rowCount(),
              accumulators.schema(),
              results.size(),
              results.type(),
              function.name()));
    }
  }

  // The state columns, and the result behind them.
  private Table values(Table numbered, Table state, AggregateResult result) {
    FunctionStep step = step();
    Table accumulators = result.accumulators();
    if (!step.isChangelog()) {
      Schema schema =
          step.accumulators().with(Field.of(FunctionStep.RESULT, result.results().type()));
      return table(schema, accumulators, result.results());
    }
    try (Column rows = rowCounts(numbered, state.rowCount());
        Table counted =
            table(
                step.counted(),
                accumulators,
                state.column(FunctionStep.ROWS.name()),
                rows,
                result.results())) {
      return apply(step.lives(), counted);
    }
  }

  // Keys are numbered in the order in which they come first, and so are the rows of the table.
  private Column rowCounts(Table numbered, int keys) {
    try (StateTable counts =
        new StateTable(step().rowCounts(), device.stream(), device.resource())) {
      counts.accumulate(numbered);
      try (Table rows = counts.values(0, keys, List.of())) {
        return rows.column(AddedRows.ROWS).share();
      }
    }
  }

  // The columns of a table, and others behind them.
  private static Table table(Schema schema, Table table, Column... others) {
    List<Column> columns = new ArrayList<>();
    table.columns().forEach(column -> columns.add(column.share()));
    Stream.of(others).forEach(column -> columns.add(column.share()));
    return new Table(schema, columns, table.rowCount());
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(function::close, steps);
  }

  @Override
  public String toString() {
    return function.name();
  }
}

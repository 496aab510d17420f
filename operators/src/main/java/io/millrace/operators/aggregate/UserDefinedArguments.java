// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.aggregate.ArgumentName.Kind;
import io.millrace.operators.aggregate.function.BatchAggregateFunction;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The columns of user-defined functions among the arguments of aggregates. Operators in front of
 * the aggregates call the functions, which read columns of the input. For each key of a batch a row
 * is added that has the function's result, of which the aggregates keep the last one.
 */
final class UserDefinedArguments {
  /**
   * A call of a function.
   *
   * @param text that no other call has; a checkpoint's state is found again by it
   * @param arguments the columns of the arguments
   * @param filter the column that is true for rows that count; empty if all do
   * @param result the column of the result
   * @param isSet the column that tells whether there is a result
   */
  record Call(
      String text,
      BatchAggregateFunction function,
      List<Integer> arguments,
      Optional<Integer> filter,
      int result,
      int isSet) {}

  private final List<Call> calls = new ArrayList<>();

  void add(Call call) {
    calls.add(call);
  }

  /**
   * The call with a text, if there is one.
   *
   * @throws ExpressionException if it is a call of another function
   */
  Optional<Call> call(String text, BatchAggregateFunction function) {
    Optional<Call> known = calls.stream().filter(call -> call.text.equals(text)).findFirst();
    if (known.isPresent() && known.get().function != function) {
      throw new ExpressionException(
          "expected functions with names of their own, got two of "
              + text
              + ": override name(), by which their states are found again");
    }
    return known;
  }

  /** The arguments of a function, by their types. */
  static Schema arguments(List<DataType> types) {
    List<Field> fields = new ArrayList<>();
    types.forEach(type -> fields.add(Field.of("f" + fields.size(), type)));
    return new Schema(fields);
  }

  /** Adds the steps between the arguments and {@code state}; the caller closes them. */
  void addSteps(StateSchema state, ExpressionSettings settings, List<ArgumentStep> steps) {
    for (Call call : calls) {
      steps.add(new Builder(call, state, settings, steps.isEmpty()).build());
    }
  }

  /** Makes the step of a call. */
  private static final class Builder {
    private final Call call;
    private final StateSchema state;
    private final Schema rows;
    private final ExpressionSettings settings;
    // No rows were added to its input.
    private final boolean isFirst;
    private final boolean isChangelog;
    private final List<Calc> calcs = new ArrayList<>();

    private Builder(Call call, StateSchema state, ExpressionSettings settings, boolean isFirst) {
      this.call = call;
      this.state = state;
      this.rows = state.input();
      this.settings = settings;
      this.isFirst = isFirst;
      this.isChangelog = state.kindColumn() != StateSchema.NO_KINDS;
    }

    private FunctionStep build() {
      try {
        return step();
      } catch (RuntimeException | Error e) {
        FirstFailure failure = new FirstFailure();
        failure.add(e);
        calcs.forEach(calc -> failure.run(calc::close));
        throw e;
      }
    }

    private FunctionStep step() {
      Schema arguments = arguments(call.arguments.stream().map(rows::type).toList());
      Schema accumulators = call.function.accumulatorSchema(arguments);
      Field result = Field.of(FunctionStep.RESULT, rows.type(call.result));
      Schema numbered = rows.with(FunctionStep.KEY_NUMBER);
      Schema counted =
          isChangelog
              ? accumulators.with(
                  FunctionStep.ROWS, new Field(AddedRows.ROWS, DataType.INT64, false), result)
              : null;
      return new FunctionStep(
          new ArgumentName(Kind.FUNCTION, call.text),
          call.function,
          arguments,
          accumulators,
          numbered,
          calls(numbered),
          isChangelog ? rowCounts(numbered) : null,
          counted,
          isChangelog ? lives(counted, accumulators) : null,
          addedRows(result));
    }

    private Calc calls(Schema numbered) {
      List<Expression> columns = new ArrayList<>();
      for (int argument : call.arguments) {
        columns.add(column(argument).as("f" + columns.size()));
      }
      if (isChangelog) {
        columns.add(column(state.kindColumn()).as(RowKindColumn.NAME));
      }
      columns.add(col(FunctionStep.KEY_NUMBER.name()));
      Optional<Expression> filter = call.filter.map(this::column);
      if (!isFirst) {
        Expression isRow = col(AddedRows.IS_ROW).isNotNull();
        filter = Optional.of(filter.map(isRow::and).orElse(isRow));
      }
      return calc(numbered, filter, columns);
    }

    private Expression column(int position) {
      return col(rows.field(position).name());
    }

    private StateSchema rowCounts(Schema numbered) {
      return new StateSchema(
          numbered,
          List.of(numbered.size() - 1),
          List.of(Accumulator.countRows(AddedRows.ROWS, rows.indexOf(AddedRows.IS_ROW))),
          state.kindColumn());
    }

    private Calc lives(Schema counted, Schema accumulators) {
      Expression before = col(FunctionStep.ROWS.name());
      Expression sum = before.isNull().then(lit(0L), before).plus(col(AddedRows.ROWS));
      List<Expression> columns = new ArrayList<>();
      for (Field field : accumulators.fields()) {
        columns.add(ifRows(sum, col(field.name()), field));
      }
      columns.add(ifRows(sum, sum, FunctionStep.ROWS));
      Field result = counted.field(counted.size() - 1);
      columns.add(ifRows(sum, col(result.name()), result));
      return calc(counted, Optional.empty(), columns);
    }

    private static Expression ifRows(Expression rows, Expression value, Field field) {
      return rows.ne(0L).then(value, nullOf(field.type())).as(field.name());
    }

    private Calc addedRows(Field result) {
      Expression value = col(result.name());
      Calc calc =
          AddedRows.of(
              state.keySchema().with(result),
              Optional.empty(),
              state,
              lit((int) ChangeKind.INSERT.value()).cast(DataType.INT8),
              Map.of(call.result, value, call.isSet, value.isNotNull()),
              settings);
      calcs.add(calc);
      return calc;
    }

    private Calc calc(Schema input, Optional<Expression> condition, List<Expression> columns) {
      Calc calc = Calc.of(input, condition, columns, settings.context());
      calcs.add(calc);
      return calc;
    }
  }

  /**
   * Checks that a function can be called.
   *
   * @param keys names of key columns
   * @throws ExpressionException if it has DISTINCT, an argument is an ARRAY or a ROW, the result is
   *     one, rows of a changelog cannot be taken back, or an accumulator has the name of a key
   *     column or a reserved one
   */
  static void check(Aggregate aggregate, Schema arguments, List<String> keys, boolean isChangelog) {
    if (aggregate.isDistinct()) {
      throw new ExpressionException(aggregate + " is not supported: it has DISTINCT");
    }
    for (Field argument : arguments.fields()) {
      checkType(aggregate, "its argument", argument.type());
    }
    BatchAggregateFunction function = aggregate.userDefined();
    checkType(aggregate, "its result", function.resultType(arguments));
    if (isChangelog && !function.supportsRetraction()) {
      throw new ExpressionException(
          aggregate + " is not supported for a changelog: its function does not take rows back");
    }
    for (String name : function.accumulatorSchema(arguments).names()) {
      if (keys.contains(name) || name.startsWith("$")) {
        throw new ExpressionException(
            "expected accumulators with names of their own of "
                + aggregate
                + ", got '"
                + name
                + (keys.contains(name) ? "', which is a key column" : "', which is reserved"));
      }
    }
  }

  private static void checkType(Aggregate aggregate, String what, DataType type) {
    if (!Accumulator.Function.LAST.supports(type)) {
      throw new ExpressionException(aggregate + " is not supported: " + what + " is " + type);
    }
  }
}

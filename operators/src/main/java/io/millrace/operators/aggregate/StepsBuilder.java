// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.aggregate.GroupAggregatePlan.Steps;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.flink.types.RowKind;

/** Collects the columns of the steps of a {@link GroupAggregatePlan}. */
final class StepsBuilder {
  private static final String ARGUMENT = "$argument_";
  private static final String ALL_ROWS = "$all_rows";

  private final Schema input;
  private final List<String> keys;
  private final List<Aggregate> aggregates;
  private final ExpressionSettings settings;
  private final StateTtl stateTtl;
  private final boolean givesUpdateBefore;
  private final List<Expression> arguments = new ArrayList<>();
  private final List<Expression> values = new ArrayList<>();
  private final List<String> valueTexts = new ArrayList<>();
  private final List<Accumulator> accumulators = new ArrayList<>();
  private final List<Expression> results = new ArrayList<>();
  private final UserDefinedArguments userDefined = new UserDefinedArguments();
  private final DistinctArguments distincts = new DistinctArguments();
  private final ExtremesArguments extremes = new ExtremesArguments();
  private final boolean isChangelog;
  // Whether operators in front of the aggregates add rows to batches.
  private final boolean hasAddedRows;

  StepsBuilder(
      Schema input,
      List<String> keys,
      List<Aggregate> aggregates,
      ExpressionSettings settings,
      StateTtl stateTtl,
      boolean givesUpdateBefore) {
    this.input = input;
    this.keys = keys;
    this.aggregates = aggregates;
    this.settings = settings;
    this.stateTtl = stateTtl;
    this.givesUpdateBefore = givesUpdateBefore;
    this.isChangelog = RowKindColumn.isIn(input);
    this.hasAddedRows = aggregates.stream().anyMatch(aggregate -> addsRows(aggregate, isChangelog));
  }

  /** Whether an operator in front of the aggregates adds rows for an aggregate. */
  static boolean addsRows(Aggregate aggregate, boolean isChangelog) {
    return aggregate.isUserDefined()
        || aggregate.isDistinct()
        || (isChangelog && aggregate.isExtreme());
  }

  /** How many key columns the state has: without keys, all rows have the same one. */
  static int keyCount(List<String> keys) {
    return Math.max(keys.size(), 1);
  }

  /** Resolves the steps; the caller closes them. */
  Steps build() {
    keys.forEach(key -> arguments.add(Expressions.col(key)));
    if (keys.isEmpty()) {
      arguments.add(Expressions.lit(0).as(ALL_ROWS));
    }
    keys.forEach(key -> results.add(Expressions.col(key)));
    if (!stateTtl.isNone()) {
      accumulators.add(stateTtl.updateTime());
    }
    int kindColumn = StateSchema.NO_KINDS;
    if (isChangelog) {
      kindColumn = arguments.size();
      arguments.add(Expressions.col(RowKindColumn.NAME));
    }
    if (hasAddedRows) {
      arguments.add(Expressions.lit(1).as(AddedRows.IS_ROW));
    }
    if (isChangelog) {
      rowCount();
    }
    for (Aggregate aggregate : aggregates) {
      results.add(result(aggregate).as(aggregate.name()));
    }
    results.add(Expressions.col(StateSchema.KIND).as(RowKindColumn.NAME));
    Calc argumentCalc = calc(input, Optional.empty(), arguments);
    List<ArgumentStep> argumentSteps = new ArrayList<>();
    try {
      Schema columns = argumentCalc.outputSchema();
      if (hasAddedRows) {
        columns = AddedRows.nullable(columns, firstArgument() - 1);
      }
      StateSchema state = state(columns, kindColumn);
      userDefined.addSteps(state, settings, argumentSteps);
      distincts.addSteps(state, stateTtl, settings, argumentSteps);
      extremes.addSteps(state, stateTtl, settings, argumentSteps);
      Calc resultCalc = calc(state.changes(), Optional.of(isEmitted(givesUpdateBefore)), results);
      return new Steps(argumentCalc, argumentSteps, state, resultCalc);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      argumentSteps.forEach(step -> failure.run(step::close));
      failure.run(argumentCalc::close);
      throw e;
    }
  }

  private static Expression isEmitted(boolean givesUpdateBefore) {
    Expression kind = Expressions.col(StateSchema.KIND);
    return givesUpdateBefore
        ? kind.ge(0)
        : kind.ge(0).and(kind.ne((int) RowKind.UPDATE_BEFORE.toByteValue()));
  }

  private StateSchema state(Schema columns, int kindColumn) {
    List<Integer> keyColumns = IntStream.range(0, keyCount(keys)).boxed().toList();
    try {
      return new StateSchema(columns, keyColumns, accumulators, kindColumn);
    } catch (IllegalArgumentException e) {
      throw new ExpressionException(e.getMessage());
    }
  }

  private Calc calc(Schema schema, Optional<Expression> condition, List<Expression> columns) {
    return Calc.of(schema, condition, columns, settings.context());
  }

  private Expression result(Aggregate aggregate) {
    if (aggregate.isUserDefined()) {
      return userDefined(aggregate);
    }
    if (aggregate.argument().isEmpty() && aggregate.filter().isEmpty()) {
      return rowCount();
    }
    Expression argument = filteredArgument(aggregate);
    DataType argumentType = typeOf(argument).type();
    AggregateTypes.check(aggregate, argumentType, isChangelog);
    DataType type = AggregateTypes.result(aggregate.function(), argumentType);
    DataType computedType = AggregateTypes.computed(aggregate.function(), argumentType);
    if (isChangelog && aggregate.isExtreme()) {
      return extreme(aggregate, argument, argumentType);
    }
    if (aggregate.isDistinct()) {
      Field field = Field.of(ARGUMENT, computedType);
      return result(aggregate, field, distinctColumn(aggregate, argument, computedType), type);
    }
    Field field = new Field(ARGUMENT, computedType, typeOf(argument).nullable());
    boolean isPlain = computedType.equals(argumentType);
    Expression computed = isPlain ? argument : argument.cast(computedType);
    if (hasSeparator(aggregate)) {
      computed = Expressions.call("CONCAT", Expressions.lit(aggregate.separator()), computed);
    }
    // Values of all types are counted, but not all are joined with the rows of DISTINCT.
    boolean isCount = aggregate.function() == Aggregate.Function.COUNT;
    boolean isCounted = hasAddedRows && isCount && !argumentType.id().isFixedWidth();
    return result(aggregate, field, argumentColumn(isCounted ? isValue(argument) : computed), type);
  }

  private static Expression isValue(Expression argument) {
    return argument.isNotNull().then(1, Expressions.nullOf(DataType.INT32));
  }

  private int distinctColumn(Aggregate aggregate, Expression filtered, DataType type) {
    Optional<Expression> sharedFilter =
        sharesValues(aggregate) ? aggregate.filter() : Optional.empty();
    Expression argument = sharesValues(aggregate) ? argument(aggregate) : filtered;
    String text = argument.toString();
    Expression named = argument.as(DistinctArguments.name(text));
    int argumentColumn = column(named, text, named);
    Expression value = Expressions.col(DistinctArguments.name(text));
    boolean isCount = aggregate.function() == Aggregate.Function.COUNT;
    Expression read = isCount ? isValue(value) : value.cast(type);
    Expression none = Expressions.nullOf(isCount ? DataType.INT32 : type);
    Expression kept = sharedFilter.map(filter -> filter.then(read, none)).orElse(read);
    String readText =
        "DISTINCT "
            + (isCount ? text : argument.cast(type).toString())
            + sharedFilter.map(filter -> " FILTER " + filter).orElse("");
    int column = column(kept, readText, none.as(ARGUMENT + values.size()));
    distincts.add(text, argumentColumn, sharedFilter.map(this::countOfKept), column, read);
    return column;
  }

  // Whether there are aggregates of the same values with different filters.
  private boolean sharesValues(Aggregate aggregate) {
    return aggregates.stream()
            .filter(other -> other.isDistinct() && argument(other).equals(argument(aggregate)))
            .map(Aggregate::filter)
            .distinct()
            .count()
        > 1;
  }

  private Accumulator countOfKept(Expression filter) {
    int column = argumentColumn(filter.then(1, Expressions.nullOf(DataType.INT32)));
    return new Accumulator(name(Function.COUNT, filter.toString()), Function.COUNT, column);
  }

  // Which values a key has is known in front of the aggregates: here is the last extreme given.
  private Expression extreme(Aggregate aggregate, Expression argument, DataType type) {
    String text = argument.toString();
    Expression named = argument.as(ExtremesArguments.name(text));
    int argumentColumn = column(named, ExtremesArguments.name(text), named);
    int extreme = addedColumn(aggregate.function() + " of " + text, type);
    int isSet = addedColumn("IS_SET of " + text, DataType.BOOL);
    extremes.add(text, argumentColumn, aggregate.function(), extreme, isSet);
    return lastValue(extreme, isSet, type);
  }

  // What operators in front of the aggregates gave last.
  private Expression lastValue(int column, int isSet, DataType type) {
    return value(Function.LAST, isSet).then(value(Function.LAST, column), Expressions.nullOf(type));
  }

  private Expression userDefined(Aggregate aggregate) {
    Schema types =
        UserDefinedArguments.arguments(
            aggregate.arguments().stream().map(argument -> typeOf(argument).type()).toList());
    UserDefinedArguments.check(aggregate, types, keys, isChangelog);
    DataType type = aggregate.userDefined().resultType(types);
    String text = aggregate.text();
    Optional<UserDefinedArguments.Call> known = userDefined.call(text, aggregate.userDefined());
    if (known.isPresent()) {
      return lastValue(known.get().result(), known.get().isSet(), type);
    }
    int result = addedColumn(text, type);
    int isSet = addedColumn("IS_SET of " + text, DataType.BOOL);
    userDefined.add(
        new UserDefinedArguments.Call(
            text,
            aggregate.userDefined(),
            aggregate.arguments().stream().map(this::argumentColumn).toList(),
            aggregate.filter().map(this::argumentColumn),
            result,
            isSet));
    return lastValue(result, isSet, type);
  }

  // Null in the rows of the input.
  private int addedColumn(String text, DataType type) {
    Expression none = Expressions.nullOf(type);
    return column(Expressions.col("$added " + text), text, none.as(ARGUMENT + values.size()));
  }

  private Expression result(Aggregate aggregate, Field field, int column, DataType type) {
    return switch (aggregate.function()) {
      case COUNT -> count(field, column);
      case SUM -> ofValues(field, column, sum(column).cast(type), type);
      case SUM0 -> fromZero(field, column).cast(type);
      case AVG -> {
        Expression average = fromZero(field, column).dividedBy(count(field, column));
        yield ofValues(field, column, average.cast(type), type);
      }
      case MIN -> ofValues(field, column, value(Function.MIN, column), type);
      case MAX -> ofValues(field, column, value(Function.MAX, column), type);
      case FIRST_VALUE -> ofValues(field, column, value(Function.FIRST, column), type);
      case LAST_VALUE -> ofValues(field, column, value(Function.LAST, column), type);
      case VAR_POP -> variance(field, column, 0, type, false);
      case VAR_SAMP -> variance(field, column, 1, type, false);
      case STDDEV_POP -> variance(field, column, 0, type, true);
      case STDDEV_SAMP -> variance(field, column, 1, type, true);
      case SQUARED_DIFFERENCES -> squares(field, column, 0, value(Function.M2, column), type);
      case USER_DEFINED -> throw new AssertionError(aggregate);
      case LISTAGG -> ofValues(field, column, list(aggregate, column), type);
    };
  }

  // A sum that begins at 0.0, which tells only if all values are -0.0.
  private Expression fromZero(Field field, int column) {
    return field.type().isFloatingPoint() ? sum(column).plus(Expressions.lit(0.0)) : sum(column);
  }

  private static boolean hasSeparator(Aggregate aggregate) {
    return aggregate.function() == Aggregate.Function.LISTAGG && !aggregate.separator().isEmpty();
  }

  // Each value has a separator before it, so that strings are combined as they are.
  private Expression list(Aggregate aggregate, int column) {
    Expression values = value(Function.LISTAGG, column);
    String separator = aggregate.separator();
    int start = 1 + separator.codePointCount(0, separator.length());
    return separator.isEmpty() ? values : Expressions.call("SUBSTRING", values, start);
  }

  private Expression variance(
      Field field, int column, int subtracted, DataType type, boolean isDeviation) {
    Expression count = count(field, column);
    Expression variance = value(Function.M2, column).dividedBy(count.minus(subtracted));
    Expression result = isDeviation ? Expressions.call("SQRT", variance) : variance;
    return squares(field, column, subtracted, result, type);
  }

  private Expression squares(
      Field field, int column, int subtracted, Expression result, DataType type) {
    // Where values were taken back, rounding may leave less than 0.
    Expression hasResult =
        count(field, column).gt(subtracted).and(value(Function.M2, column).lt(0.0).not());
    return hasResult.then(result.cast(type), Expressions.nullOf(type));
  }

  private static Expression argument(Aggregate aggregate) {
    return aggregate.argument().orElse(Expressions.lit(1));
  }

  private Expression filteredArgument(Aggregate aggregate) {
    Expression argument = argument(aggregate);
    if (aggregate.filter().isEmpty()) {
      return argument;
    }
    DataType type = typeOf(argument).type();
    return aggregate.filter().orElseThrow().then(argument, Expressions.nullOf(type));
  }

  private Field typeOf(Expression argument) {
    try (Calc calc = calc(input, Optional.empty(), List.of(argument.as(ARGUMENT)))) {
      return calc.outputSchema().field(0);
    }
  }

  private int argumentColumn(Expression argument) {
    return column(argument, argument.toString(), argument.as(ARGUMENT + values.size()));
  }

  // The position of the column with `value`, which is computed by `named` if there is none yet.
  private int column(Expression value, String text, Expression named) {
    int known = values.indexOf(value);
    if (known < 0) {
      known = values.size();
      // Such as two literals of different types.
      valueTexts.add(valueTexts.contains(text) ? text + " #" + known : text);
      values.add(value);
      arguments.add(named);
    }
    return firstArgument() + known;
  }

  private int firstArgument() {
    return keyCount(keys) + (isChangelog ? 1 : 0) + (hasAddedRows ? 1 : 0);
  }

  private Expression rowCount() {
    String name = name(Function.COUNT, "*");
    return accumulator(
        hasAddedRows
            ? Accumulator.countRows(name, firstArgument() - 1)
            : Accumulator.countRows(name));
  }

  // By the name, a checkpoint's value is found again: it tells all that the value depends on.
  private String name(Function function, String argument) {
    return "$" + function + "(" + argument + ")";
  }

  // Without nulls there are as many values as rows.
  private Expression count(Field field, int column) {
    return field.nullable() ? value(Function.COUNT, column) : rowCount();
  }

  private Expression sum(int column) {
    return value(Function.SUM, column);
  }

  private Expression value(Function function, int column) {
    String name = name(function, valueTexts.get(column - firstArgument()));
    return accumulator(new Accumulator(name, function, column));
  }

  private Expression accumulator(Accumulator accumulator) {
    if (!accumulators.contains(accumulator)) {
      accumulators.add(accumulator);
    }
    return Expressions.col(accumulator.name());
  }

  private Expression ofValues(Field field, int column, Expression result, DataType type) {
    return field.nullable()
        ? count(field, column).gt(0).then(result, Expressions.nullOf(type))
        : result;
  }
}

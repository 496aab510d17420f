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
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;

/**
 * Aggregates as three steps: a calc that computes their arguments; accumulators of a state table,
 * which several aggregates may share; and a calc that computes the results of the accumulators.
 * Immutable; serialized with the job as unresolved expressions.
 */
@Internal
public final class GroupAggregatePlan implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String ARGUMENT = "$argument_";

  private final Schema input;
  private final List<String> keys;
  private final List<Aggregate> aggregates;
  private final ExpressionSettings settings;
  private final StateTtl stateTtl;
  private final Schema outputSchema;
  private final List<String> hostReasons;
  private final Schema argumentSchema;
  private final List<String> distinctTexts;

  /**
   * The steps.
   *
   * @param distincts between the arguments and the state: each adds rows with the values of an
   *     argument of DISTINCT
   */
  public record Steps(Calc arguments, List<DistinctStep> distincts, StateSchema state, Calc results)
      implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      failure.run(arguments::close);
      distincts.forEach(distinct -> failure.run(distinct::close));
      failure.run(results::close);
      failure.rethrow();
    }
  }

  /** A plan whose state stays. */
  public GroupAggregatePlan(
      Schema input, List<String> keys, List<Aggregate> aggregates, ExpressionSettings settings) {
    this(input, keys, aggregates, settings, StateTtl.NONE);
  }

  /**
   * @param input the columns of the batches; with a {@link RowKindColumn} if rows may be taken back
   * @param settings of the aggregates' expressions
   * @param stateTtl how long a key stays behind its last update
   * @throws ExpressionException if there is no aggregate, there is DISTINCT with a time-to-live, an
   *     argument does not fit the columns, a filter is not BOOLEAN, a function does not support its
   *     argument's type, or two columns of the result have the same name
   */
  public GroupAggregatePlan(
      Schema input,
      List<String> keys,
      List<Aggregate> aggregates,
      ExpressionSettings settings,
      StateTtl stateTtl) {
    this.input = input;
    this.keys = List.copyOf(keys);
    this.aggregates = List.copyOf(aggregates);
    this.settings = settings;
    this.stateTtl = stateTtl;
    if (aggregates.isEmpty()) {
      throw new ExpressionException("expected an aggregate");
    }
    if (!stateTtl.isNone() && aggregates.stream().anyMatch(Aggregate::isDistinct)) {
      throw new ExpressionException(
          "DISTINCT is not supported with stateTtl: a key and its values would expire apart");
    }
    try (Steps steps = steps()) {
      this.outputSchema = steps.results().outputSchema();
      this.argumentSchema = steps.state().input();
      this.distinctTexts = steps.distincts().stream().map(DistinctStep::text).toList();
      this.hostReasons =
          Stream.of(steps.arguments(), steps.results())
              .flatMap(calc -> calc.hostReasons().stream())
              .toList();
    }
    Field kind = outputSchema.field(outputSchema.size() - 1);
    if (!kind.equals(RowKindColumn.addTo(new Schema(List.of())).field(0))) {
      throw new IllegalStateException("expected a column of row kinds, got " + kind);
    }
  }

  /** The keys, the results in their order, and the kind of each row. */
  public Schema outputSchema() {
    return outputSchema;
  }

  /** The columns behind the calc of the arguments. */
  public Schema argumentSchema() {
    return argumentSchema;
  }

  /** How many exchange keys there are. */
  int keyCount() {
    return keys.size();
  }

  /**
   * The arguments whose different values are kept, each by a {@link DistinctOperator}; empty if
   * there is no DISTINCT.
   */
  public List<String> distinctTexts() {
    return distinctTexts;
  }

  /** The arguments, filters and results that the host computes, each with its reason. */
  public List<String> hostReasons() {
    return hostReasons;
  }

  /** How long a key stays behind its last update. */
  public StateTtl stateTtl() {
    return stateTtl;
  }

  /** Resolves the steps; the caller closes them. */
  public Steps steps() {
    return new Builder().build();
  }

  /** Collects the columns of the three steps. */
  private final class Builder {
    private final List<Expression> arguments = new ArrayList<>();
    private final List<Expression> values = new ArrayList<>();
    private final List<String> valueTexts = new ArrayList<>();
    private final List<Accumulator> accumulators = new ArrayList<>();
    private final List<Expression> results = new ArrayList<>();
    private final DistinctArguments distincts = new DistinctArguments();
    private final boolean isChangelog = RowKindColumn.isIn(input);
    private final boolean hasDistincts = aggregates.stream().anyMatch(Aggregate::isDistinct);

    Steps build() {
      keys.forEach(key -> arguments.add(Expressions.col(key)));
      keys.forEach(key -> results.add(Expressions.col(key)));
      if (!stateTtl.isNone()) {
        accumulators.add(stateTtl.updateTime());
      }
      int kindColumn = StateSchema.NO_KINDS;
      if (isChangelog) {
        kindColumn = arguments.size();
        arguments.add(Expressions.col(RowKindColumn.NAME));
      }
      if (hasDistincts) {
        arguments.add(Expressions.lit(1).as(DistinctArguments.IS_ROW));
      }
      if (isChangelog) {
        rowCount();
      }
      for (Aggregate aggregate : aggregates) {
        results.add(result(aggregate).as(aggregate.name()));
      }
      results.add(Expressions.col(StateSchema.KIND).as(RowKindColumn.NAME));
      Calc argumentCalc = calc(input, Optional.empty(), arguments);
      try {
        Schema columns = argumentCalc.outputSchema();
        if (hasDistincts) {
          columns = DistinctArguments.nullable(columns, firstArgument() - 1);
        }
        StateSchema state = state(columns, kindColumn);
        List<DistinctStep> distinctSteps = distincts.steps(state, settings);
        Expression isChange = Expressions.col(StateSchema.KIND).ge(0);
        Calc resultCalc = calc(state.changes(), Optional.of(isChange), results);
        return new Steps(argumentCalc, distinctSteps, state, resultCalc);
      } catch (RuntimeException | Error e) {
        argumentCalc.close();
        throw e;
      }
    }

    private StateSchema state(Schema columns, int kindColumn) {
      List<Integer> keyColumns = keys.stream().map(columns::indexOf).toList();
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
      if (aggregate.argument().isEmpty() && aggregate.filter().isEmpty()) {
        return rowCount();
      }
      Expression argument = filteredArgument(aggregate);
      DataType argumentType = typeOf(argument).type();
      AggregateTypes.check(aggregate, argumentType, isChangelog);
      DataType type = AggregateTypes.result(aggregate.function(), argumentType);
      DataType computedType = AggregateTypes.computed(aggregate.function(), argumentType);
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
      boolean isCounted = hasDistincts && isCount && !argumentType.id().isFixedWidth();
      return result(
          aggregate, field, argumentColumn(isCounted ? isValue(argument) : computed), type);
    }

    private static Expression isValue(Expression argument) {
      return argument.isNotNull().then(1, Expressions.nullOf(DataType.INT32));
    }

    private int distinctColumn(Aggregate aggregate, Expression argument, DataType type) {
      String text = argument.toString();
      Expression named = argument.as(DistinctArguments.name(text));
      int argumentColumn = column(named, text, named);
      Expression value = Expressions.col(DistinctArguments.name(text));
      boolean isCount = aggregate.function() == Aggregate.Function.COUNT;
      Expression read = isCount ? isValue(value) : value.cast(type);
      String readText = "DISTINCT " + (isCount ? text : argument.cast(type).toString());
      Expression none = Expressions.nullOf(isCount ? DataType.INT32 : type);
      int column = column(read, readText, none.as(ARGUMENT + values.size()));
      distincts.add(text, argumentColumn, column, read);
      return column;
    }

    private Expression result(Aggregate aggregate, Field field, int column, DataType type) {
      return switch (aggregate.function()) {
        case COUNT -> count(field, column);
        case SUM -> ofValues(field, column, sum(column).cast(type), type);
        case AVG -> {
          // The sum of an average begins at 0.0, which tells only if all values are -0.0.
          Expression sum =
              field.type().isFloatingPoint() ? sum(column).plus(Expressions.lit(0.0)) : sum(column);
          Expression average = sum.dividedBy(count(field, column));
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
        case LISTAGG -> ofValues(field, column, list(aggregate, column), type);
      };
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
      Expression squares = value(Function.M2, column);
      Expression variance = squares.dividedBy(count.minus(subtracted));
      Expression result = isDeviation ? Expressions.call("SQRT", variance) : variance;
      // Where values were taken back, rounding may leave less than 0.
      Expression hasResult = count.gt(subtracted).and(squares.lt(0.0).not());
      return hasResult.then(result.cast(type), Expressions.nullOf(type));
    }

    private Expression filteredArgument(Aggregate aggregate) {
      Expression argument = aggregate.argument().orElse(Expressions.lit(1));
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
      return keys.size() + (isChangelog ? 1 : 0) + (hasDistincts ? 1 : 0);
    }

    private Expression rowCount() {
      String name = name(Function.COUNT, "*");
      return accumulator(
          hasDistincts
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

  /**
   * Such as {@code GroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n])}; with {@code stateTtl=[1
   * h]} behind it if keys do not stay for ever.
   */
  @Override
  public String toString() {
    return "GroupAggregate(groupBy=["
        + String.join(", ", keys)
        + "], select=["
        + selectText()
        + "]"
        + stateTtl.text()
        + ")";
  }

  /** The keys and the aggregates, such as {@code a, COUNT(*) AS n}. */
  public String selectText() {
    List<String> selected = new ArrayList<>(keys);
    aggregates.forEach(aggregate -> selected.add(aggregate.toString()));
    return String.join(", ", selected);
  }
}

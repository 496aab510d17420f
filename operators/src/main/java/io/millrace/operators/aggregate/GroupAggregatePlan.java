// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static org.apache.flink.util.TimeUtils.formatWithHighestUnit;

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
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.io.Serializable;
import java.time.Duration;
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
  private static final String UPDATE_TIME = "$UPDATE_TIME";
  private static final int MAX_DIGITS = 38;
  private static final int MIN_AVERAGE_SCALE = 6;

  private final Schema input;
  private final List<String> keys;
  private final List<Aggregate> aggregates;
  private final ExpressionSettings settings;
  private final Duration stateTtl;
  private final Schema outputSchema;
  private final List<String> hostReasons;

  /** The steps. */
  public record Steps(Calc arguments, StateSchema state, Calc results) implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      failure.run(arguments::close);
      failure.run(results::close);
      failure.rethrow();
    }
  }

  /** A plan whose state stays. */
  public GroupAggregatePlan(
      Schema input, List<String> keys, List<Aggregate> aggregates, ExpressionSettings settings) {
    this(input, keys, aggregates, settings, Duration.ZERO);
  }

  /**
   * @param input the columns of the batches; with a {@link RowKindColumn} if rows may be taken back
   * @param settings of the aggregates' expressions
   * @param stateTtl how long a key stays behind its last update; zero: for ever
   * @throws ExpressionException if there is no aggregate, an argument does not fit the columns, a
   *     filter is not BOOLEAN, a function does not support its argument's type, or two columns of
   *     the result have the same name
   */
  public GroupAggregatePlan(
      Schema input,
      List<String> keys,
      List<Aggregate> aggregates,
      ExpressionSettings settings,
      Duration stateTtl) {
    this.input = input;
    this.keys = List.copyOf(keys);
    this.aggregates = List.copyOf(aggregates);
    this.settings = settings;
    this.stateTtl = stateTtl;
    if (aggregates.isEmpty()) {
      throw new ExpressionException("expected an aggregate");
    }
    try (Steps steps = steps()) {
      this.outputSchema = steps.results().outputSchema();
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

  /** The arguments, filters and results that the host computes, each with its reason. */
  public List<String> hostReasons() {
    return hostReasons;
  }

  /** How long a key stays behind its last update; zero: for ever. */
  public Duration stateTtl() {
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
    private final boolean isChangelog = RowKindColumn.isIn(input);

    Steps build() {
      keys.forEach(key -> arguments.add(Expressions.col(key)));
      keys.forEach(key -> results.add(Expressions.col(key)));
      if (!stateTtl.isZero()) {
        accumulators.add(Accumulator.updateTime(UPDATE_TIME));
      }
      int kindColumn = StateSchema.NO_KINDS;
      if (isChangelog) {
        kindColumn = arguments.size();
        arguments.add(Expressions.col(RowKindColumn.NAME));
        rowCount();
      }
      for (Aggregate aggregate : aggregates) {
        results.add(result(aggregate).as(aggregate.name()));
      }
      results.add(Expressions.col(StateSchema.KIND).as(RowKindColumn.NAME));
      Calc argumentCalc = calc(input, Optional.empty(), arguments);
      try {
        StateSchema state = state(argumentCalc.outputSchema(), kindColumn);
        Expression isChange = Expressions.col(StateSchema.KIND).ge(0);
        Calc resultCalc = calc(state.changes(), Optional.of(isChange), results);
        return new Steps(argumentCalc, state, resultCalc);
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
      checkSupported(aggregate, argumentType);
      DataType type = resultType(aggregate, argumentType);
      if (aggregate.function() == Aggregate.Function.AVG && argumentType.equals(DataType.FLOAT32)) {
        argument = argument.cast(DataType.FLOAT64);
      }
      Field field = typeOf(argument);
      int column = argumentColumn(argument);
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
      };
    }

    private DataType resultType(Aggregate aggregate, DataType type) {
      boolean isDecimal = type.isDecimal();
      return switch (aggregate.function()) {
        case COUNT -> DataType.INT64;
        case SUM -> isDecimal ? DataType.decimal(MAX_DIGITS, type.scale()) : type;
        case AVG ->
            isDecimal
                ? DataType.decimal(MAX_DIGITS, Math.max(type.scale(), MIN_AVERAGE_SCALE))
                : type;
        case MIN, MAX -> type;
      };
    }

    private void checkSupported(Aggregate aggregate, DataType type) {
      Function function =
          switch (aggregate.function()) {
            case COUNT -> Function.COUNT;
            case SUM, AVG -> Function.SUM;
            case MIN -> Function.MIN;
            case MAX -> Function.MAX;
          };
      if (!function.supports(type)) {
        throw new ExpressionException(aggregate + " is not supported: its argument is " + type);
      }
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
      int known = values.indexOf(argument);
      if (known < 0) {
        known = values.size();
        String text = argument.toString();
        // Such as two literals of different types.
        valueTexts.add(valueTexts.contains(text) ? text + " #" + known : text);
        values.add(argument);
        arguments.add(argument.as(ARGUMENT + known));
      }
      return firstArgument() + known;
    }

    private int firstArgument() {
      return keys.size() + (isChangelog ? 1 : 0);
    }

    private Expression rowCount() {
      return accumulator(Accumulator.countRows(name(Function.COUNT, "*")));
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
        + (stateTtl.isZero() ? "])" : "], stateTtl=[" + formatWithHighestUnit(stateTtl) + "])");
  }

  /** The keys and the aggregates, such as {@code a, COUNT(*) AS n}. */
  public String selectText() {
    List<String> selected = new ArrayList<>(keys);
    aggregates.forEach(aggregate -> selected.add(aggregate.toString()));
    return String.join(", ", selected);
  }
}

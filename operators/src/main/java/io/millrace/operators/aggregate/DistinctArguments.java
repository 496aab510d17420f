// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.aggregate.ArgumentName.Kind;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The columns of DISTINCT among the arguments of aggregates. An argument has a column of its own,
 * which no aggregate reads. The aggregates read columns that are null in the rows of the input: for
 * each key and value that comes or goes, a row is added that has the value there, and null in the
 * columns of all other aggregates.
 */
final class DistinctArguments {
  /**
   * An argument.
   *
   * @param values by column, computed of the argument
   * @param counts by column, of the rows that the filter of its aggregate keeps; none for a column
   *     without a filter
   */
  private record Argument(
      String text,
      String name,
      int column,
      Map<Integer, Expression> values,
      Map<Integer, Accumulator> counts) {}

  private final List<Argument> arguments = new ArrayList<>();

  /** The name of an argument's column; a checkpoint's values are found again by it. */
  static String name(String text) {
    return "$DISTINCT(" + text + ")";
  }

  /**
   * Adds a column that an aggregate reads.
   *
   * @param argumentColumn of the argument
   * @param kept counts the rows that the aggregate's filter keeps, if values are shared with
   *     aggregates that have other filters
   * @param column that is null in the rows of the input
   * @param value of the argument, which is called by its name
   */
  void add(
      String text, int argumentColumn, Optional<Accumulator> kept, int column, Expression value) {
    Argument argument =
        arguments.stream()
            .filter(known -> known.column == argumentColumn)
            .findFirst()
            .orElseGet(
                () -> {
                  Argument added =
                      new Argument(
                          text, name(text), argumentColumn, new HashMap<>(), new HashMap<>());
                  arguments.add(added);
                  return added;
                });
    argument.values.put(column, value);
    kept.ifPresent(count -> argument.counts.put(column, count));
  }

  /**
   * Adds the steps between the arguments and {@code state}; the caller closes them.
   *
   * @throws ExpressionException if a value cannot be part of a key, or there are more than 24 words
   *     of keys
   */
  void addSteps(
      StateSchema state, StateTtl stateTtl, ExpressionSettings settings, List<ArgumentStep> steps) {
    for (Argument argument : arguments) {
      List<Accumulator> filtered = argument.counts.values().stream().distinct().toList();
      StateSchema values =
          AddedRows.values(argument.column, filtered, state, stateTtl, "DISTINCT " + argument.text);
      ArgumentName name = new ArgumentName(Kind.DISTINCT, argument.text);
      steps.add(
          filtered.isEmpty()
              ? new DistinctStep(
                  name, values, List.of(), List.of(byKinds(argument, state, values, settings)))
              : byCounts(name, argument, state, values, settings));
    }
  }

  private static Calc byKinds(
      Argument argument, StateSchema state, StateSchema values, ExpressionSettings settings) {
    Expression kind = Expressions.col(StateSchema.KIND);
    Expression comesOrGoes =
        kind.eq((int) ChangeKind.INSERT.value()).or(kind.eq((int) ChangeKind.DELETE.value()));
    return AddedRows.of(
        values.changes(),
        Optional.of(comesOrGoes.and(hasValue(argument))),
        state,
        kind,
        argument.values,
        settings);
  }

  private static Expression hasValue(Argument argument) {
    return Expressions.col(argument.name).isNotNull();
  }

  // A value may come for one filter and go for another.
  private static DistinctStep byCounts(
      ArgumentName name,
      Argument argument,
      StateSchema state,
      StateSchema values,
      ExpressionSettings settings) {
    Map<Integer, String> counts = new TreeMap<>();
    for (int column : argument.values.keySet()) {
      Accumulator kept = argument.counts.get(column);
      counts.put(column, kept == null ? AddedRows.ROWS : kept.name());
    }
    List<String> names = counts.values().stream().distinct().toList();
    Schema pairs = DistinctStep.pairs(values, names);
    List<Calc> calcs = new ArrayList<>();
    try {
      calcs.add(byCounts(pairs, argument, counts, ChangeKind.INSERT, state, settings));
      if (state.takesRowsBack()) {
        calcs.add(byCounts(pairs, argument, counts, ChangeKind.DELETE, state, settings));
      }
      return new DistinctStep(name, values, names, calcs);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      calcs.forEach(calc -> failure.run(calc::close));
      throw e;
    }
  }

  private static Calc byCounts(
      Schema pairs,
      Argument argument,
      Map<Integer, String> counts,
      ChangeKind kind,
      StateSchema state,
      ExpressionSettings settings) {
    Map<Integer, Expression> values = new HashMap<>();
    counts.forEach(
        (column, count) ->
            values.put(
                column,
                changes(count, kind)
                    .then(
                        argument.values.get(column),
                        Expressions.nullOf(state.input().type(column)))));
    Expression anyChanges =
        counts.values().stream()
            .distinct()
            .map(count -> changes(count, kind))
            .reduce(Expression::or)
            .orElseThrow();
    return AddedRows.of(
        pairs,
        Optional.of(anyChanges.and(hasValue(argument))),
        state,
        Expressions.lit((int) kind.value()).cast(DataType.INT8),
        values,
        settings);
  }

  private static Expression changes(String count, ChangeKind kind) {
    Expression before = Expressions.col(DistinctStep.before(count));
    Expression after = Expressions.col(count);
    return kind == ChangeKind.INSERT
        ? before.eq(0).and(after.gt(0))
        : before.gt(0).and(after.eq(0));
  }
}

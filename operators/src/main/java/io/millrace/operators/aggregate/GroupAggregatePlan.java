// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.aggregate.function.HostAggregateFunction;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.StateSchema;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
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

  private final Schema input;
  private final List<String> keys;
  private final List<Aggregate> aggregates;
  private final ExpressionSettings settings;
  private final StateTtl stateTtl;
  private final boolean givesUpdateBefore;
  private final Schema outputSchema;
  private final List<String> hostReasons;
  private final Schema argumentSchema;
  private final List<ArgumentName> keptArguments;

  /**
   * The steps.
   *
   * @param ofArguments between the arguments and the state: each adds rows of an argument whose
   *     values are kept
   */
  public record Steps(
      Calc arguments, List<ArgumentStep> ofArguments, StateSchema state, Calc results)
      implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      failure.run(arguments::close);
      ofArguments.forEach(step -> failure.run(step::close));
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
   * @param keys names of columns; empty if all rows are aggregated together, in one subtask
   * @param settings of the aggregates' expressions
   * @param stateTtl how long a key stays behind its last update
   * @throws ExpressionException if there is no aggregate, an argument does not fit the columns, a
   *     filter is not BOOLEAN, a function does not support its argument's type, or two columns of
   *     the result have the same name
   */
  public GroupAggregatePlan(
      Schema input,
      List<String> keys,
      List<Aggregate> aggregates,
      ExpressionSettings settings,
      StateTtl stateTtl) {
    this(input, keys, aggregates, settings, stateTtl, true);
  }

  private GroupAggregatePlan(
      Schema input,
      List<String> keys,
      List<Aggregate> aggregates,
      ExpressionSettings settings,
      StateTtl stateTtl,
      boolean givesUpdateBefore) {
    this.input = input;
    this.keys = List.copyOf(keys);
    this.aggregates = List.copyOf(aggregates);
    this.settings = settings;
    this.stateTtl = hasOperatorsInFront() ? stateTtl.ofBatches() : stateTtl;
    this.givesUpdateBefore = givesUpdateBefore;
    if (aggregates.isEmpty()) {
      throw new ExpressionException("expected an aggregate");
    }
    try (Steps steps = steps()) {
      this.outputSchema = steps.results().outputSchema();
      this.argumentSchema = steps.state().input();
      this.keptArguments = steps.ofArguments().stream().map(ArgumentStep::name).toList();
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

  /** The same plan, of whose changes updates have only the row after them. */
  public GroupAggregatePlan withoutUpdateBefore() {
    return new GroupAggregatePlan(input, keys, aggregates, settings, stateTtl, false);
  }

  private boolean hasOperatorsInFront() {
    boolean isChangelog = RowKindColumn.isIn(input);
    return aggregates.stream().anyMatch(aggregate -> StepsBuilder.addsRows(aggregate, isChangelog));
  }

  /** The keys, the results in their order, and the kind of each row. */
  public Schema outputSchema() {
    return outputSchema;
  }

  /** The columns behind the calc of the arguments. */
  public Schema argumentSchema() {
    return argumentSchema;
  }

  Schema input() {
    return input;
  }

  List<String> keys() {
    return keys;
  }

  /** How many key columns the state has. */
  public int keyCount() {
    return StepsBuilder.keyCount(keys);
  }

  /**
   * The arguments whose values are kept, each by an {@link ArgumentOperator} in front of the
   * aggregates; empty if there is no user-defined function, no DISTINCT, and no MIN or MAX of a
   * changelog.
   */
  public List<ArgumentName> keptArguments() {
    return keptArguments;
  }

  /** Why an operator of {@link #keptArguments} works on the host; empty if it does not. */
  public List<String> hostReasonsOfArgument(int position) {
    String text = keptArguments.get(position).text();
    return aggregates.stream()
        .filter(aggregate -> aggregate.userDefined() instanceof HostAggregateFunction)
        .map(Aggregate::text)
        .filter(text::equals)
        .map(function -> function + " is called in Java")
        .distinct()
        .toList();
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
    return new StepsBuilder(input, keys, aggregates, settings, stateTtl, givesUpdateBefore).build();
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

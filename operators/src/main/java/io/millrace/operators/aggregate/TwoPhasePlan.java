// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.GroupAggregatePlan.Steps;
import io.millrace.operators.state.StateTtl;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * A {@link GroupAggregatePlan} in two phases: a {@link LocalGroupAggregateOperator} in front of the
 * exchange makes one row of accumulators for each key of a batch, and a {@link
 * GroupAggregateOperator} behind it combines them with its state. That state is the same as without
 * the first phase. Immutable; serialized with the job.
 */
@Internal
public final class TwoPhasePlan implements Serializable {
  private static final long serialVersionUID = 1L;

  private final List<String> keys;
  private final GroupAggregatePlan aggregates;
  private final Schema partials;

  /** A plan whose state stays. */
  public TwoPhasePlan(
      Schema input, List<String> keys, List<Aggregate> aggregates, ExpressionSettings settings) {
    this(input, keys, aggregates, settings, StateTtl.NONE);
  }

  /**
   * @param input the columns of the batches in front of the first phase
   * @throws ExpressionException as {@link GroupAggregatePlan}; or if an aggregate is user-defined,
   *     has DISTINCT, is MIN or MAX of a changelog, or depends on the order of rows: a sum or
   *     average of FLOAT or DOUBLE, a variance, a first or last value or LISTAGG; or compares
   *     values of more than 8 bytes, such as strings
   */
  public TwoPhasePlan(
      Schema input,
      List<String> keys,
      List<Aggregate> aggregates,
      ExpressionSettings settings,
      StateTtl stateTtl) {
    this(keys, new GroupAggregatePlan(input, keys, aggregates, settings, stateTtl));
    for (Aggregate aggregate : aggregates) {
      check(aggregate, new GroupAggregatePlan(input, keys, List.of(aggregate), settings));
    }
  }

  private TwoPhasePlan(List<String> keys, GroupAggregatePlan aggregates) {
    this.keys = List.copyOf(keys);
    this.aggregates = aggregates;
    try (Steps steps = steps()) {
      this.partials = steps.state().partials();
    }
  }

  /** As {@link GroupAggregatePlan#withoutUpdateBefore}. */
  public TwoPhasePlan withoutUpdateBefore() {
    return new TwoPhasePlan(keys, aggregates.withoutUpdateBefore());
  }

  private static void check(Aggregate aggregate, GroupAggregatePlan plan) {
    if (!plan.keptArguments().isEmpty()) {
      throw new ExpressionException(
          aggregate + " is not supported in two phases" + reason(aggregate));
    }
    try (Steps steps = plan.steps()) {
      if (steps.state().isOrdered()) {
        throw new ExpressionException(
            aggregate
                + " is not supported in two phases: "
                + (steps.state().dependsOnOrder()
                    ? "it depends on the order of the rows of all subtasks"
                    : "it compares values of more than 8 bytes"));
      }
    }
  }

  private static String reason(Aggregate aggregate) {
    if (aggregate.isUserDefined()) {
      return ": its accumulators are not combined";
    }
    return aggregate.isDistinct()
        ? ": whether a value is a new one is known behind the exchange"
        : " for a changelog: which values are left is known behind the exchange";
  }

  /** The columns between the phases: the keys, and a BIGINT for each word of the accumulators. */
  public Schema partials() {
    return partials;
  }

  /** As {@link GroupAggregatePlan#outputSchema}. */
  public Schema outputSchema() {
    return aggregates.outputSchema();
  }

  /** As {@link GroupAggregatePlan#hostReasons}. */
  public List<String> hostReasons() {
    return aggregates.hostReasons();
  }

  /** The plan in one phase, with the same state. */
  public GroupAggregatePlan aggregates() {
    return aggregates;
  }

  /** Resolves the steps; the caller closes them. */
  Steps steps() {
    return aggregates.steps();
  }

  /** Such as {@code LocalGroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n])}. */
  public String localText() {
    return "LocalGroupAggregate(groupBy=["
        + String.join(", ", keys)
        + "], select=["
        + aggregates.selectText()
        + "])";
  }

  /** Such as {@code GlobalGroupAggregate(groupBy=[a], select=[a, COUNT(*) AS n])}. */
  @Override
  public String toString() {
    return "Global" + aggregates;
  }
}

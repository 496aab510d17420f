// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import io.millrace.column.Schema;
import io.millrace.operators.aggregate.ArgumentOperator;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.state.StateTtl;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;

/**
 * An operator that keeps what an aggregate needs of a changelog, which takes rows back, also before
 * they come, and perhaps forgets keys.
 */
abstract class SimulatedArgument implements SimulatedOperator {
  private static final Duration TTL = Duration.ofMillis(60);

  final StateTtl stateTtl;
  final int keys;
  private final GroupAggregatePlan plan;
  private final Map<String, String> options;

  /**
   * Plans without and with a time-to-live, made once: planning costs more than a small schedule.
   */
  record Plans(
      GroupAggregatePlan forEver, GroupAggregatePlan byClock, GroupAggregatePlan byWatermark) {
    static Plans of(Function<StateTtl, GroupAggregatePlan> plan) {
      return new Plans(
          plan.apply(StateTtl.NONE),
          plan.apply(StateTtl.ofProcessingTime(TTL)),
          plan.apply(StateTtl.ofEventTime(TTL)));
    }

    private GroupAggregatePlan with(StateTtl stateTtl) {
      return stateTtl.isNone() ? forEver : stateTtl.isEventTime() ? byWatermark : byClock;
    }
  }

  /** An operator of which {@code random} decides the details. */
  SimulatedArgument(Plans plans, int mostKeys, Random random) {
    stateTtl = TtlClock.randomTtl(TTL, random);
    keys = 1 + random.nextInt(mostKeys);
    plan = plans.with(stateTtl);
    options =
        random.nextInt(4) == 0
            ? Map.of(
                "millrace.spill.device-limit",
                "4 mb",
                "millrace.spill.host-limit",
                random.nextBoolean() ? "0 b" : "64 kb")
            : Map.of();
  }

  @Override
  public Schema outputSchema() {
    return plan.argumentSchema();
  }

  @Override
  public int keyColumns() {
    return 1;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return ArgumentOperator.factory(plan, 0);
  }

  @Override
  public Map<String, String> options() {
    return options;
  }

  @Override
  public StateTtl stateTtl() {
    return stateTtl;
  }

  @Override
  public int processingTimeWeight() {
    return stateTtl.isNone() || stateTtl.isEventTime() ? 2 : 20;
  }

  @Override
  public String toString() {
    return plan.keptArguments() + stateTtl.text() + ", " + keys + " keys, " + options;
  }
}

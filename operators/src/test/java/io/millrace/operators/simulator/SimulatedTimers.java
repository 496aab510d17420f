// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.process.ProcessOperator;
import io.millrace.operators.process.ProcessPlan;
import io.millrace.operators.process.Reminders;
import io.millrace.operators.state.StateTtl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A function that keeps a value for each key, perhaps for a time, and timers of event time. */
final class SimulatedTimers implements SimulatedOperator {
  private static final int LAST_TIME = 2_000;
  private static final long[] SLICES = {40, 1_000};
  private static final Duration TTL = Duration.ofMillis(60);
  private static final Map<StateTtl, List<ProcessPlan>> PLANS =
      Stream.of(StateTtl.NONE, StateTtl.ofProcessingTime(TTL), StateTtl.ofEventTime(TTL))
          .collect(Collectors.toMap(stateTtl -> stateTtl, SimulatedTimers::plans));

  private final ProcessPlan plan;
  private final StateTtl stateTtl;
  private final int keys;

  /** An operator of which {@code random} decides the details. */
  SimulatedTimers(Random random) {
    stateTtl = TtlClock.randomTtl(TTL, random);
    plan = PLANS.get(stateTtl).get(random.nextInt(SLICES.length));
    keys = 1 + random.nextInt(random.nextInt(10) == 0 ? 300 : 20);
  }

  private static List<ProcessPlan> plans(StateTtl stateTtl) {
    return Arrays.stream(SLICES)
        .mapToObj(
            slices ->
                new ProcessPlan(
                    Reminders.ROWS, List.of("k"), new Reminders(slices, false), stateTtl))
        .toList();
  }

  @Override
  public Schema schema() {
    return Reminders.ROWS;
  }

  @Override
  public Schema outputSchema() {
    return plan.outputSchema();
  }

  @Override
  public int keyColumns() {
    return 1;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return ProcessOperator.factory(plan);
  }

  @Override
  public boolean needsEqualWatermarks() {
    return true;
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
  public RowSource newSource() {
    return new Source();
  }

  @Override
  public KeyGroupModel newModel() {
    return new Model(new HashMap<>());
  }

  @Override
  public String toString() {
    return plan + ", " + keys + " keys";
  }

  private final class Source implements RowSource {
    @Override
    public List<List<Object>> nextRows(Random random) {
      return Stream.generate(() -> row(random)).limit(random.nextInt(20)).toList();
    }

    private List<Object> row(Random random) {
      int key = random.nextInt(keys);
      return Arrays.asList(
          (long) key,
          (long) random.nextInt(LAST_TIME),
          random.nextInt(3) == 0 ? Reminders.DELETE : Reminders.SET);
    }

    @Override
    public long nextWatermark(long previous, Random random) {
      return TtlClock.nextWatermark(previous, random);
    }

    @Override
    public RowSource copy() {
      return this;
    }
  }

  /** The state of a key, and what was emitted for it. */
  private static final class Key {
    private final TreeSet<Long> timers = new TreeSet<>();
    private final List<List<Object>> expected = new ArrayList<>();
    private final List<List<Object>> emitted = new ArrayList<>();
    private int due;
    // When the number of timers that were due was set.
    private long dueTime;

    Key copy() {
      Key copy = new Key();
      copy.timers.addAll(timers);
      copy.expected.addAll(expected);
      copy.emitted.addAll(emitted);
      copy.due = due;
      copy.dueTime = dueTime;
      return copy;
    }
  }

  private final class Model implements KeyGroupModel {
    private final Map<Object, Key> keys;
    private final TtlClock clock = new TtlClock(stateTtl);

    Model(Map<Object, Key> keys) {
      this.keys = keys;
    }

    private Key key(List<Object> row) {
      return keys.computeIfAbsent(row.get(0), absent -> new Key());
    }

    @Override
    public void process(List<Object> row) {
      if (row.get(2).equals(Reminders.SET)) {
        key(row).timers.add((Long) row.get(1));
      } else {
        key(row).timers.remove((Long) row.get(1));
      }
    }

    @Override
    public void processingTime(long timestamp) {
      clock.processingTime(timestamp);
    }

    @Override
    public void restored(long watermark) {
      clock.watermark(watermark);
    }

    // Values that expire at the watermark are still there for the timers that are due at it.
    @Override
    public void watermark(long timestamp) {
      for (Key key : keys.values()) {
        if (clock.hasExpired(key.dueTime)) {
          key.due = 0;
        }
      }
      clock.watermark(timestamp);
      keys.forEach(
          (id, key) -> {
            while (!key.timers.isEmpty() && key.timers.first() <= timestamp) {
              long time = key.timers.pollFirst();
              key.expected.add(Arrays.asList(id, time, key.due));
              key.due = time % 7 == 0 ? 0 : key.due + 1;
              key.dueTime = clock.now();
              if (time % 10 == 0) {
                key.timers.add(time + 3);
              }
            }
          });
    }

    @Override
    public void emitted(List<Object> row) {
      key(row).emitted.add(new ArrayList<>(row));
    }

    @Override
    public void check() {
      keys.forEach((id, key) -> assertThat(key.emitted).isEqualTo(key.expected));
    }

    @Override
    public KeyGroupModel copy() {
      Map<Object, Key> copies = new HashMap<>();
      keys.forEach((id, key) -> copies.put(id, key.copy()));
      return new Model(copies);
    }
  }
}

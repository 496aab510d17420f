// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.window.Session;
import io.millrace.operators.window.TimeWindow;
import io.millrace.operators.window.WindowAggregateOperator;
import io.millrace.operators.window.WindowAggregatePlan;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Aggregates by key and session, of processing time, or of rows out of order. None is late by
 * itself: which of these rows are late depends on batches.
 */
final class SimulatedSessions implements SimulatedOperator {
  // Watermarks begin with 0.
  private static final int MAX_SPREAD = 60;
  // Planning costs more than a small schedule.
  private static final Map<Long, WindowAggregatePlan> PLANS =
      Map.of(1L, plan(1), 5L, plan(5), 20L, plan(20), 100L, plan(100));
  private static final long GAP_OF_PROCESSING_TIME = 80;
  private static final WindowAggregatePlan PLAN_OF_PROCESSING_TIME =
      plan(Session.overProcessingTime(Duration.ofMillis(GAP_OF_PROCESSING_TIME)));

  private final boolean isProcessingTime;
  private final long gap;
  private final int keys;
  private final int maxRows;
  private final int spread;
  private final Map<String, String> options;

  private static WindowAggregatePlan plan(long gap) {
    return plan(Session.over("ts", Duration.ofMillis(gap)));
  }

  private static WindowAggregatePlan plan(TimeWindow sessions) {
    return new WindowAggregatePlan(
        SimulatedWindows.ROWS,
        List.of("a", "b"),
        sessions,
        List.of(count(), sum("v"), max("w")),
        ExpressionSettings.DEFAULT);
  }

  /** An operator of which {@code random} decides the details. */
  SimulatedSessions(Random random) {
    isProcessingTime = random.nextInt(3) == 0;
    gap =
        isProcessingTime
            ? GAP_OF_PROCESSING_TIME
            : List.of(1L, 5L, 20L, 100L).get(random.nextInt(4));
    boolean isLarge = random.nextInt(20) == 0;
    keys = isLarge ? 1_000 : 1 + random.nextInt(12);
    maxRows = isLarge ? 400 : 24;
    spread = 1 + random.nextInt(MAX_SPREAD);
    options =
        random.nextInt(4) == 0
            ? Map.of(
                "millrace.spill.device-limit",
                isLarge ? "3 mb" : "640 kb",
                "millrace.spill.host-limit",
                random.nextBoolean() ? "0 b" : "64 kb")
            : Map.of();
  }

  private WindowAggregatePlan plan() {
    return isProcessingTime ? PLAN_OF_PROCESSING_TIME : PLANS.get(gap);
  }

  @Override
  public Schema schema() {
    return SimulatedWindows.ROWS;
  }

  @Override
  public Schema outputSchema() {
    return plan().outputSchema();
  }

  @Override
  public int keyColumns() {
    return 2;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return WindowAggregateOperator.factory(plan(), null);
  }

  @Override
  public Map<String, String> options() {
    return options;
  }

  /** Rows behind a watermark that is set back may be in slices behind the one of their session. */
  @Override
  public boolean needsEqualWatermarks() {
    return !isProcessingTime;
  }

  @Override
  public int watermarkWeight() {
    return isProcessingTime ? 4 : 20;
  }

  @Override
  public int processingTimeWeight() {
    return isProcessingTime ? 20 : 2;
  }

  @Override
  public RowSource newSource() {
    return new Source(MAX_SPREAD);
  }

  @Override
  public KeyGroupModel newModel() {
    return new Model(new HashMap<>(), isProcessingTime ? 0 : Long.MIN_VALUE);
  }

  @Override
  public String toString() {
    return plan() + ", " + keys + " keys, " + options;
  }

  private final class Source implements RowSource {
    private long clock;

    Source(long clock) {
      this.clock = clock;
    }

    @Override
    public List<List<Object>> nextRows(Random random) {
      clock += random.nextInt(20);
      List<List<Object>> rows = new ArrayList<>();
      for (int i = random.nextInt(maxRows); i > 0; i--) {
        boolean isFar = random.nextInt(400) == 0;
        rows.add(
            Arrays.asList(
                random.nextInt(8) == 0 ? null : (short) random.nextInt(keys),
                random.nextBoolean(),
                random.nextInt(4) == 0 ? null : random.nextInt(9) - 4,
                random.nextInt(9) - 4L,
                SimulatedWindows.timestamp(
                    clock - random.nextInt(spread) + (isFar ? random.nextInt(20_000) : 0))));
      }
      return rows;
    }

    // A row is late by itself only gap - 1 behind the watermark.
    @Override
    public long nextWatermark(long previous, Random random) {
      return Math.max(previous, clock - spread + random.nextInt((int) gap));
    }

    @Override
    public RowSource copy() {
      return new Source(clock);
    }
  }

  /** The rows of a session. */
  private record Sums(long first, long last, long rows, Integer v, long w) {
    boolean touches(Sums other, long gap) {
      return first - other.last <= gap && other.first - last <= gap;
    }

    Sums with(Sums other) {
      Integer sum = other.v == null ? v : other.v;
      return new Sums(
          Math.min(first, other.first),
          Math.max(last, other.last),
          rows + other.rows,
          v == null || other.v == null ? sum : Integer.valueOf(v + other.v),
          Math.max(w, other.w));
    }
  }

  private List<Object> result(List<Object> key, Sums sums) {
    List<Object> row = new ArrayList<>(key);
    row.addAll(Arrays.asList(sums.rows, sums.v, sums.w));
    row.add(SimulatedWindows.timestamp(sums.first));
    row.add(SimulatedWindows.timestamp(sums.last + gap));
    LocalDateTime last = SimulatedWindows.timestamp(sums.last + gap - 1);
    row.add(isProcessingTime ? last.toInstant(ZoneOffset.UTC) : last);
    return row;
  }

  private final class Model implements KeyGroupModel {
    private final Map<List<Object>, List<Sums>> open;
    // Sessions that have fired, which the operator has not emitted.
    private final List<List<Object>> fired = new ArrayList<>();
    // Or the time of the clock.
    private long watermark;
    // Until the clock is set again: timers that are due wait until it moves, or a flush comes.
    private boolean isRestored;

    Model(Map<List<Object>, List<Sums>> open, long watermark) {
      this.open = open;
      this.watermark = watermark;
    }

    @Override
    public void process(List<Object> row) {
      long time =
          isProcessingTime
              ? watermark
              : ((LocalDateTime) row.get(4)).toInstant(ZoneOffset.UTC).toEpochMilli();
      assertThat(time + gap - 1).as("end of a session of %s", row).isGreaterThan(watermark);
      Sums merged = new Sums(time, time, 1, (Integer) row.get(2), (long) row.get(3));
      Sums added = merged;
      List<Sums> others = new ArrayList<>();
      for (Sums session : open.getOrDefault(row.subList(0, 2), List.of())) {
        if (session.touches(added, gap)) {
          merged = merged.with(session);
        } else {
          others.add(session);
        }
      }
      others.add(merged);
      open.put(row.subList(0, 2), others);
    }

    @Override
    public void watermark(long timestamp) {
      if (!isProcessingTime) {
        fire(timestamp);
      }
    }

    @Override
    public void processingTime(long timestamp) {
      if (isProcessingTime && isRestored) {
        watermark = timestamp;
        isRestored = false;
      } else if (isProcessingTime) {
        fire(timestamp);
      }
    }

    private void fire(long timestamp) {
      watermark = timestamp;
      open.forEach(
          (key, sessions) ->
              sessions.removeIf(
                  session -> {
                    boolean hasEnded = session.last + gap - 1 <= watermark;
                    if (hasEnded) {
                      fired.add(result(key, session));
                    }
                    return hasEnded;
                  }));
    }

    @Override
    public void flush() {
      processingTime(watermark);
    }

    @Override
    public void restored(long timestamp) {
      watermark = timestamp;
      isRestored = true;
    }

    @Override
    public void emitted(List<Object> row) {
      assertThat(fired.remove(row)).as("whether %s is a row of %s", row, fired).isTrue();
    }

    @Override
    public void check() {
      assertThat(fired).as("sessions whose rows are missing").isEmpty();
    }

    @Override
    public KeyGroupModel copy() {
      Map<List<Object>, List<Sums>> copy = new HashMap<>();
      open.forEach((key, sessions) -> copy.put(key, new ArrayList<>(sessions)));
      return new Model(copy, watermark);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.window.WindowAggregateOperator;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.types.RowKind;

/** Aggregates by key and window of rows that are in order, out of order, late, and far away. */
final class SimulatedWindowAggregate implements SimulatedOperator {
  // Planning costs more than a small schedule.
  private static final List<SimulatedWindows> WINDOWS =
      List.of(
          new SimulatedWindows("TUMBLE", 10, 10, 0, 0),
          new SimulatedWindows("TUMBLE", 7, 7, 3, 0),
          new SimulatedWindows("TUMBLE", 10, 10, 0, 25),
          new SimulatedWindows("TUMBLE", 7, 7, 3, 4),
          new SimulatedWindows("TUMBLE", 10, 10, 0, 0, 30),
          new SimulatedWindows("TUMBLE", 7, 7, 3, 9, 60),
          new SimulatedWindows("HOP", 20, 5, 0, 0),
          new SimulatedWindows("HOP", 12, 4, -1, 0),
          new SimulatedWindows("CUMULATE", 30, 10, 0, 0),
          new SimulatedWindows("CUMULATE", 12, 3, 2, 0),
          new SimulatedWindows("HOP", 12, 4, -1, 9),
          new SimulatedWindows("CUMULATE", 12, 3, 2, 7),
          new SimulatedWindows("HOP", 20, 5, 0, 0, 40),
          new SimulatedWindows("HOP", 12, 4, -1, 9, 30),
          new SimulatedWindows("CUMULATE", 30, 10, 0, 0, 50),
          new SimulatedWindows("CUMULATE", 12, 3, 2, 7, 20),
          new SimulatedWindows("TUMBLE", 80, 80),
          new SimulatedWindows("HOP", 240, 80),
          new SimulatedWindows("HOP", 160, 40),
          new SimulatedWindows("CUMULATE", 180, 60));

  private final SimulatedWindows windows;
  private final int keys;
  private final int maxRows;
  private final int spread;
  private final Map<String, String> options;

  /** An operator of which {@code random} decides the details. */
  SimulatedWindowAggregate(Random random) {
    windows = WINDOWS.get(random.nextInt(WINDOWS.size()));
    boolean isLarge = random.nextInt(20) == 0;
    keys = isLarge ? 1_000 : 1 + random.nextInt(12);
    maxRows = isLarge ? 400 : 24;
    spread = 1 + random.nextInt(60);
    options =
        random.nextInt(4) == 0
            ? Map.of(
                "millrace.spill.device-limit",
                isLarge ? "3 mb" : "640 kb",
                "millrace.spill.host-limit",
                random.nextBoolean() ? "0 b" : "64 kb")
            : Map.of();
  }

  @Override
  public Schema schema() {
    return SimulatedWindows.ROWS;
  }

  @Override
  public Schema outputSchema() {
    return windows.plan().outputSchema();
  }

  @Override
  public int keyColumns() {
    return 2;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return WindowAggregateOperator.factory(windows.plan(), null);
  }

  @Override
  public Map<String, String> options() {
    return options;
  }

  /** A window whose state stays may fire again if its watermark is set back. */
  @Override
  public boolean needsEqualWatermarks() {
    boolean staysBehindItsEnd = !windows.function().equals("TUMBLE") || windows.lateness() > 0;
    return staysBehindItsEnd && !windows.isProcessingTime();
  }

  @Override
  public int watermarkWeight() {
    return windows.isProcessingTime() ? 4 : 20;
  }

  @Override
  public int processingTimeWeight() {
    return windows.isProcessingTime() ? 20 : 2;
  }

  @Override
  public RowSource newSource() {
    return new Source(0);
  }

  @Override
  public KeyGroupModel newModel() {
    return windows.lateness() > 0 || windows.interval() > 0
        ? new ChangelogModel(new TreeMap<>(), new TreeMap<>(), Long.MIN_VALUE)
        : new Model(new TreeMap<>(), windows.isProcessingTime() ? 0 : Long.MIN_VALUE);
  }

  @Override
  public String toString() {
    return windows.plan() + ", " + keys + " keys, " + options;
  }

  private static long millis(Object timestamp) {
    return ((LocalDateTime) timestamp).toInstant(ZoneOffset.UTC).toEpochMilli();
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
                random.nextInt(10) == 0 ? random.nextLong() : random.nextInt(9) - 4L,
                SimulatedWindows.timestamp(
                    clock - random.nextInt(spread) + (isFar ? random.nextInt(20_000) : 0))));
      }
      return rows;
    }

    @Override
    public long nextWatermark(long previous, Random random) {
      return Math.max(previous, clock - random.nextInt(40));
    }

    @Override
    public RowSource copy() {
      return new Source(clock);
    }
  }

  /** The rows of a window and key. */
  private record Sums(long rows, Integer v, long w) {
    static final Sums NONE = new Sums(0, null, Long.MIN_VALUE);

    Sums with(Integer value, long wide) {
      Integer sum = value;
      if (value == null) {
        sum = v;
      } else if (v != null) {
        sum = v + value;
      }
      return new Sums(rows + 1, sum, Math.max(w, wide));
    }
  }

  private List<Object> result(List<Object> key, Sums sums, long end) {
    List<Object> row = new ArrayList<>(key);
    row.addAll(Arrays.asList(sums.rows, sums.v, sums.w));
    row.add(SimulatedWindows.timestamp(windows.start(end)));
    row.add(SimulatedWindows.timestamp(end));
    LocalDateTime last = SimulatedWindows.timestamp(end - 1);
    row.add(windows.isProcessingTime() ? last.toInstant(ZoneOffset.UTC) : last);
    return row;
  }

  private static <V> NavigableMap<Long, Map<List<Object>, V>> copy(
      Map<Long, Map<List<Object>, V>> windows) {
    NavigableMap<Long, Map<List<Object>, V>> copy = new TreeMap<>();
    windows.forEach((end, keys) -> copy.put(end, new HashMap<>(keys)));
    return copy;
  }

  private final class Model implements KeyGroupModel {
    // By the end of the window, which says its start.
    private final NavigableMap<Long, Map<List<Object>, Sums>> open;
    // Windows that have fired, of which the operator has not emitted all rows.
    private final TreeMap<Long, List<List<Object>>> fired = new TreeMap<>();
    // Or the time of the clock.
    private long watermark;
    // Until the clock is set again: timers that are due wait until it moves, or a flush comes.
    private boolean isRestored;

    Model(NavigableMap<Long, Map<List<Object>, Sums>> open, long watermark) {
      this.open = open;
      this.watermark = watermark;
    }

    @Override
    public void process(List<Object> row) {
      long time = windows.isProcessingTime() ? watermark : millis(row.get(4));
      for (long end : windows.ends(time)) {
        if (end - 1 > watermark) {
          open.computeIfAbsent(end, absent -> new HashMap<>())
              .compute(
                  row.subList(0, 2),
                  (key, sums) ->
                      (sums == null ? Sums.NONE : sums)
                          .with((Integer) row.get(2), (long) row.get(3)));
        }
      }
    }

    @Override
    public void watermark(long timestamp) {
      if (!windows.isProcessingTime()) {
        fire(timestamp);
      }
    }

    @Override
    public void processingTime(long timestamp) {
      if (windows.isProcessingTime() && isRestored) {
        watermark = timestamp;
        isRestored = false;
      } else if (windows.isProcessingTime()) {
        fire(timestamp);
      }
    }

    @Override
    public void flush() {
      processingTime(watermark);
    }

    private void fire(long timestamp) {
      watermark = timestamp;
      while (!open.isEmpty() && open.firstKey() - 1 <= watermark) {
        long end = open.firstKey();
        List<List<Object>> rows = new ArrayList<>();
        open.remove(end).forEach((key, sums) -> rows.add(result(key, sums, end)));
        fired.put(end, rows);
      }
    }

    @Override
    public void restored(long timestamp) {
      watermark = timestamp;
      isRestored = true;
    }

    @Override
    public void emitted(List<Object> row) {
      assertThat(fired).as("windows that may emit %s", row).isNotEmpty();
      // Windows with one watermark come in any order, those of processing time and CUMULATE in
      // order.
      long end = windows.isOrdered() ? fired.firstKey() : end(row);
      assertThat(fired).as("windows that may emit %s", row).containsKey(end);
      List<List<Object>> rows = fired.get(end);
      assertThat(rows.remove(row)).as("whether %s is a row of %s", row, rows).isTrue();
      if (rows.isEmpty()) {
        fired.remove(end);
      }
    }

    private static long end(List<Object> row) {
      return millis(row.get(row.size() - 2));
    }

    @Override
    public void check() {
      assertThat(fired).as("windows whose rows are missing").isEmpty();
    }

    @Override
    public KeyGroupModel copy() {
      return new Model(SimulatedWindowAggregate.copy(open), watermark);
    }
  }

  /** Windows that take rows behind their end, and the rows of which changes are emitted. */
  private final class ChangelogModel implements KeyGroupModel {
    // By the end of the window.
    private final NavigableMap<Long, Map<List<Object>, Sums>> open;
    private final NavigableMap<Long, Map<List<Object>, List<Object>>> results;
    private long watermark;

    ChangelogModel(
        NavigableMap<Long, Map<List<Object>, Sums>> open,
        NavigableMap<Long, Map<List<Object>, List<Object>>> results,
        long watermark) {
      this.open = open;
      this.results = results;
      this.watermark = watermark;
    }

    @Override
    public void process(List<Object> row) {
      for (long end : windows.ends(millis(row.get(4)))) {
        if (!isClosed(end)) {
          Sums sums = keys(open, end).getOrDefault(row.subList(0, 2), Sums.NONE);
          keys(open, end)
              .put(row.subList(0, 2), sums.with((Integer) row.get(2), (long) row.get(3)));
        }
      }
    }

    private static <V> Map<List<Object>, V> keys(
        Map<Long, Map<List<Object>, V>> windows, long end) {
      return windows.computeIfAbsent(end, absent -> new HashMap<>());
    }

    @Override
    public void watermark(long timestamp) {
      watermark = timestamp;
    }

    @Override
    public void restored(long timestamp) {
      watermark = timestamp;
    }

    @Override
    public void emitted(List<Object> row) {
      int last = row.size() - 1;
      List<Object> result = row.subList(0, last);
      List<Object> key = row.subList(0, 2);
      long end = millis(row.get(last - 2));
      if (windows.interval() == 0) {
        assertThat(end - 1).as("end of the window of %s", row).isLessThanOrEqualTo(watermark);
      }
      Map<List<Object>, List<Object>> keys = keys(results, end);
      switch (RowKind.fromByteValue((Byte) row.get(last))) {
        case INSERT -> assertThat(keys.put(key, result)).as("row before %s", row).isNull();
        case UPDATE_BEFORE -> assertThat(result).as("-U").isEqualTo(keys.remove(key));
        case UPDATE_AFTER -> assertThat(keys.put(key, result)).as("row before %s", row).isNull();
        default -> throw new AssertionError("no row is taken back: " + row);
      }
    }

    @Override
    public void check() {
      Map<Long, Map<List<Object>, List<Object>>> expected = new TreeMap<>();
      open.forEach(
          (end, sums) -> {
            if (end - 1 <= watermark) {
              sums.forEach((key, value) -> keys(expected, end).put(key, result(key, value, end)));
            }
          });
      results.forEach((end, rows) -> checkEarly(end, rows, expected));
      assertThat(results).isEqualTo(expected);
      open.keySet().removeIf(this::isClosed);
      results.keySet().removeIf(this::isClosed);
    }

    // Early results of a window are those of some time, of rows that there were.
    private void checkEarly(
        long end,
        Map<List<Object>, List<Object>> rows,
        Map<Long, Map<List<Object>, List<Object>>> expected) {
      if (end - 1 > watermark) {
        rows.forEach(
            (key, row) ->
                assertThat((long) row.get(2))
                    .as("rows of %s", row)
                    .isBetween(1L, open.get(end).get(key).rows));
        expected.put(end, rows);
      }
    }

    private boolean isClosed(long end) {
      return end - 1 + windows.lateness() <= watermark;
    }

    @Override
    public KeyGroupModel copy() {
      return new ChangelogModel(
          SimulatedWindowAggregate.copy(open), SimulatedWindowAggregate.copy(results), watermark);
    }
  }
}

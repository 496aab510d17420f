// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.deduplicate.DeduplicateOperator;
import io.millrace.operators.deduplicate.DeduplicatePlan;
import io.millrace.operators.deduplicate.Deduplication;
import io.millrace.operators.deduplicate.Deduplication.Keep;
import io.millrace.operators.state.StateTtl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.types.RowKind;

/** The first or the last row of each key, a string: by arrival, or by a column with few values. */
final class SimulatedDeduplicate implements SimulatedOperator {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.STRING, false),
          new Field("n", DataType.INT64, false),
          Field.of("s", DataType.STRING));
  private static final Duration TTL = Duration.ofMillis(60);
  private static final String ORDER = "n";
  private static final int ORDERED_VALUES = 8;
  // By what is kept, and how long.
  private static final Map<List<Object>, DeduplicatePlan> PLANS =
      Stream.of(Keep.values())
          .flatMap(keep -> Stream.of(new Deduplication(keep), new Deduplication(keep).by(ORDER)))
          .flatMap(
              deduplication ->
                  Stream.of(
                          StateTtl.NONE, StateTtl.ofProcessingTime(TTL), StateTtl.ofEventTime(TTL))
                      .map(stateTtl -> List.<Object>of(deduplication, stateTtl)))
          .collect(Collectors.toMap(key -> key, SimulatedDeduplicate::plan));

  private final Deduplication deduplication;
  private final StateTtl stateTtl;
  private final int keys;
  private final Map<String, String> options;

  /** An operator of which {@code random} decides the details. */
  SimulatedDeduplicate(Random random) {
    Deduplication arrival = new Deduplication(random.nextBoolean() ? Keep.FIRST : Keep.LAST);
    deduplication = random.nextBoolean() ? arrival : arrival.by(ORDER);
    stateTtl = TtlClock.randomTtl(TTL, random);
    keys = 1 + random.nextInt(random.nextInt(10) == 0 ? 1_000 : 30);
    options =
        random.nextInt(4) == 0
            ? Map.of(
                "millrace.spill.device-limit",
                "4 mb",
                "millrace.spill.host-limit",
                random.nextBoolean() ? "0 b" : "64 kb")
            : Map.of();
  }

  private static DeduplicatePlan plan(List<Object> key) {
    return new DeduplicatePlan(
        ROWS, List.of("k"), (Deduplication) key.get(0), (StateTtl) key.get(1));
  }

  private DeduplicatePlan plan() {
    return PLANS.get(List.of(deduplication, stateTtl));
  }

  @Override
  public Schema schema() {
    return ROWS;
  }

  @Override
  public Schema outputSchema() {
    return plan().outputSchema();
  }

  @Override
  public int keyColumns() {
    return 1;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return DeduplicateOperator.factory(plan());
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
  public RowSource newSource() {
    return new Source();
  }

  @Override
  public KeyGroupModel newModel() {
    return new Model(new HashMap<>(), new HashMap<>(), new HashMap<>());
  }

  @Override
  public String toString() {
    return plan() + ", " + keys + " keys, " + options;
  }

  private final class Source implements RowSource {
    @Override
    public List<List<Object>> nextRows(Random random) {
      return Stream.generate(() -> row(random)).limit(random.nextInt(40)).toList();
    }

    private List<Object> row(Random random) {
      int key = random.nextInt(keys);
      return Arrays.asList(
          key % 2 == 0 ? "k" + key : "a longer key, " + key,
          (long) random.nextInt(ORDERED_VALUES),
          random.nextBoolean() ? null : "s".repeat(random.nextInt(20)));
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

  private final class Model extends ForgetfulModel {
    private final Map<Object, List<Object>> kept;
    private final Map<Object, List<Object>> emitted;
    // When the kept rows came.
    private final Map<Object, Long> times;

    Model(
        Map<Object, List<Object>> kept,
        Map<Object, List<Object>> emitted,
        Map<Object, Long> times) {
      super(stateTtl);
      this.kept = kept;
      this.emitted = emitted;
      this.times = times;
    }

    @Override
    public void process(List<Object> row) {
      Object key = row.get(0);
      if (kept.containsKey(key) && clock.hasExpired(times.get(key))) {
        kept.remove(key);
        emitted.remove(key);
      }
      boolean isNew = !kept.containsKey(key);
      if (isNew || replaces(row, kept.get(key))) {
        kept.put(key, row);
      }
      // A first row by arrival does not stay longer because of rows behind it.
      if (isNew || deduplication.isChangelog()) {
        times.put(key, clock.now());
      }
    }

    private boolean replaces(List<Object> row, List<Object> before) {
      boolean isFirst = deduplication.keep() == Keep.FIRST;
      if (deduplication.column() == null) {
        return !isFirst;
      }
      int order = ((Long) row.get(1)).compareTo((Long) before.get(1));
      return isFirst ? order < 0 : order >= 0;
    }

    @Override
    public void emitted(List<Object> row) {
      boolean isUpdate =
          deduplication.isChangelog()
              && row.get(ROWS.size()).equals(RowKind.UPDATE_AFTER.toByteValue());
      List<Object> replaced = emitted.put(row.get(0), new ArrayList<>(row.subList(0, ROWS.size())));
      assertThat(replaced != null).as("whether %s replaces a row", row).isEqualTo(isUpdate);
    }

    @Override
    public void check() {
      assertThat(emitted).isEqualTo(kept);
    }

    @Override
    public KeyGroupModel copy() {
      return new Model(new HashMap<>(kept), new HashMap<>(emitted), new HashMap<>(times));
    }
  }
}

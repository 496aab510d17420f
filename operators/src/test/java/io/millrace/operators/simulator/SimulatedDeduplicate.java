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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.types.RowKind;

/** The first or the last row of each key, which is a string. */
final class SimulatedDeduplicate implements SimulatedOperator {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.STRING, false),
          new Field("n", DataType.INT64, false),
          Field.of("s", DataType.STRING));
  private static final Map<Keep, DeduplicatePlan> PLANS =
      Map.of(Keep.FIRST, plan(Keep.FIRST), Keep.LAST, plan(Keep.LAST));

  private final Keep keep;
  private final int keys;
  private final Map<String, String> options;

  /** An operator of which {@code random} decides the details. */
  SimulatedDeduplicate(Random random) {
    keep = random.nextBoolean() ? Keep.FIRST : Keep.LAST;
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

  private static DeduplicatePlan plan(Keep keep) {
    return new DeduplicatePlan(ROWS, List.of("k"), new Deduplication(keep), Duration.ZERO);
  }

  @Override
  public Schema schema() {
    return ROWS;
  }

  @Override
  public Schema outputSchema() {
    return PLANS.get(keep).outputSchema();
  }

  @Override
  public int keyColumns() {
    return 1;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return DeduplicateOperator.factory(PLANS.get(keep));
  }

  @Override
  public Map<String, String> options() {
    return options;
  }

  @Override
  public RowSource newSource() {
    return new Source();
  }

  @Override
  public KeyGroupModel newModel() {
    return new Model(new HashMap<>(), new HashMap<>());
  }

  @Override
  public String toString() {
    return PLANS.get(keep) + ", " + keys + " keys, " + options;
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
          random.nextLong(),
          random.nextBoolean() ? null : "s".repeat(random.nextInt(20)));
    }

    @Override
    public RowSource copy() {
      return this;
    }
  }

  private final class Model implements KeyGroupModel {
    private final Map<Object, List<Object>> kept;
    private final Map<Object, List<Object>> emitted;

    Model(Map<Object, List<Object>> kept, Map<Object, List<Object>> emitted) {
      this.kept = kept;
      this.emitted = emitted;
    }

    @Override
    public void process(List<Object> row) {
      if (keep == Keep.FIRST) {
        kept.putIfAbsent(row.get(0), row);
      } else {
        kept.put(row.get(0), row);
      }
    }

    @Override
    public void emitted(List<Object> row) {
      boolean isUpdate =
          keep == Keep.LAST && row.get(ROWS.size()).equals(RowKind.UPDATE_AFTER.toByteValue());
      List<Object> replaced = emitted.put(row.get(0), new ArrayList<>(row.subList(0, ROWS.size())));
      assertThat(replaced != null).as("whether %s replaces a row", row).isEqualTo(isUpdate);
    }

    @Override
    public void check() {
      assertThat(emitted).isEqualTo(kept);
    }

    @Override
    public KeyGroupModel copy() {
      return new Model(new HashMap<>(kept), new HashMap<>(emitted));
    }
  }
}

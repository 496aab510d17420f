// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.aggregate;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.AggregateChain;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Aggregates whose arguments are kept, and their state expires: against Flink's operator. */
class TimeToLiveParityTest {
  private static final int TTL = 100;
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.INT32, false), Field.of("x", DataType.INT32));
  private static final Schema CHANGES = RowKindColumn.addTo(ROWS);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static FlinkGroupAggregate flink(String aggregates, boolean isChangelog)
      throws Exception {
    return FlinkGroupAggregate.open(aggregates, isChangelog, Duration.ofMillis(TTL));
  }

  private AggregateChain millrace(Schema rows, Aggregate... aggregates) throws Exception {
    GroupAggregatePlan plan =
        new GroupAggregatePlan(
            rows,
            List.of("k"),
            List.of(aggregates),
            ExpressionSettings.DEFAULT,
            StateTtl.ofProcessingTime(Duration.ofMillis(TTL)));
    return AggregateChain.open(device, plan, null);
  }

  /** The rows of a value of a key, and when the last one came. */
  private record Rows(int count, long time) {}

  @Test
  void differentValuesOfAChangelogAreThoseOfFlink() throws Exception {
    Random numbers = random.random();
    Map<List<Integer>, Rows> rows = new HashMap<>();
    int begun = 0;
    try (FlinkGroupAggregate flink = flink("COUNT(DISTINCT x), SUM(DISTINCT x), COUNT(*)", true);
        AggregateChain millrace =
            millrace(CHANGES, count("x").distinct(), sum("x").distinct(), count())) {
      long time = 0;
      for (int i = 0; i < 3_000; i++) {
        time += numbers.nextInt(25);
        flink.setTime(time);
        millrace.setProcessingTime(0, time);
        int key = numbers.nextInt(5);
        Integer value = numbers.nextInt(10) == 0 ? null : numbers.nextInt(6);
        Rows known = rows.getOrDefault(Arrays.asList(key, value), new Rows(0, time));
        boolean isKnown = known.count > 0 && time < known.time + TTL;
        boolean isTakenBack = isKnown && numbers.nextInt(3) == 0;
        int before = isKnown ? known.count : 0;
        rows.put(Arrays.asList(key, value), new Rows(before + (isTakenBack ? -1 : 1), time));
        RowKind kind = isTakenBack ? RowKind.DELETE : RowKind.INSERT;
        List<String> expected = flink.changes(kind, key, value);
        assertThat(millrace.changes(Arrays.asList(key, value, kind.toByteValue())))
            .as("row %d, %s of %d in %d at %d, seed %d", i, kind, value, key, time, random.seed())
            .isEqualTo(expected);
        begun += expected.get(0).startsWith("+I") ? 1 : 0;
      }
    }
    assertThat(begun).isGreaterThan(20);
  }

  /** Where rows are only inserted, Flink writes a value when it comes first, and not again. */
  @Test
  void aValueIsRenewedByEachRow() throws Exception {
    long[] times = {0, 60, 120};
    try (FlinkGroupAggregate flink = flink("COUNT(DISTINCT x)", false);
        AggregateChain millrace = millrace(ROWS, count("x").distinct())) {
      for (long time : times) {
        flink.setTime(time);
        millrace.setProcessingTime(0, time);
        List<String> changes = flink.changes(RowKind.INSERT, 1, 5);
        assertThat(changes).last().asString().isEqualTo(time < TTL ? change(1, time) : "+U[1, 2]");
        assertThat(millrace.changes(List.of(1, 5))).last().isEqualTo(change(1, time));
      }
    }
  }

  /** Values live as long as their keys if all of them come within the time-to-live. */
  @Test
  void keysThatWereForgottenBeginWithoutValues() throws Exception {
    Random numbers = random.random();
    Map<List<Integer>, Rows> rows = new HashMap<>();
    try (FlinkGroupAggregate flink = flink("MIN(x), MAX(x), COUNT(DISTINCT x), COUNT(*)", true);
        AggregateChain millrace =
            millrace(CHANGES, min("x"), max("x"), count("x").distinct(), count())) {
      for (int i = 0; i < 3_000; i++) {
        long begin = i / 30 * 2L * TTL;
        if (i % 30 == 0) {
          rows.clear();
        }
        int step = TTL / 30;
        long time = begin + i % 30 * (long) step + numbers.nextInt(step);
        flink.setTime(time);
        millrace.setProcessingTime(0, time);
        int key = numbers.nextInt(3);
        Integer value = numbers.nextInt(10) == 0 ? null : numbers.nextInt(9);
        int known = rows.getOrDefault(Arrays.asList(key, value), new Rows(0, time)).count;
        boolean isTakenBack = known > 0 && numbers.nextInt(3) > 0;
        rows.put(Arrays.asList(key, value), new Rows(known + (isTakenBack ? -1 : 1), time));
        RowKind kind = isTakenBack ? RowKind.DELETE : RowKind.INSERT;
        assertThat(millrace.changes(Arrays.asList(key, value, kind.toByteValue())))
            .as("row %d, %s of %d in %d at %d, seed %d", i, kind, value, key, time, random.seed())
            .isEqualTo(flink.changes(kind, key, value));
      }
    }
  }

  /** In Flink the largest value stays though it is forgotten, until it is taken back. */
  @Test
  void theLargestValueIsForgotten() throws Exception {
    Map<Integer, Integer> values = Map.of(0, 9, 60, 5, 120, 1);
    try (FlinkGroupAggregate flink = flink("MAX(x)", true);
        AggregateChain millrace = millrace(CHANGES, max("x"))) {
      for (int time : new int[] {0, 60, 120}) {
        flink.setTime(time);
        millrace.setProcessingTime(0, time);
        assertThat(flink.changes(RowKind.INSERT, 1, values.get(time)))
            .last()
            .asString()
            .endsWith("[1, 9]");
        byte insert = RowKind.INSERT.toByteValue();
        assertThat(millrace.changes(List.of(1, values.get(time), insert)))
            .last()
            .asString()
            .endsWith(time < TTL ? "[1, 9]" : "[1, 5]");
      }
    }
  }

  private static String change(int values, long time) {
    return (time == 0 ? "+I[1, " : "+U[1, ") + values + "]";
  }
}

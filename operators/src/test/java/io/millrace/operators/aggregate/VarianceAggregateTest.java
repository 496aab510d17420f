// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.stddevPop;
import static io.millrace.operators.aggregate.Aggregate.stddevSamp;
import static io.millrace.operators.aggregate.Aggregate.varPop;
import static io.millrace.operators.aggregate.Aggregate.varSamp;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.runtime.functions.aggregate.WelfordM2AggFunction.NumberFunction;
import org.apache.flink.table.runtime.functions.aggregate.WelfordM2AggFunction.WelfordM2Accumulator;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class VarianceAggregateTest {
  private static final Schema NUMBERS =
      Schema.of(new Field("k", DataType.INT32, false), Field.of("x", DataType.FLOAT64));
  private static final List<String> KEYS = List.of("k");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @OutOfMemoryTest
  void variancesAreThoseOfAllBatches() throws Exception {
    Job job = new Job(NUMBERS, KEYS, varPop("x"), varSamp("x"), stddevPop("x"), stddevSamp("x"));
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(harness.changes(List.of(1, 2.0), asList(2, null)))
          .containsExactly("+I[1, 0.0, null, 0.0, null]", "+I[2, null, null, null, null]");
      assertThat(harness.changes(List.of(1, 4.0), List.of(1, 4.0), asList(1, null)))
          .element(1)
          .isEqualTo(
              "+U[1, 0.8888888888888888, 1.3333333333333333, 0.9428090415820634,"
                  + " 1.1547005383792515]");
      assertThat(
              harness.changes(
                  List.of(1, 4.0),
                  List.of(1, 5.0),
                  List.of(1, 5.0),
                  List.of(1, 7.0),
                  List.of(1, 9.0)))
          .element(1)
          .isEqualTo("+U[1, 4.0, 4.571428571428571, 2.0, 2.138089935299395]");
    }
  }

  @Test
  void resultsHaveTheTypeOfTheAverage() throws Exception {
    Schema schema =
        Schema.of(
            new Field("k", DataType.INT32, false),
            new Field("i", DataType.INT8, false),
            Field.of("f", DataType.FLOAT32),
            Field.of("d", DataType.decimal(5, 2)),
            Field.of("e", DataType.decimal(20, 9)));
    Job job =
        new Job(schema, KEYS, varSamp("i"), stddevPop("f"), varPop("d"), stddevSamp("e").as("e"));
    assertThat(job.plan().outputSchema().fields().subList(1, 5))
        .containsExactly(
            Field.of("VAR_SAMP(`i`)", DataType.INT8),
            Field.of("STDDEV_POP(`f`)", DataType.FLOAT32),
            Field.of("VAR_POP(`d`)", DataType.decimal(38, 6)),
            Field.of("e", DataType.decimal(38, 9)));
    BigDecimal d = new BigDecimal("1.25");
    BigDecimal e = new BigDecimal("3.000000001");
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(
              harness.changes(
                  List.of(1, (byte) 3, 1.5f, d, e),
                  List.of(1, (byte) 8, 2.75f, d.negate(), e.add(BigDecimal.ONE))))
          .containsExactly("+I[1, 12, 0.625, 1.562500, 0.707106781]");
    }
  }

  @Test
  void filtersAndChangelogsLeaveRowsOut() throws Exception {
    Job job =
        new Job(
            RowKindColumn.addTo(NUMBERS),
            KEYS,
            count().as("n"),
            varPop("x").filter(col("x").gt(0.0)).as("v"),
            varSamp("x").as("s"));
    byte insert = RowKind.INSERT.toByteValue();
    byte delete = RowKind.DELETE.toByteValue();
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(
              harness.changes(
                  List.of(1, 1.0, insert), List.of(1, 3.0, insert), List.of(1, -5.0, insert)))
          .containsExactly("+I[1, 3, 1.0, 17.333333333333332]");
      assertThat(harness.changes(List.of(1, 3.0, delete)))
          .containsExactly(
              "-U[1, 3, 1.0, 17.333333333333332]", "+U[1, 2, 0.0, 17.999999999999996]");
      assertThat(harness.changes(List.of(1, 1.0, delete)))
          .containsExactly("-U[1, 2, 0.0, 17.999999999999996]", "+U[1, 1, null, null]");
      assertThat(harness.changes(List.of(1, -5.0, delete))).containsExactly("-D[1, 1, null, null]");
    }
  }

  /** Flink's function, row after row, beside the state, which is restored with other subtasks. */
  @Test
  void restoredStateGoesOnAsFlinksFunction() throws Exception {
    NumberFunction function = new NumberFunction(new DoubleType());
    Map<List<Object>, WelfordM2Accumulator> accumulators = new HashMap<>();
    Job job = new Job(RowKindColumn.addTo(NUMBERS), KEYS, count("x"), varPop("x"));
    List<List<Object>> live = new ArrayList<>();
    GroupAggregateSubtasks subtasks = GroupAggregateSubtasks.open(device, job, 1);
    try {
      for (int batch = 0; batch < 30; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = random.random().nextInt(200); i > 0; i--) {
          rows.add(change(live, function, accumulators));
        }
        subtasks.send(rows);
        if (batch % 5 == 4) {
          GroupAggregateSubtasks.Snapshot snapshot = subtasks.snapshot();
          subtasks.close();
          int parallelism = 1 + random.random().nextInt(3);
          subtasks = GroupAggregateSubtasks.restore(device, job, snapshot, parallelism);
        }
        Map<List<Object>, List<Object>> expected = new HashMap<>();
        accumulators.forEach(
            (key, value) ->
                expected.put(
                    key, asList(value.n, value.m2 < 0 ? null : value.m2 / (double) value.n)));
        assertThat(subtasks.results()).isEqualTo(expected);
      }
    } finally {
      subtasks.close();
    }
  }

  private List<Object> change(
      List<List<Object>> live,
      NumberFunction function,
      Map<List<Object>, WelfordM2Accumulator> accumulators) {
    boolean retracts = !live.isEmpty() && random.random().nextInt(9) < 4;
    List<Object> row =
        retracts
            ? live.remove(random.random().nextInt(live.size()))
            : List.of(random.random().nextInt(20), random.random().nextGaussian());
    List<Object> key = row.subList(0, 1);
    List<Object> change = new ArrayList<>(row);
    if (retracts) {
      function.retract(accumulators.get(key), row.get(1));
      if (accumulators.get(key).n == 0) {
        accumulators.remove(key);
      }
      change.add(RowKind.DELETE.toByteValue());
    } else {
      live.add(row);
      function.accumulate(
          accumulators.computeIfAbsent(key, absent -> function.createAccumulator()), row.get(1));
      change.add(RowKind.INSERT.toByteValue());
    }
    return change;
  }
}

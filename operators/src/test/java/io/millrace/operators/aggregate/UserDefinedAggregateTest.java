// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.function.AggregateBatch;
import io.millrace.operators.aggregate.function.AggregateResult;
import io.millrace.operators.aggregate.function.BatchAggregateFunction;
import io.millrace.operators.aggregate.function.HostAggregateFunction;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class UserDefinedAggregateTest {
  private static final byte INSERT = RowKind.INSERT.toByteValue();
  private static final byte BEFORE = RowKind.UPDATE_BEFORE.toByteValue();
  private static final byte AFTER = RowKind.UPDATE_AFTER.toByteValue();
  private static final byte DELETE = RowKind.DELETE.toByteValue();
  private static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.INT32),
          Field.of("x", DataType.INT64),
          Field.of("w", DataType.INT32));
  private static final Schema CHANGES = RowKindColumn.addTo(ROWS);
  private static final Aggregate WEIGHTED = Aggregate.of(new WeightedSum(), "x", "w");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static GroupAggregatePlan plan(Schema input, Aggregate... aggregates) {
    return new GroupAggregatePlan(
        input, List.of("k"), List.of(aggregates), ExpressionSettings.DEFAULT);
  }

  private ArgumentHarness open(Schema input, OperatorSubtaskState state, Aggregate... aggregates)
      throws Exception {
    return ArgumentHarness.open(device, plan(input, aggregates), state, 0, 1);
  }

  @Test
  void aRowWithTheResultIsAddedForEachKey() throws Exception {
    OperatorSubtaskState state;
    try (ArgumentHarness harness = open(ROWS, null, WEIGHTED)) {
      assertThat(harness.added(asList(1, 10L, 1), asList(2, 5L, 3), asList(1, 40L, 2)))
          .containsExactly(asList(1, 90L, true), asList(2, 15L, true));
      assertThat(harness.added(asList(null, null, 7))).containsExactly(asList(null, null, false));
      state = harness.snapshot();
    }
    try (ArgumentHarness harness = open(ROWS, state, WEIGHTED)) {
      assertThat(harness.added(asList(1, 20L, 3), asList(null, 4L, 1)))
          .containsExactly(asList(1, 150L, true), asList(null, 4L, true));
    }
  }

  @Test
  void rowsOfTheInputPass() throws Exception {
    try (ArgumentHarness harness = open(ROWS, null, WEIGHTED, max("w"))) {
      harness.send(7, List.of(asList(1, 10L, 3), asList(1, 20L, 1)));
      assertThat(harness.takeRows())
          .containsExactly(
              asList(1, 1, null, null, 10L, 3),
              asList(1, 1, null, null, 20L, 1),
              asList(1, null, 50L, true, null, null));
    }
  }

  @Test
  void rowsAreTakenBack() throws Exception {
    try (ArgumentHarness harness = open(CHANGES, null, WEIGHTED)) {
      assertThat(harness.added(asList(1, 10L, 1, INSERT), asList(1, 40L, 2, INSERT)))
          .containsExactly(asList(1, 90L, true));
      assertThat(harness.added(asList(1, 40L, 2, BEFORE), asList(1, 20L, 3, AFTER)))
          .containsExactly(asList(1, 70L, true));
      assertThat(harness.added(asList(1, 10L, 1, DELETE))).containsExactly(asList(1, 60L, true));
    }
  }

  /** A function that counts the rows that it ever saw, so that what it forgets is seen. */
  private static final class Seen extends HostAggregateFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema accumulatorSchema(Schema arguments) {
      return Schema.of(Field.of("seen", DataType.INT64));
    }

    @Override
    public DataType resultType(Schema arguments) {
      return DataType.INT64;
    }

    @Override
    public boolean supportsRetraction() {
      return true;
    }

    @Override
    protected void accumulate(Row accumulator, Row arguments) {
      Long seen = accumulator.getFieldAs(0);
      accumulator.setField(0, seen == null ? 1 : seen + 1);
    }

    @Override
    protected void retract(Row accumulator, Row arguments) {
      accumulate(accumulator, arguments);
    }

    @Override
    protected Object getValue(Row accumulator) {
      return accumulator.getField(0);
    }
  }

  @Test
  void aKeyWhoseRowsWereAllTakenBackBeginsAgain() throws Exception {
    try (ArgumentHarness harness = open(CHANGES, null, Aggregate.of(new Seen(), "x"))) {
      assertThat(harness.added(asList(1, 1L, 1, INSERT), asList(1, 2L, 1, INSERT)))
          .containsExactly(asList(1, 2L, true));
      assertThat(harness.added(asList(1, 1L, 1, DELETE), asList(2, 1L, 1, INSERT)))
          .containsExactly(asList(1, 3L, true), asList(2, 1L, true));
      assertThat(harness.added(asList(1, 2L, 1, DELETE))).containsExactly(asList(1, null, false));
      assertThat(harness.added(asList(1, 5L, 1, INSERT))).containsExactly(asList(1, 1L, true));
    }
  }

  // Rows that the filter leaves out count for the key.
  @Test
  void aFilterLeavesRowsOut() throws Exception {
    Aggregate filtered = Aggregate.of(new Seen(), "x").filter(col("w").gt(1));
    try (ArgumentHarness harness = open(CHANGES, null, filtered)) {
      assertThat(harness.added(asList(1, 1L, 2, INSERT), asList(1, 2L, null, INSERT)))
          .containsExactly(asList(1, 1L, true));
      assertThat(harness.added(asList(1, 1L, 2, DELETE))).containsExactly(asList(1, 2L, true));
      assertThat(harness.added(asList(1, 2L, null, DELETE)))
          .containsExactly(asList(1, null, false));
    }
  }

  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitGivesTheSameResults() throws Exception {
    Map<Object, List<Object>> last = new HashMap<>();
    try (ArgumentHarness harness = open(CHANGES, null, WEIGHTED)) {
      harness.send(
          0,
          List.of(
              asList(1, 10L, 1, INSERT),
              asList(2, 8L, 2, INSERT),
              asList(1, 40L, 2, INSERT),
              asList(3, 7L, 1, INSERT)));
      harness.send(0, List.of(asList(1, 10L, 1, DELETE), asList(3, 7L, 1, DELETE)));
      harness.takeAdded().forEach(row -> last.put(row.get(0), row));
    }
    assertThat(last.values())
        .containsExactlyInAnyOrder(
            asList(1, 80L, true), asList(2, 16L, true), asList(3, null, false));
  }

  @OutOfMemoryTest
  void accumulatorsAreForgottenWhenTheWatermarkHasPassed() throws Exception {
    GroupAggregatePlan plan =
        new GroupAggregatePlan(
            ROWS,
            List.of("k"),
            List.of(WEIGHTED),
            ExpressionSettings.DEFAULT,
            StateTtl.ofEventTime(Duration.ofMillis(100)));
    try (ArgumentHarness harness = ArgumentHarness.open(device, plan, null, 0, 1)) {
      harness.watermark(1_000);
      assertThat(harness.added(asList(1, 1L, 5), asList(2, 1L, 7)))
          .containsExactly(asList(1, 5L, true), asList(2, 7L, true));
      harness.watermark(1_099);
      assertThat(harness.added(asList(1, 1L, 1))).containsExactly(asList(1, 6L, true));
      harness.watermark(1_100);
      assertThat(harness.added(asList(1, 1L, 1), asList(2, 1L, 1)))
          .containsExactly(asList(1, 7L, true), asList(2, 1L, true));
    }
  }

  @Test
  void aFunctionOnTheDeviceHasKernelsOfItsOwn() throws Exception {
    Map<Object, Long> sums = new HashMap<>();
    Aggregate sum = Aggregate.of(new DeviceSum(), "x").filter(col("x").isNotNull());
    long launches = device.device().launchCount();
    try (ArgumentHarness harness = open(ROWS, null, sum)) {
      for (int batch = 0; batch < 5; batch++) {
        List<List<?>> rows = new ArrayList<>();
        Map<Object, List<Object>> expected = new HashMap<>();
        for (int i = 0; i < 500; i++) {
          int key = random.random().nextInt(300);
          Long value = random.random().nextInt(10) == 0 ? null : random.random().nextLong();
          rows.add(asList(key, value, 1));
          sums.merge(key, value == null ? 0 : value, Long::sum);
          expected.put(key, asList(key, sums.get(key), true));
        }
        harness.send(0, rows);
        assertThat(harness.takeAdded()).containsExactlyInAnyOrderElementsOf(expected.values());
      }
    }
    if (device.isCuda()) {
      assertThat(device.device().launchCount() - launches).isGreaterThanOrEqualTo(10);
    }
  }

  @Test
  void callsOfAFunctionShareItsState() {
    GroupAggregatePlan plan =
        plan(ROWS, WEIGHTED.as("a"), count(), WEIGHTED.as("b"), WEIGHTED.filter(col("w").gt(0)));
    assertThat(plan.keptArguments())
        .extracting(ArgumentName::uidSuffix)
        .containsExactly(
            "-function-WeightedSum(`x`, `w`)",
            "-function-WeightedSum(`x`, `w`) FILTER (WHERE (`w` > 0))");
    assertThat(plan.toString())
        .isEqualTo(
            "GroupAggregate(groupBy=[k], select=[k, WeightedSum(`x`, `w`) AS a, COUNT(*),"
                + " WeightedSum(`x`, `w`) AS b,"
                + " WeightedSum(`x`, `w`) FILTER (WHERE (`w` > 0))])");
    assertThat(plan.hostReasonsOfArgument(0))
        .containsExactly("WeightedSum(`x`, `w`) is called in Java");
  }

  @Test
  void aColumnWithTheNameOfAResultIsAnother() {
    Schema rows = Schema.of(ROWS.field(0), ROWS.field(1), Field.of("Seen(`x`)", DataType.INT64));
    GroupAggregatePlan plan = plan(rows, Aggregate.sum("Seen(`x`)"), Aggregate.of(new Seen(), "x"));
    assertThat(plan.argumentSchema().size())
        .as("key, is row, x, column, result, is set")
        .isEqualTo(6);
  }

  /** A function whose result has another size than its accumulators. */
  private static final class WrongSize implements BatchAggregateFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema accumulatorSchema(Schema arguments) {
      return Schema.of(Field.of("n", DataType.INT64));
    }

    @Override
    public DataType resultType(Schema arguments) {
      return DataType.INT64;
    }

    @Override
    public AggregateResult aggregate(AggregateBatch batch) {
      Table accumulators = batch.accumulators().share();
      try (Column column = accumulators.column(0).share()) {
        return new AggregateResult(accumulators, column.slice(0, 1));
      }
    }
  }

  @Test
  void aResultThatDoesNotFitIsRefused() throws Exception {
    try (ArgumentHarness harness = open(ROWS, null, Aggregate.of(new WrongSize(), "x"))) {
      assertThatThrownBy(() -> harness.added(asList(1, 1L, 1), asList(2, 1L, 1)))
          .hasStackTraceContaining("expected 2 rows of accumulators")
          .hasStackTraceContaining("from WrongSize");
    }
  }
}

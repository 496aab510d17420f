// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class DistinctOperatorTest {
  private static final byte INSERT = RowKind.INSERT.toByteValue();
  private static final byte DELETE = RowKind.DELETE.toByteValue();
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT32, false),
          Field.of("x", DataType.INT64),
          Field.of("s", DataType.STRING));
  private static final List<String> KEYS = List.of("k");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private ArgumentHarness open(Schema input, OperatorSubtaskState state, Aggregate... aggregates)
      throws Exception {
    return ArgumentHarness.open(
        device,
        new GroupAggregatePlan(input, KEYS, List.of(aggregates), ExpressionSettings.DEFAULT),
        state,
        1);
  }

  @OutOfMemoryTest
  void aRowIsAddedForEachNewValueOfAKey() throws Exception {
    try (ArgumentHarness harness =
        open(ROWS, null, sum("x").distinct(), count("x").distinct(), count())) {
      assertThat(
              harness.rows(
                  asList(1, 5L, "a"), asList(1, 5L, "b"), asList(1, 7L, null), asList(2, null, "")))
          .containsExactly(
              asList(1, 1, 5L, null, null),
              asList(1, 1, 5L, null, null),
              asList(1, 1, 7L, null, null),
              asList(2, 1, null, null, null),
              asList(1, null, null, 5L, 1),
              asList(1, null, null, 7L, 1));
      assertThat(harness.rows(asList(1, 7L, ""), asList(2, 7L, "")))
          .containsExactly(
              asList(1, 1, 7L, null, null),
              asList(2, 1, 7L, null, null),
              asList(2, null, null, 7L, 1));
      assertThat(harness.rows(asList(1, 5L, ""))).containsExactly(asList(1, 1, 5L, null, null));
    }
  }

  @OutOfMemoryTest
  void aValueWithoutRowsIsForgottenWhenTheWatermarkHasPassed() throws Exception {
    GroupAggregatePlan plan =
        new GroupAggregatePlan(
            ROWS,
            KEYS,
            List.of(count("x").distinct()),
            ExpressionSettings.DEFAULT,
            StateTtl.ofEventTime(Duration.ofMillis(100)));
    OperatorSubtaskState state;
    try (ArgumentHarness harness = ArgumentHarness.open(device, plan, null, 1)) {
      harness.watermark(1_000);
      assertThat(harness.added(asList(1, 5L, ""), asList(1, 7L, "")))
          .containsExactly(asList(1, 1), asList(1, 1));
      harness.watermark(1_060);
      assertThat(harness.added(asList(1, 7L, ""))).isEmpty();
      harness.watermark(1_100);
      assertThat(harness.added(asList(1, 5L, ""), asList(1, 7L, ""))).containsExactly(asList(1, 1));
      state = harness.snapshot();
    }
    try (ArgumentHarness harness = ArgumentHarness.open(device, plan, state, 1)) {
      assertThat(harness.added(asList(1, 5L, ""))).isEmpty();
      harness.watermark(1_200);
      assertThat(harness.added(asList(1, 7L, ""))).containsExactly(asList(1, 1));
    }
  }

  // The third attempt is the last; then the batch is worked on in parts, whose values count once.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitAddsItsValuesOnce() throws Exception {
    try (ArgumentHarness harness = open(ROWS, null, count("s").distinct(), sum("x"))) {
      harness.send(
          0,
          List.of(
              asList(1, 1L, "a"),
              asList(1, 2L, "a string of more than 12 bytes"),
              asList(1, 3L, "a"),
              asList(2, 4L, "a"),
              asList(2, 5L, null)));
      harness.send(0, List.of(asList(1, 6L, "a"), asList(2, 7L, "b")));
      List<List<Object>> rows = harness.takeRows();
      assertThat(rows.stream().filter(row -> row.get(1) != null))
          .extracting(row -> row.get(row.size() - 1))
          .containsExactlyInAnyOrder(1L, 2L, 3L, 4L, 5L, 6L, 7L);
      assertThat(rows.stream().filter(row -> row.get(1) == null))
          .extracting(row -> row.get(0))
          .containsExactlyInAnyOrder(1, 1, 2, 2);
    }
  }

  @Test
  void aValueGoesWithItsLastRow() throws Exception {
    Schema changes = RowKindColumn.addTo(ROWS);
    try (ArgumentHarness harness = open(changes, null, sum("x").distinct())) {
      assertThat(
              harness.rows(
                  asList(1, 5L, "a", INSERT),
                  asList(1, 5L, "b", INSERT),
                  asList(1, 7L, "", INSERT)))
          .contains(asList(1, INSERT, null, null, 5L), asList(1, INSERT, null, null, 7L))
          .hasSize(5);
      assertThat(harness.rows(asList(1, 5L, "a", DELETE))).hasSize(1);
      assertThat(harness.rows(asList(1, 5L, "b", DELETE), asList(1, 9L, "c", INSERT)))
          .endsWith(asList(1, DELETE, null, null, 5L), asList(1, INSERT, null, null, 9L))
          .hasSize(4);
      assertThat(harness.rows(asList(1, 9L, "b", DELETE), asList(1, 9L, "c", INSERT))).hasSize(2);
    }
  }

  // The columns of a row that is added: the key, no row, no argument, and for each aggregate its
  // value, and nothing of its filter.
  @OutOfMemoryTest
  void aValueComesForEachFilter() throws Exception {
    Aggregate all = count("x").distinct();
    try (ArgumentHarness harness =
        open(
            ROWS,
            null,
            all,
            all.filter(col("s").eq("a")).as("a"),
            sum("x").distinct().filter(col("s").eq("b")).as("b"))) {
      assertThat(harness.rows(asList(1, 5L, "a"), asList(1, 5L, "a"), asList(1, 7L, "c")))
          .endsWith(
              asList(1, null, null, 1, 1, null, null, null),
              asList(1, null, null, 1, null, null, null, null))
          .hasSize(5);
      assertThat(harness.rows(asList(1, 5L, "a"), asList(1, 5L, "b"), asList(1, 7L, "a")))
          .endsWith(
              asList(1, null, null, null, null, null, 5L, null),
              asList(1, null, null, null, 1, null, null, null))
          .hasSize(5);
      assertThat(harness.rows(asList(1, 5L, "b"), asList(1, null, "b"))).hasSize(2);
    }
  }

  @Test
  void aValueComesForAFilterAndGoesForAnother() throws Exception {
    Schema changes = RowKindColumn.addTo(ROWS);
    Aggregate counted = count("x").distinct();
    try (ArgumentHarness harness =
        open(
            changes,
            null,
            counted.filter(col("s").eq("a")).as("a"),
            counted.filter(col("s").eq("b")).as("b"))) {
      assertThat(harness.rows(asList(1, 5L, "a", INSERT)))
          .endsWith(asList(1, INSERT, null, null, 1, null, null, null))
          .hasSize(2);
      assertThat(harness.rows(asList(1, 5L, "a", DELETE), asList(1, 5L, "b", INSERT)))
          .endsWith(
              asList(1, INSERT, null, null, null, null, 1, null),
              asList(1, DELETE, null, null, 1, null, null, null))
          .hasSize(4);
    }
  }

  @Test
  void restoredValuesAreKnown() throws Exception {
    OperatorSubtaskState state;
    try (ArgumentHarness harness = open(ROWS, null, count("s").distinct())) {
      assertThat(harness.rows(asList(1, 5L, "a"), asList(1, 5L, "a string, 13."))).hasSize(4);
      state = harness.snapshot();
    }
    try (ArgumentHarness harness = open(ROWS, state, sum("x"), count("s").distinct(), count())) {
      assertThat(harness.rows(asList(1, 5L, "a"), asList(1, 5L, "a string, 13."))).hasSize(2);
      assertThat(harness.rows(asList(1, 5L, "b"))).hasSize(2);
    }
    assertThatThrownBy(() -> open(ROWS, state, count("x").distinct()).close())
        .hasStackTraceContaining("the checkpoint has state for the key");
  }

  @Test
  void unsupportedAggregatesAreRefused() {
    Schema changes =
        RowKindColumn.addTo(
            Schema.of(
                new Field("k", DataType.INT32, false),
                Field.of("x", DataType.FLOAT64),
                Field.of("list", DataType.list(DataType.INT32))));
    assertThatThrownBy(() -> open(changes, null, sum("x").distinct()).close())
        .isInstanceOf(ExpressionException.class)
        .hasMessage("SUM(DISTINCT `x`) is not supported for a changelog: its argument is DOUBLE");
    assertThatThrownBy(() -> open(changes, null, count("list").distinct()).close())
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith("DISTINCT `list`: expected a type other than ARRAY, ROW");
    assertThatThrownBy(() -> count().distinct()).isInstanceOf(IllegalStateException.class);
    assertThat(count(col("x")).distinct().filter(col("x").gt(1)))
        .hasToString("COUNT(DISTINCT `x`) FILTER (WHERE (`x` > 1))");
  }
}

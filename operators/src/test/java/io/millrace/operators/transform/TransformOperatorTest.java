// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OperatorHarness.Output;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import io.millrace.testing.DeviceExtension;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NothingHeldExtension.class)
class TransformOperatorTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          Field.of("price", DataType.INT32),
          Field.of("tags", DataType.list(DataType.STRING)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static CalcPlan plan() {
    return CalcPlan.of(SCHEMA, ExpressionSettings.DEFAULT);
  }

  private TransformHarness open(CalcPlan plan) throws Exception {
    return new TransformHarness(device, SCHEMA, plan.transforms());
  }

  // The third attempt is the last; then the batch is calculated in parts.
  @OutOfMemoryTest(attempts = 3)
  void eachBatchIsCalculatedAndKeepsItsTimestamp() throws Exception {
    CalcPlan plan = plan().filter(col("price").gt(5)).select(List.of(col("price").plus(1).as("p")));
    try (TransformHarness harness = open(plan)) {
      harness.send(77, List.of(List.of(1L, 300, List.of()), Arrays.asList(2L, null, null)));
      harness.send(78, List.of(List.of(3L, 5, List.of()), List.of(4L, 6, List.of())));
      assertThat(harness.rows()).containsExactly(List.of(301), List.of(7));
      assertThat(harness.batches()).extracting(Output::timestamp).contains(77L, 78L);
    }
  }

  @OutOfMemoryTest
  void rowsWithoutKindsBecomeInsertions() throws Exception {
    CalcPlan plan = plan().select(List.of(col("price"))).withRowKinds();
    assertThat(RowKindColumn.isIn(plan.outputSchema())).isTrue();
    assertThat(plan.withRowKinds()).isSameAs(plan);
    try (TransformHarness harness = open(plan)) {
      harness.send(1, List.of(List.of(1L, 3, List.of()), Arrays.asList(2L, null, null)));
      assertThat(harness.rows())
          .containsExactly(Arrays.asList(3, (byte) 0), Arrays.asList(null, (byte) 0));
    }
  }

  @OutOfMemoryTest
  void textIsComputed() throws Exception {
    CalcPlan plan =
        plan()
            .select(
                List.of(
                    col("price").gt(3).then("dear", "cheap").upperCase().as("text"),
                    nullOf(DataType.STRING).as("nothing")));
    try (TransformHarness harness = open(plan)) {
      harness.send(1, List.of(List.of(1L, 3, List.of()), List.of(2L, 4, List.of())));
      assertThat(harness.rows())
          .containsExactly(Arrays.asList("CHEAP", null), Arrays.asList("DEAR", null));
    }
  }

  // The third attempt is the last; then the parts of the batch have its time too.
  @OutOfMemoryTest(attempts = 3)
  void allRowsOfABatchHaveItsTimeAndItsWatermark() throws Exception {
    CalcPlan plan =
        plan()
            .filter(call("UNIX_TIMESTAMP").lt(100L))
            .select(
                List.of(
                    col("id"),
                    call("NOW").as("now"),
                    call("CURRENT_WATERMARK", call("NOW")).as("watermark")));
    try (TransformHarness harness = open(plan)) {
      harness.setProcessingTime(4_000);
      harness.send(1, List.of(List.of(1L, 3, List.of()), List.of(2L, 4, List.of())));
      harness.watermark(77);
      harness.setProcessingTime(5_000);
      harness.send(2, List.of(List.of(3L, 5, List.of()), List.of(4L, 6, List.of())));
      harness.setProcessingTime(100_000);
      harness.send(3, List.of(List.of(5L, 5, List.of()), List.of(6L, 7, List.of())));

      Instant first = Instant.ofEpochSecond(4);
      Instant second = Instant.ofEpochSecond(5);
      Instant watermark = Instant.ofEpochMilli(77);
      assertThat(harness.rows())
          .containsExactly(
              Arrays.asList(1L, first, null),
              Arrays.asList(2L, first, null),
              List.of(3L, second, watermark),
              List.of(4L, second, watermark));
    }
  }

  @OutOfMemoryTest
  void listsAreSharedWhereNothingIsFiltered() throws Exception {
    CalcPlan plan = plan().select(List.of(col("tags").as("t"), col("price").times(2).as("p")));
    try (TransformHarness harness = open(plan)) {
      harness.send(1, List.of(List.of(1L, 3, List.of("a", "b")), Arrays.asList(2L, 4, null)));
      assertThat(harness.rows())
          .containsExactly(List.of(List.of("a", "b"), 6), Arrays.asList(null, 8));
    }
  }

  @OutOfMemoryTest
  void listsOfTheRowsThatAFilterLeavesArePassedOn() throws Exception {
    CalcPlan plan = plan().filter(col("price").gt(3)).select(List.of(col("tags"), col("id")));
    try (TransformHarness harness = open(plan)) {
      harness.send(
          1,
          List.of(
              List.of(1L, 3, List.of("a", "b")),
              List.of(2L, 4, List.of("c")),
              Arrays.asList(3L, 5, null),
              Arrays.asList(4L, null, List.of("d"))));
      assertThat(harness.rows())
          .containsExactly(List.of(List.of("c"), 2L), Arrays.asList(null, 3L));
    }
  }

  // The third attempt is the last; then the row fails in a part.
  @OutOfMemoryTest(attempts = 3)
  void rowsBeforeAFailingOneAreEmittedFirst() throws Exception {
    CalcPlan plan =
        plan()
            .filter(col("price").isNotNull())
            .select(List.of(lit(100).dividedBy(col("price")).as("share")));
    try (TransformHarness harness = open(plan)) {
      List<List<?>> rows =
          List.of(
              List.of(1L, 10, List.of()),
              Arrays.asList(2L, null, null),
              List.of(3L, 20, List.of()),
              List.of(4L, 0, List.of()),
              List.of(5L, 50, List.of()));
      assertThatThrownBy(() -> harness.send(3, rows))
          .isInstanceOf(EvaluationException.class)
          .hasMessage("division by zero in (100 / price) at row 3: values 100, 0");
      assertThat(harness.rows()).containsExactly(List.of(10), List.of(5));
      assertThat(harness.last())
          .as("what makes operators behind this one send what they hold back")
          .isInstanceOf(RecordAttributes.class);
    }
  }

  // The third attempt is the last; then the batch is calculated in parts.
  @OutOfMemoryTest(attempts = 3)
  void rowsThatFailGoToTheSideOutputWithTheReason() throws Exception {
    try (TransformHarness harness = openSkipping(shares())) {
      harness.send(
          3,
          List.of(
              List.of(1L, 10, List.of("a")),
              List.of(2L, 0, List.of("b", "c")),
              Arrays.asList(3L, null, null),
              Arrays.asList(4L, 0, null),
              List.of(5L, 50, List.of())));
      assertThat(harness.rows()).containsExactly(List.of(1L, 10), List.of(5L, 2));
      String reason = "division by zero in (100 / price): values 100, 0";
      assertThat(harness.sideRows())
          .containsExactly(
              List.of(2L, 0, List.of("b", "c"), reason), Arrays.asList(4L, 0, null, reason));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 63, 64, 65, 2047, 2049, 4999, 5000, 5001})
  void allRowsThatFailAreFound(int every) throws Exception {
    List<List<?>> rows = new ArrayList<>();
    List<Object> good = new ArrayList<>();
    List<Object> bad = new ArrayList<>();
    for (long id = 0; id < 5000; id++) {
      boolean fails = (id + 1) % every == 0;
      rows.add(List.of(id, fails ? 0 : 50, List.of()));
      if (fails) {
        bad.add(id);
      } else {
        good.add(List.of(id, 2));
      }
    }
    try (TransformHarness harness = openSkipping(shares())) {
      harness.send(3, rows);
      assertThat(harness.rows()).isEqualTo(good);
      assertThat(harness.sideRows()).extracting(row -> row.get(0)).isEqualTo(bad);
    }
  }

  private static CalcPlan shares() {
    return plan()
        .filter(col("price").isNotNull())
        .select(List.of(col("id"), lit(100).dividedBy(col("price")).as("share")));
  }

  private TransformHarness openSkipping(CalcPlan plan) throws Exception {
    OutputTag<ColumnBatch> failedRows =
        new OutputTag<>("failed", new ColumnBatchTypeInformation(FailedRows.schema(SCHEMA)));
    return new TransformHarness(
        device, SCHEMA, TransformOperator.factory(plan.transforms(), failedRows));
  }

  @Test
  void aPlanKnowsWhetherItCanFail() {
    assertThat(shares().canFail()).isTrue();
    assertThat(plan().filter(lit(1).dividedBy(col("price")).gt(0)).canFail()).isTrue();
    assertThat(plan().filter(col("price").gt(5)).canFail()).isFalse();
    assertThat(plan().canFail()).isFalse();
  }

  // The host evaluates rows in chunks of 2048.
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2047, 2048, 2049, 4998})
  void exactlyTheRowsBeforeAFailingOneThatPassTheFilterAreEmitted(int failing) throws Exception {
    CalcPlan plan =
        plan()
            .filter(lit(1000).dividedBy(col("price")).gt(0).and(col("id").mod(2L).isEqual(0L)))
            .select(List.of(col("id"), lit(1000L).dividedBy(col("id").minus(4999L)).as("share")));
    List<List<?>> rows = new ArrayList<>();
    List<Object> expected = new ArrayList<>();
    for (long id = 0; id < 5000; id++) {
      boolean fails = id == failing || id == 4999;
      rows.add(List.of(id, fails ? 0 : 7, List.of()));
      if (id < failing && id % 2 == 0) {
        expected.add(List.of(id, 1000L / (id - 4999)));
      }
    }
    try (TransformHarness harness = open(plan)) {
      assertThatThrownBy(() -> harness.send(3, rows))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining(" at row " + failing + ": values 1000, 0");
      assertThat(harness.rows()).isEqualTo(expected);
    }
  }

  @Test
  void aPlanMeansTheSameAfterSerialization() throws Exception {
    CalcPlan plan =
        plan()
            .filter(col("price").gt(5))
            .select(List.of(col("price").as("p"), col("id")))
            .filter(col("id").lt(10L));
    CalcPlan copy = InstantiationUtil.clone(plan);
    assertThat(copy.calc().condition()).isEqualTo(plan.calc().condition());
    assertThat(copy.calc().projections()).isEqualTo(plan.calc().projections());
    assertThat(copy.outputSchema()).isEqualTo(plan.outputSchema());
  }
}

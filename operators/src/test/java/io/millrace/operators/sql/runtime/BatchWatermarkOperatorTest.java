// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OperatorHarness.Output;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class BatchWatermarkOperatorTest {
  private static final long INTERVAL = 200;
  private static final Schema SCHEMA =
      Schema.of(Field.of("id", DataType.INT64), Field.of("ts", DataType.timestamp(3)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static final Expression SECOND_BEHIND = call("TIMESTAMPADD", "SECOND", -1, col("ts"));

  private RuntimeHarness open(Duration idleTimeout) throws Exception {
    return open(SECOND_BEHIND, idleTimeout);
  }

  private RuntimeHarness open(Expression watermark, Duration idleTimeout) throws Exception {
    CalcPlan times =
        CalcPlan.of(SCHEMA, ExpressionSettings.DEFAULT)
            .select(List.of(watermark.as("watermark"), col("ts").as("event_time")));
    return new RuntimeHarness(
        device, SCHEMA, BatchWatermarkOperator.factory(times, idleTimeout), INTERVAL);
  }

  private static List<Object> row(long id, long millis) {
    return List.of(id, LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), ZoneOffset.UTC));
  }

  /** What came out, a batch as the number of its rows. */
  private static List<Object> elements(RuntimeHarness harness) {
    return harness.elements().stream()
        .map(element -> element instanceof Output output ? output.rows().size() : element)
        .toList();
  }

  @OutOfMemoryTest
  void theGreatestWatermarkOfABatchIsBehindIt() throws Exception {
    try (RuntimeHarness harness = open(Duration.ZERO)) {
      harness.send(1, List.of(row(1, 5_000), row(2, 7_000), row(3, 6_000)));
      harness.send(2, List.of(row(4, 7_100)));
      assertThat(elements(harness)).containsExactly(3, new Watermark(6_000), 1);
      assertThat(harness.rows()).extracting(row -> row.get(0)).containsExactly(1L, 2L, 3L, 4L);
    }
  }

  @Test
  void rowsWithoutAWatermarkAreLeftOut() throws Exception {
    Expression ofSome = col("id").gt(1).then(SECOND_BEHIND, nullOf(DataType.timestamp(3)));
    try (RuntimeHarness harness = open(ofSome, Duration.ZERO)) {
      harness.send(1, List.of(row(1, 9_000)));
      harness.send(2, List.of(row(1, 9_000), row(2, 5_000), row(3, 4_000)));
      assertThat(elements(harness)).containsExactly(1, 3, new Watermark(4_000));
    }
  }

  @Test
  void aBatchWithoutRowsHasNoWatermark() throws Exception {
    try (RuntimeHarness harness = open(Duration.ZERO)) {
      harness.send(1, List.of());
      harness.send(2, List.of(row(1, -5_000)));
      assertThat(elements(harness)).containsExactly(0, 1);
    }
  }

  @Test
  void aSmallAdvanceWaitsForTheInterval() throws Exception {
    try (RuntimeHarness harness = open(Duration.ZERO)) {
      harness.send(1, List.of(row(1, 5_000)));
      harness.send(2, List.of(row(2, 5_100)));
      harness.setTime(INTERVAL);
      harness.setTime(2 * INTERVAL);
      assertThat(elements(harness))
          .containsExactly(1, new Watermark(4_000), 1, new Watermark(4_100));
    }
  }

  @Test
  void watermarksOfTheInputEndHereExceptTheLast() throws Exception {
    try (RuntimeHarness harness = open(Duration.ZERO)) {
      harness.send(new Watermark(9_000));
      harness.send(1, List.of(row(1, 5_000)));
      harness.send(Watermark.MAX_WATERMARK);
      harness.finish();
      assertThat(elements(harness))
          .containsExactly(1, new Watermark(4_000), Watermark.MAX_WATERMARK);
    }
  }

  @Test
  void anInputWithoutBatchesIsIdleUntilTheNextBatch() throws Exception {
    try (RuntimeHarness harness = open(Duration.ofSeconds(1))) {
      harness.send(1, List.of(row(1, 5_000)));
      harness.setTime(1_000);
      assertThat(elements(harness)).containsExactly(1, new Watermark(4_000));
      harness.setTime(2_000);
      harness.setTime(3_000);
      harness.send(2, List.of(row(2, 6_000)));
      assertThat(elements(harness))
          .containsExactly(
              1,
              new Watermark(4_000),
              WatermarkStatus.IDLE,
              WatermarkStatus.ACTIVE,
              1,
              new Watermark(5_000));
    }
  }

  @Test
  void anInputThatWaitsForTheOperatorsBehindIsNotIdle() throws Exception {
    try (RuntimeHarness harness = open(Duration.ofSeconds(1))) {
      harness.send(1, List.of(row(1, 5_000)));
      harness.beginBackPressure();
      harness.setTime(2_000);
      harness.setTime(4_000);
      harness.endBackPressure();
      harness.setTime(5_000);
      assertThat(elements(harness)).containsExactly(1, new Watermark(4_000));
      harness.setTime(6_001);
      assertThat(elements(harness)).containsExactly(1, new Watermark(4_000), WatermarkStatus.IDLE);
    }
  }

  @Test
  void aRowWithoutEventTimeFailsTheJob() throws Exception {
    try (RuntimeHarness harness = open(Duration.ZERO)) {
      List<List<Object>> rows = List.of(row(1, 5_000), Arrays.asList(2L, null));
      assertThatThrownBy(() -> harness.send(1, rows))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the event time of a row is null; a time attribute cannot be null");
    }
  }
}

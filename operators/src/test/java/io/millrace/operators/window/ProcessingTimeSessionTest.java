// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.lastValue;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.operators.window.WindowSubtasks.Snapshot;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Sessions by the clock of the machine, which the harness sets. */
@ExtendWith(NothingHeldExtension.class)
class ProcessingTimeSessionTest {
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.INT64, false), new Field("v", DataType.INT32, false));
  private static final TimeWindow SESSIONS = Session.overProcessingTime(Duration.ofMillis(500));
  private static final Job JOB = new Job(ROWS, List.of("k"), SESSIONS, count(), sum("v"));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @OutOfMemoryTest
  void sessionsEndWhenTheClockHasPassedTheGap() throws Exception {
    try (WindowHarness harness = JOB.open(device)) {
      assertThat(harness.resultsAt(1_000)).isEmpty();
      harness.send(0, List.of(List.of(1L, 1), List.of(2L, 2), List.of(1L, 3)));
      assertThat(harness.resultsAt(1_400)).isEmpty();
      harness.send(0, List.of(List.of(1L, 4)));
      harness.watermark(Long.MAX_VALUE - 1);
      assertThat(harness.last()).isEqualTo(new Watermark(Long.MAX_VALUE - 1));
      assertThat(harness.resultsAt(1_498)).isEmpty();
      assertThat(harness.resultsAt(1_499)).containsExactly("[2, 1, 2] 1000..1500");
      assertThat(harness.resultsAt(1_898)).isEmpty();
      assertThat(harness.resultsAt(1_899)).containsExactly("[1, 3, 8] 1000..1900");
      assertThat(harness.rowsInState()).isZero();
      harness.send(0, List.of(List.of(1L, 5)));
      assertThat(harness.resultsAt(9_000)).containsExactly("[1, 1, 5] 1899..2399");
      assertThat(harness.lateRowsDropped()).isZero();
    }
  }

  @Test
  void timeStandsStillWhileTheClockIsBehind() throws Exception {
    try (WindowHarness harness = JOB.open(device)) {
      harness.resultsAt(1_000);
      harness.send(0, List.of(List.of(1L, 1)));
      assertThat(harness.resultsAt(1_700)).containsExactly("[1, 1, 1] 1000..1500");
      harness.resultsAt(200);
      harness.send(0, List.of(List.of(1L, 2)));
      assertThat(harness.resultsAt(1_600)).isEmpty();
      assertThat(harness.resultsAt(2_300)).hasSize(1);
    }
  }

  @Test
  void timeStandsStillBetweenBatchesToo() throws Exception {
    try (WindowHarness harness = JOB.open(device)) {
      harness.resultsAt(1_000);
      harness.send(0, List.of(List.of(1L, 1)));
      harness.resultsAt(200);
      harness.send(0, List.of(List.of(1L, 2)));
      assertThat(harness.resultsAt(1_499)).containsExactly("[1, 2, 3] 1000..1500");
    }
  }

  @Test
  void timeStandsStillBehindARestoreWhereASubtaskHadNoRows() throws Exception {
    Snapshot snapshot;
    try (WindowSubtasks subtasks = WindowSubtasks.open(device, JOB, 2, null)) {
      for (int time = 1_000; time <= 2_200; time += 400) {
        subtasks.resultsAt(time);
        subtasks.send(List.of(List.of(1L, 1)));
      }
      snapshot = subtasks.snapshot();
    }
    try (WindowSubtasks subtasks = WindowSubtasks.open(device, JOB, 2, snapshot)) {
      subtasks.resultsAt(300);
      subtasks.send(List.of(List.of(1L, 1)));
      assertThat(subtasks.resultsAt(9_000)).containsExactly("[1, 5, 5] 1000..2700");
    }
  }

  @Test
  void sessionsOfAnEndlessGapHaveNoTimer() throws Exception {
    for (long gap : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 1_000}) {
      TimeWindow endless = Session.overProcessingTime(Duration.ofMillis(gap));
      try (WindowHarness harness = new Job(ROWS, List.of("k"), endless, count()).open(device)) {
        harness.resultsAt(1_000);
        harness.send(0, List.of(List.of(1L, 1)));
        assertThat(harness.timers()).isZero();
        assertThat(harness.resultsAt(1_000_000)).isEmpty();
        harness.send(0, List.of(List.of(1L, 1)));
        assertThat(harness.rowsInState()).isEqualTo(1);
      }
    }
  }

  @OutOfMemoryTest
  void restoredSessionsGoOn() throws Exception {
    OperatorSubtaskState state;
    try (WindowHarness harness = JOB.open(device)) {
      harness.resultsAt(1_000);
      harness.send(0, List.of(List.of(1L, 1), List.of(2L, 2)));
      harness.resultsAt(1_300);
      harness.send(0, List.of(List.of(2L, 3)));
      state = harness.snapshot();
    }
    try (WindowHarness harness = JOB.restore(device, state)) {
      assertThat(harness.resultsAt(1_600)).containsExactly("[1, 1, 1] 1000..1500");
      assertThat(harness.resultsAt(1_610)).isEmpty();
      harness.send(0, List.of(List.of(2L, 4), List.of(1L, 5)));
      assertThat(harness.resultsAt(2_110))
          .containsExactlyInAnyOrder("[2, 3, 9] 1000..2110", "[1, 1, 5] 1610..2110");
    }
  }

  @Test
  void sessionsOfALongGapFireAtATimeOfTheGrid() throws Exception {
    TimeWindow hour = Session.overProcessingTime(Duration.ofHours(1));
    try (WindowHarness harness = new Job(ROWS, List.of("k"), hour, count()).open(device)) {
      harness.resultsAt(1);
      harness.send(0, List.of(List.of(1L, 1)));
      harness.resultsAt(2);
      harness.send(0, List.of(List.of(2L, 2)));
      assertThat(harness.resultsAt(3_600_000)).isEmpty();
      assertThat(harness.resultsAt(3_603_601))
          .containsExactly("[1, 1] 1..3600001", "[2, 1] 2..3600002");
    }
  }

  @Test
  void timesAreInTheSessionsZone() throws Exception {
    long start = Instant.parse("2024-05-31T16:00:00Z").toEpochMilli();
    Job job = new Job(ROWS, List.of("k"), SESSIONS, count(), lastValue("v"));
    try (WindowHarness harness = job.withZone(ZoneId.of("Asia/Shanghai")).open(device)) {
      harness.resultsAt(start);
      harness.send(0, List.of(List.of(1L, 1), List.of(1L, 7)));
      harness.resultsAt(start + 1_000);
      assertThat(harness.rows())
          .containsExactly(
              List.of(
                  1L,
                  2L,
                  7,
                  LocalDateTime.of(2024, 6, 1, 0, 0),
                  LocalDateTime.of(2024, 6, 1, 0, 0, 0, 500_000_000),
                  Instant.parse("2024-05-31T16:00:00.499Z")));
    }
  }

  @Test
  void resultsAreThoseOfEventTimeIfRowsHaveTheTimeOfTheClock() throws Exception {
    Random numbers = random.random();
    SessionModel model = new SessionModel(500);
    int results = 0;
    WindowHarness harness = JOB.open(device);
    try {
      long now = 1;
      for (int step = 0; step < 400; step++) {
        List<List<Object>> rows = new ArrayList<>();
        List<SessionModel.Row> modelRows = new ArrayList<>();
        for (int i = numbers.nextInt(4); i > 0; i--) {
          long key = numbers.nextInt(5);
          rows.add(List.of(key, i));
          modelRows.add(new SessionModel.Row(key, i, now));
        }
        harness.send(0, rows);
        model.add(modelRows);
        if (numbers.nextInt(20) == 0) {
          OperatorSubtaskState state = harness.snapshot();
          harness.close();
          harness = JOB.restore(device, state);
        }
        now += 1 + numbers.nextInt(numbers.nextInt(10) == 0 ? 2_000 : 300);
        List<String> expected = model.results(now);
        results += expected.size();
        assertThat(harness.resultsAt(now))
            .as("at %d", now)
            .containsExactlyInAnyOrderElementsOf(expected);
      }
      assertThat(results).isGreaterThan(100);
    } finally {
      harness.close();
    }
  }

  @Test
  void noRowOfTheShortestSessionsIsLate() throws Exception {
    TimeWindow shortest = Session.overProcessingTime(Duration.ofMillis(1));
    try (WindowHarness harness = new Job(ROWS, List.of("k"), shortest, count()).open(device)) {
      harness.resultsAt(5);
      harness.send(0, List.of(List.of(1L, 1)));
      assertThat(harness.resultsAt(7)).containsExactly("[1, 1] 5..6");
      harness.send(0, List.of(List.of(1L, 1)));
      harness.resultsAt(8);
      harness.send(0, List.of(List.of(1L, 1)));
      assertThat(harness.resultsAt(20)).isNotEmpty();
      assertThat(harness.rowsInState()).isZero();
      assertThat(harness.lateRowsDropped()).isZero();
    }
  }

  @Test
  void theNameOfTheTimeIsReserved() {
    assertThat(JOB.plan().toString()).contains("SESSION(time_col=[PROCTIME()], gap=[500 ms])");
    assertThat(JOB.plan().outputSchema().names()).doesNotContain("$processing_time");
    Schema schema = Schema.of(Field.of("$processing_time", DataType.INT64));
    assertThatThrownBy(new Job(schema, List.of("$processing_time"), SESSIONS, count())::plan)
        .isInstanceOf(ExpressionException.class)
        .hasMessage("two columns are called '$processing_time'");
  }
}

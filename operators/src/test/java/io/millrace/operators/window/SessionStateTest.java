// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static io.millrace.operators.window.WindowHarness.ROWS;
import static io.millrace.operators.window.WindowHarness.row;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.window.SessionModel.Row;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.operators.window.WindowSubtasks.Snapshot;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sessions in checkpoints, restored with any parallelism. */
@ExtendWith(NothingHeldExtension.class)
class SessionStateTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Job job(long gap) {
    TimeWindow window = Session.over("ts", Duration.ofMillis(gap));
    return new Job(ROWS, List.of("k"), window, count(), sum("v"));
  }

  @OutOfMemoryTest
  void aRestoredSessionHasTheRowsAndTheWatermarkOfTheCheckpoint() throws Exception {
    OperatorSubtaskState state;
    try (WindowHarness harness = job(2_000).open(device)) {
      harness.send(0, List.of(row(1, 1, 500), row(1, 2, 2_500), row(2, 4, 500), row(3, 1, 900)));
      assertThat(harness.results(2_499)).containsExactly("[2, 1, 4] 500..2500");
      state = harness.snapshot();
      harness.send(0, List.of(row(1, 100, 2_500)));
    }
    try (WindowHarness harness = job(2_000).restore(device, state)) {
      // Late by itself, and of a session that goes on; late; and of a new session.
      harness.send(0, List.of(row(1, 8, -1_500), row(2, 16, 400), row(4, 32, 501)));
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(harness.results(2_000)).isEmpty();
      assertThat(harness.results(2_500)).containsExactly("[4, 1, 32] 501..2501");
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly("[3, 1, 1] 900..2900", "[1, 3, 11] -1500..4500");
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 40", "7, 40", "100, 400", "400, 900", "3000, 2000"})
  void sessionsAreRescaledInTheirMiddle(long gap, int keys) throws Exception {
    Random numbers = random.random();
    SessionModel model = new SessionModel(gap);
    Snapshot snapshot = null;
    long now = 0;
    long late = 0;
    long sessions = 0;
    for (int parallelism : new int[] {2, 3, 1, 4}) {
      try (WindowSubtasks subtasks = WindowSubtasks.open(device, job(gap), parallelism, snapshot)) {
        for (int batch = 0; batch < 15; batch++) {
          now += numbers.nextInt(300);
          List<Row> rows = new ArrayList<>();
          for (int i = numbers.nextInt(150); i > 0; i--) {
            long time = now - numbers.nextInt(1 + numbers.nextInt(3_000));
            rows.add(new Row(numbers.nextInt(1 + numbers.nextInt(keys)), i, time));
          }
          model.add(rows);
          subtasks.send(rows.stream().map(row -> row(row.key(), row.value(), row.time())).toList());
          long watermark = now - numbers.nextInt(1_500);
          List<String> expected = model.results(watermark);
          sessions += expected.size();
          assertThat(subtasks.results(watermark))
              .as("after watermark %d", watermark)
              .containsExactlyInAnyOrderElementsOf(expected);
        }
        late += subtasks.lateRowsDropped();
        snapshot = subtasks.snapshot();
      }
    }
    assertThat(late).isEqualTo(model.lateRows());
    assertThat(late + sessions).isPositive();
  }

  // More slices than are grouped at once.
  @OutOfMemoryTest
  void timesThatAreFarApartAreSplit() throws Exception {
    try (WindowHarness harness = job(1_000).open(device)) {
      harness.send(
          0,
          List.of(
              row(1, 1, 0), row(1, 2, 1_000_000_000_000L), row(2, 4, 500), row(2, 8, -1_000_000)));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly(
              "[2, 1, 8] -1000000..-999000",
              "[1, 1, 1] 0..1000",
              "[2, 1, 4] 500..1500",
              "[1, 1, 2] 1000000000000..1000000001000");
    }
  }

  @Test
  void stateOfEndedSessionsIsGivenUp() throws Exception {
    try (WindowHarness harness = job(1_000).open(device)) {
      long held = 0;
      for (int second = 0; second < 20; second++) {
        harness.send(0, List.of(row(1, 1, second * 1_000L), row(second, 1, second * 1_000L)));
        harness.watermark(second * 1_000L + 999);
        if (second == 3) {
          held = DeviceContext.heldBytes(device.device());
        }
      }
      assertThat(DeviceContext.heldBytes(device.device())).isEqualTo(held);
    }
  }
}

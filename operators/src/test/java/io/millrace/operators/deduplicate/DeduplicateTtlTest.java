// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import static io.millrace.operators.deduplicate.Deduplication.keepFirst;
import static io.millrace.operators.deduplicate.Deduplication.keepLast;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.deduplicate.DeduplicateHarness.Job;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** De-duplication that forgets keys, by a clock that the tests set. */
@ExtendWith(NothingHeldExtension.class)
class DeduplicateTtlTest {
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.STRING, false), new Field("n", DataType.INT32, false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Job job(Deduplication deduplication) {
    return new Job(
        ROWS, List.of("k"), deduplication, StateTtl.ofProcessingTime(Duration.ofMillis(100)));
  }

  @OutOfMemoryTest
  void aFirstRowIsForgottenWhateverComesBehindIt() throws Exception {
    try (DeduplicateHarness harness = job(keepFirst()).open(device)) {
      harness.setProcessingTime(1_000);
      assertThat(harness.results(List.of("a", 1), List.of("b", 2), List.of("a", 3)))
          .containsExactly("[a, 1]", "[b, 2]");
      harness.setProcessingTime(1_099);
      assertThat(harness.results(List.of("a", 4), List.of("c", 5))).containsExactly("[c, 5]");
      harness.setProcessingTime(1_100);
      assertThat(harness.results(List.of("a", 6), List.of("a", 7), List.of("c", 8)))
          .containsExactly("[a, 6]");
    }
  }

  @OutOfMemoryTest
  void aLastRowIsForgottenWithoutFurtherRows() throws Exception {
    try (DeduplicateHarness harness = job(keepLast()).open(device)) {
      harness.setProcessingTime(1_000);
      assertThat(harness.results(List.of("a", 1), List.of("b", 2)))
          .containsExactly("+I[a, 1]", "+I[b, 2]");
      harness.setProcessingTime(1_099);
      assertThat(harness.results(List.of("a", 4))).containsExactly("+U[a, 4]");
      harness.setProcessingTime(1_198);
      assertThat(harness.results(List.of("b", 5), List.of("a", 6)))
          .containsExactly("+I[b, 5]", "+U[a, 6]");
    }
  }

  @Test
  void timesAreInTheCheckpoint() throws Exception {
    OperatorSubtaskState state;
    try (DeduplicateHarness harness = job(keepFirst()).open(device)) {
      harness.setProcessingTime(1_000);
      harness.results(List.of("a", 1));
      harness.setProcessingTime(1_050);
      harness.results(List.of("b", 2));
      state = harness.snapshot();
    }
    try (DeduplicateHarness harness = job(keepFirst()).restore(device, 0, 1, state)) {
      assertThat(harness.rowsInState()).isEqualTo(2);
      harness.setProcessingTime(1_100);
      assertThat(harness.results(List.of("b", 3), List.of("a", 4))).containsExactly("[a, 4]");
    }
  }

  @OutOfMemoryTest
  void aFirstRowIsForgottenByTheWatermark() throws Exception {
    Job job =
        new Job(ROWS, List.of("k"), keepFirst(), StateTtl.ofEventTime(Duration.ofMillis(100)));
    OperatorSubtaskState state;
    try (DeduplicateHarness harness = job.open(device)) {
      assertThat(harness.results(List.of("before", 1))).hasSize(1);
      harness.watermark(1_000);
      assertThat(harness.results(List.of("a", 1))).hasSize(1);
      harness.watermark(1_099);
      assertThat(harness.results(List.of("a", 2), List.of("before", 2), List.of("b", 2)))
          .containsExactly("[b, 2]");
      state = harness.snapshot();
    }
    try (DeduplicateHarness harness = job.restore(device, 0, 1, state)) {
      assertThat(harness.results(List.of("a", 3), List.of("before", 3))).isEmpty();
      harness.watermark(500);
      assertThat(harness.results(List.of("b", 3), List.of("before", 3))).isEmpty();
      harness.watermark(1_100);
      assertThat(harness.results(List.of("a", 4), List.of("before", 4), List.of("b", 4)))
          .containsExactly("[a, 4]", "[before, 4]");
      harness.watermark(1_198);
      assertThat(harness.results(List.of("b", 5))).isEmpty();
      harness.watermark(1_199);
      assertThat(harness.results(List.of("b", 5))).containsExactly("[b, 5]");
    }
  }

  @Test
  void aFirstRowDoesNotBecomeOlderWhereSubtasksHadOtherWatermarks() throws Exception {
    Job job =
        new Job(ROWS, List.of("k"), keepFirst(), StateTtl.ofEventTime(Duration.ofMillis(100)));
    OperatorSubtaskState[] parts = new OperatorSubtaskState[2];
    for (int subtask = 0; subtask < 2; subtask++) {
      try (DeduplicateHarness harness = job.restore(device, subtask, 2, null)) {
        harness.watermark(1_000 + 50 * subtask);
        harness.results(List.of("key of subtask " + subtask, 1));
        parts[subtask] = harness.snapshot();
      }
    }
    OperatorSubtaskState state =
        AbstractStreamOperatorTestHarness.repartitionOperatorState(
            AbstractStreamOperatorTestHarness.repackageState(parts),
            DeduplicateHarness.MAX_PARALLELISM,
            2,
            1,
            0);
    try (DeduplicateHarness harness = job.restore(device, 0, 1, state)) {
      // The clock begins at 1,000 again.
      assertThat(harness.results(List.of("key of subtask 1", 2))).isEmpty();
      harness.watermark(1_149);
      assertThat(harness.results(List.of("key of subtask 1", 2))).isEmpty();
      harness.watermark(1_150);
      assertThat(harness.results(List.of("key of subtask 1", 2))).hasSize(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void expiredRowsAreRemovedWhileBatchesGoOn(Deduplication.Keep keep) throws Exception {
    try (DeduplicateHarness harness = job(new Deduplication(keep)).open(device)) {
      harness.setProcessingTime(1_000);
      harness.results(rows(0, 1_000));
      harness.setProcessingTime(1_060);
      harness.results(rows(1_000, 1_100));
      for (int time = 1_100; harness.rowsInState() > 101; time++) {
        harness.setProcessingTime(time);
        harness.results(rows(7, 8));
      }
      assertThat(harness.expiredRows()).isEqualTo(999);
      assertThat(harness.results(rows(500, 501))).hasSize(1);
      assertThat(harness.results(rows(1_050, 1_051)).size())
          .isEqualTo(keep == Deduplication.Keep.FIRST ? 0 : 1);
    }
  }

  private static List<?>[] rows(int first, int end) {
    return IntStream.range(first, end)
        .mapToObj(n -> List.of(n % 2 == 0 ? "k" + n : "a longer key, number " + n, n))
        .toArray(List[]::new);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.TimeDomain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Timers of keys whose values expire. */
@ExtendWith(NothingHeldExtension.class)
class TimersTtlTest {
  private static final int TTL = 100;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Job job(long slices, boolean isProcessingTime, StateTtl stateTtl) {
    return new Job(Reminders.ROWS, List.of("k"), new Reminders(slices, isProcessingTime), stateTtl);
  }

  private static StateTtl ttl(TimeDomain domain) {
    return new StateTtl(Duration.ofMillis(TTL), domain);
  }

  private static List<Object> set(long key, long time) {
    return asList(key, time, Reminders.SET);
  }

  @Test
  void timersDueAtAWatermarkSeeTheValuesBeforeIt() throws Exception {
    try (ProcessHarness harness = job(8, false, ttl(TimeDomain.EVENT_TIME)).open(device)) {
      harness.watermark(0);
      harness.results(set(1, 51), set(1, 52), set(1, 168), set(1, 302));
      harness.watermark(60);
      assertThat(harness.takeTexts()).containsExactly("[1, 51, 0]", "[1, 52, 1]");
      harness.watermark(159);
      harness.watermark(200);
      assertThat(harness.takeTexts())
          .as("the value has the watermark 60, and the one before was 159")
          .containsExactly("[1, 168, 2]");
      harness.results(set(1, 198));
      harness.watermark(299);
      harness.watermark(300);
      harness.watermark(302);
      assertThat(harness.takeTexts())
          .as("the value that was cleared at 200 by a multiple of 7, and set at 299")
          .containsExactly("[1, 198, 0]", "[1, 302, 1]");
      harness.watermark(402);
      harness.results(set(1, 403));
      harness.watermark(403);
      assertThat(harness.takeTexts()).containsExactly("[1, 403, 0]");
    }
  }

  @Test
  void timersOfProcessingTimeSeeNoValueThatHasExpired() throws Exception {
    try (ProcessHarness harness = job(8, true, ttl(TimeDomain.PROCESSING_TIME)).open(device)) {
      harness.setProcessingTime(1);
      harness.results(set(1, 51), set(1, 150), set(1, 151), set(2, 51), set(2, 151));
      harness.setProcessingTime(51);
      assertThat(harness.takeTexts()).containsExactly("[1, 51, 0]", "[2, 51, 0]");
      harness.setProcessingTime(150);
      assertThat(harness.takeTexts()).containsExactly("[1, 150, 1]");
      harness.setProcessingTime(151);
      assertThat(harness.takeTexts())
          .as("key 2 had its value at 51")
          .containsExactlyInAnyOrder("[1, 151, 2]", "[2, 151, 0]");
    }
  }

  @ParameterizedTest
  @EnumSource(TimeDomain.class)
  void timersStayWhileValuesExpire(TimeDomain domain) throws Exception {
    Job job = job(1_000, false, ttl(domain));
    OperatorSubtaskState state;
    try (ProcessHarness harness = job.open(device)) {
      harness.watermark(1);
      List<List<?>> rows = new ArrayList<>();
      for (long key = 0; key < 50; key++) {
        rows.add(set(key, 2));
        rows.add(set(key, 90_001));
      }
      harness.results(rows.toArray(List[]::new));
      harness.watermark(2);
      assertThat(harness.takeTexts()).hasSize(50);
      assertThat(harness.rowsInState()).as("values and timers").isEqualTo(100);
      for (int time = 2; time < 1_000; time += 7) {
        harness.setProcessingTime(time);
        harness.results(set(7, time));
        harness.watermark(time);
      }
      assertThat(harness.rowsInState()).as("few values, and timers").isLessThan(60);
      harness.takeTexts();
      state = harness.snapshot();
    }
    try (ProcessHarness harness = job.restore(device, 0, 1, state)) {
      harness.setProcessingTime(50_000);
      harness.watermark(90_000);
      assertThat(harness.takeTexts()).isEmpty();
      harness.watermark(90_001);
      assertThat(harness.takeTexts()).hasSize(50).contains("[3, 90001, 0]");
    }
  }

  @ParameterizedTest
  @EnumSource(TimeDomain.class)
  void timersOfACheckpointWithoutATimeToLiveStay(TimeDomain domain) throws Exception {
    OperatorSubtaskState state;
    try (ProcessHarness harness = job(1_000, false, StateTtl.NONE).open(device)) {
      harness.results(set(1, 3), set(1, 9_001), set(2, 9_002));
      harness.watermark(3);
      state = harness.snapshot();
    }
    // The second checkpoint has the times that rows got with the first restore.
    for (long time : new long[] {10, 8_000}) {
      try (ProcessHarness harness = job(1_000, false, ttl(domain)).restore(device, 0, 1, state)) {
        harness.setProcessingTime(time);
        harness.watermark(time);
        harness.results(set(3, time + 1));
        state = harness.snapshot();
      }
    }
    try (ProcessHarness harness = job(1_000, false, ttl(domain)).restore(device, 0, 1, state)) {
      harness.setProcessingTime(9_000);
      harness.watermark(9_010);
      assertThat(harness.takeTexts())
          .as("the clock has passed the value of key 3, and the watermark before has not")
          .containsExactly(
              domain == TimeDomain.EVENT_TIME ? "[3, 8001, 1]" : "[3, 8001, 0]",
              "[1, 9001, 0]",
              "[2, 9002, 0]");
    }
  }
}

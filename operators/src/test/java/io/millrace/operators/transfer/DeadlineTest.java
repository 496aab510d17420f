// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.streaming.runtime.tasks.TestProcessingTimeService;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeadlineTest {
  private final TestProcessingTimeService time = new TestProcessingTimeService();
  private int runs;
  private Deadline deadline;

  @BeforeEach
  void makeDeadline() throws Exception {
    time.setCurrentTime(1_000);
    deadline =
        new Deadline(
            time,
            () -> {
              runs++;
              deadline.clear();
            });
  }

  @Test
  void theActionRunsWhenItIsDue() throws Exception {
    deadline.set(1_000, 1_020);
    time.setCurrentTime(1_019);
    assertThat(runs).isZero();
    time.setCurrentTime(1_020);
    assertThat(runs).isEqualTo(1);
    assertThat(deadline.isSet()).isFalse();
  }

  @Test
  void aClearedDeadlineKeepsItsTimerForTheNext() throws Exception {
    deadline.set(1_000, 1_020);
    deadline.clear();
    deadline.set(1_010, 1_030);
    assertThat(time.getNumActiveTimers()).isEqualTo(1);
    time.setCurrentTime(1_020);
    assertThat(runs).isZero();
    time.setCurrentTime(1_030);
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void theActionRunsIfTheClockWasSetBack() throws Exception {
    deadline.set(2_000, 5_000);
    deadline.clear();
    time.setCurrentTime(4_000);
    deadline.set(6_000, 9_000);
    time.setCurrentTime(5_000);
    assertThat(runs).isEqualTo(1);
  }

  @Test
  void aClosedDeadlineHasNoTimer() throws Exception {
    deadline.set(1_000, 1_020);
    deadline.close();
    assertThat(time.getNumActiveTimers()).isZero();
  }
}

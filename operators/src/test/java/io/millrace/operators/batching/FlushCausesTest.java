// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.batching.FlushCauses.Change;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlushCausesTest {
  private final FlushCauses causes = new FlushCauses();
  private final List<Change> changes = new ArrayList<>();

  @Test
  void theMostFrequentCauseOfAWindowIsTold() {
    flush(FlushCause.DEADLINE, 40);
    flush(FlushCause.BARRIER, FlushCauses.WINDOW - 40 - 1);
    assertThat(changes).isEmpty();
    flush(FlushCause.BARRIER, 1);
    assertThat(changes).containsExactly(new Change(null, FlushCause.DEADLINE, 40));
  }

  @Test
  void aCauseThatStaysIsToldOnce() {
    flush(FlushCause.ROWS, 10 * FlushCauses.WINDOW);
    flush(FlushCause.PACE, FlushCauses.WINDOW / 2 - 1);
    flush(FlushCause.ROWS, FlushCauses.WINDOW / 2 + 1);
    assertThat(changes).hasSize(1);
  }

  @Test
  void aChangeNamesBothCauses() {
    flush(FlushCause.ROWS, FlushCauses.WINDOW);
    flush(FlushCause.PACE, FlushCauses.WINDOW);
    assertThat(changes)
        .last()
        .isEqualTo(new Change(FlushCause.ROWS, FlushCause.PACE, FlushCauses.WINDOW));
  }

  private void flush(FlushCause cause, int times) {
    for (int i = 0; i < times; i++) {
      causes.add(cause).ifPresent(changes::add);
    }
  }
}

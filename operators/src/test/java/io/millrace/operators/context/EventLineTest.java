// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.memory.SpillTier;
import io.millrace.memory.spill.SpillStatistics;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Lines of events, and the bursts of spilling that make one each. */
class EventLineTest {
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  @Test
  void textIsQuoted() {
    assertThat(new EventLine("fallback").with("reason", "a \"b\" \\ c\r\nd").with("rows", 3))
        .hasToString("event=fallback reason=\"a \\\"b\\\" \\\\ c d\" rows=3");
  }

  @Test
  void movesWithoutAQuietSecondAreOneBurst() {
    SpillStatistics statistics = new SpillStatistics(1);
    statistics.moved(SpillTier.DEVICE, SpillTier.HOST, 5, 1);
    SpillBurst burst = new SpillBurst("j", statistics);

    assertThat(burst.observe(0)).isEmpty();
    statistics.moved(SpillTier.DEVICE, SpillTier.HOST, 100, 1);
    assertThat(burst.observe(SECOND)).isEmpty();
    statistics.moved(SpillTier.HOST, SpillTier.DISK, 30, 1);
    statistics.moved(SpillTier.DEVICE, SpillTier.HOST, 10, 1);
    assertThat(burst.observe(2 * SECOND)).isEmpty();
    assertThat(burst.observe(2 * SECOND + SECOND / 2)).isEmpty();
    assertThat(burst.observe(3 * SECOND))
        .hasToString(
            "Optional[event=spill_burst job=\"j\" millis=1000 gpu_to_cpu_bytes=110"
                + " cpu_to_disk_bytes=30]");
    assertThat(burst.observe(9 * SECOND)).isEmpty();

    statistics.moved(SpillTier.HOST, SpillTier.DEVICE, 7, 1);
    assertThat(burst.observe(10 * SECOND)).isEmpty();
    assertThat(burst.observe(11 * SECOND))
        .hasToString("Optional[event=spill_burst job=\"j\" millis=0 cpu_to_gpu_bytes=7]");
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Random;
import org.apache.flink.table.runtime.util.TimeWindowUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When windows of local time fire, around changes of the clock. */
class FiringTimesTest {
  private static final long HOUR = Duration.ofHours(1).toMillis();

  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static long local(String dateTime) {
    return LocalDateTime.parse(dateTime).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UTC",
        "Asia/Kolkata",
        "+08:00",
        "America/New_York",
        "Europe/London",
        "Australia/Sydney"
      })
  void timesAreFlinksWhereTheClockChangesAtAFullHour(String name) {
    ZoneId zone = ZoneId.of(name);
    FiringTimes times = new FiringTimes(zone);
    long start = local("2023-12-31T00:00:00");
    long end = local("2025-01-01T00:00:00");
    for (long windowEnd = start; windowEnd < end; windowEnd += 7 * 60_000) {
      for (long near = windowEnd - 1; near <= windowEnd + 1; near++) {
        assertThat(times.of(near))
            .as("window that ends at %s", Instant.ofEpochMilli(near))
            .isEqualTo(TimeWindowUtil.toEpochMillsForTimer(near - 1, zone));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Australia/Lord_Howe",
        "America/St_Johns",
        "Asia/Shanghai",
        "Pacific/Apia",
        "America/New_York"
      })
  void noRowOfAWindowIsBehindItsTime(String name) {
    ZoneRules rules = ZoneId.of(name).getRules();
    FiringTimes times = new FiringTimes(ZoneId.of(name));
    Random numbers = random.random();
    for (ZoneOffsetTransition change : rules.getTransitions()) {
      long instant = change.getInstant().toEpochMilli();
      for (int i = 0; i < 200; i++) {
        long at = instant + numbers.nextLong(-26 * HOUR, 26 * HOUR);
        long localTime = at + rules.getOffset(Instant.ofEpochMilli(at)).getTotalSeconds() * 1_000L;
        assertThat(times.of(localTime + 1)).isGreaterThanOrEqualTo(at);
        assertThat(times.of(localTime + 2)).isGreaterThanOrEqualTo(times.of(localTime + 1));
      }
    }
  }

  // 2:00 became 2:30 on 2024-10-06, and 2:00 became 1:30 on 2024-04-07.
  @Test
  void aChangeOfHalfAnHour() {
    FiringTimes times = new FiringTimes(ZoneId.of("Australia/Lord_Howe"));
    long forward = Instant.parse("2024-10-05T15:30:00Z").toEpochMilli();
    assertThat(times.of(local("2024-10-06T02:00:00"))).isEqualTo(forward - 1);
    assertThat(times.of(local("2024-10-06T02:10:00"))).isEqualTo(forward);
    assertThat(times.of(local("2024-10-06T02:40:00"))).isEqualTo(forward + 10 * 60_000 - 1);
    long back = Instant.parse("2024-04-06T15:00:00Z").toEpochMilli();
    assertThat(times.of(local("2024-04-07T01:30:00"))).isEqualTo(back - 30 * 60_000 - 1);
    assertThat(times.of(local("2024-04-07T01:40:00"))).isEqualTo(back + 10 * 60_000 - 1);
    assertThat(times.of(local("2024-04-07T02:10:00"))).isEqualTo(back + 40 * 60_000 - 1);
  }
}

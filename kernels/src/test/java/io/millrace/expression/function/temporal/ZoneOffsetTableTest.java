// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.RandomExtension;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.GregorianCalendar;
import java.util.Locale;
import java.util.Random;
import java.util.TimeZone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ZoneOffsetTableTest {
  private static final int CASES = 3_000;

  @RegisterExtension final RandomExtension seeded = new RandomExtension();

  private static LocalDateTime time(Random random) {
    int years = random.nextInt(4) == 0 ? 8_000 : 300;
    return LocalDateTime.of(1800, 1, 1, 0, 0)
        .plusSeconds((long) (random.nextDouble() * years * 31_557_600))
        .plusNanos(random.nextInt(1_000) * 1_000_000L);
  }

  private static long millis(LocalDateTime time) {
    return time.toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UTC",
        "+05:30",
        "America/Bahia_Banderas",
        "America/New_York",
        "Europe/Berlin",
        "Europe/Dublin",
        "Africa/Casablanca",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Asia/Manila",
        "America/St_Johns"
      })
  void offsetsMatchJava(String id) {
    Random random = seeded.random();
    ZoneId zone = ZoneId.of(id);
    TimeZone legacy = TimeZone.getTimeZone(zone);
    ZoneOffsetTable instants = ZoneOffsetTable.ofInstants(zone);
    ZoneOffsetTable localTimes = ZoneOffsetTable.ofLocalTimes(zone);
    ZoneOffsetTable legacyInstants = ZoneOffsetTable.ofInstants(legacy);
    ZoneOffsetTable legacyLocalTimes = ZoneOffsetTable.ofLocalTimes(legacy);
    for (int i = 0; i < CASES; i++) {
      LocalDateTime time = time(random);
      long millis = millis(time);
      Instant instant = Instant.ofEpochMilli(millis);
      assertThat(instants.offset(millis))
          .as("at %s", instant)
          .isEqualTo(zone.getRules().getOffset(instant).getTotalSeconds() * 1_000L);
      assertThat(millis - localTimes.offset(millis))
          .as("of local time %s", time)
          .isEqualTo(time.atZone(zone).toInstant().toEpochMilli());
      assertThat(legacyInstants.offset(millis))
          .as("of TimeZone at %s", instant)
          .isEqualTo(legacy.getOffset(millis));
      assertThat(millis - legacyLocalTimes.offset(millis))
          .as("of GregorianCalendar at %s", time)
          .isEqualTo(calendarMillis(legacy, time));
    }
  }

  private static long calendarMillis(TimeZone zone, LocalDateTime time) {
    GregorianCalendar calendar = new GregorianCalendar(zone, Locale.ROOT);
    calendar.clear();
    calendar.set(
        time.getYear(),
        time.getMonthValue() - 1,
        time.getDayOfMonth(),
        time.getHour(),
        time.getMinute(),
        time.getSecond());
    return calendar.getTimeInMillis() + millis(time) - millis(time.withNano(0));
  }

  @Test
  void localTimesOfAGapAreLaterAndOfAnOverlapEarlier() {
    ZoneOffsetTable table = ZoneOffsetTable.ofLocalTimes(ZoneId.of("Europe/Berlin"));
    long gap = millis(LocalDateTime.of(2022, 3, 27, 2, 30));
    long overlap = millis(LocalDateTime.of(2022, 10, 30, 2, 30));
    assertThat(Instant.ofEpochMilli(gap - table.offset(gap))).hasToString("2022-03-27T01:30:00Z");
    assertThat(Instant.ofEpochMilli(overlap - table.offset(overlap)))
        .hasToString("2022-10-30T00:30:00Z");
  }

  @Test
  void legacyLocalTimesOfAnOverlapAreLater() {
    ZoneOffsetTable table =
        ZoneOffsetTable.ofLocalTimes(TimeZone.getTimeZone(ZoneId.of("Europe/Berlin")));
    long overlap = millis(LocalDateTime.of(2022, 10, 30, 2, 30));
    assertThat(Instant.ofEpochMilli(overlap - table.offset(overlap)))
        .hasToString("2022-10-30T01:30:00Z");
  }

  @Test
  void bytesHaveTheLayoutOfTheDevice() {
    assertThat(ZoneOffsetTable.UTC.toBytes()).hasSize(24).containsOnly(0);
    assertThat(ZoneOffsetTable.ofInstants(ZoneId.of("America/New_York")).toBytes().length % 8)
        .isZero();
  }
}

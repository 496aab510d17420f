// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.RandomExtension;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DateTimeTextTest {

  @RegisterExtension final RandomExtension seeded = new RandomExtension();

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @RepeatedTest(4)
  void timestampsReadAsTheyAreWritten() {
    Random random = seeded.random();
    byte[] text = new byte[29];
    for (int i = 0; i < 5_000; i++) {
      long millis = random.nextLong(-62_135_596_800_000L, 253_402_300_800_000L);
      int nanos = random.nextInt(1_000_000);
      int precision = random.nextInt(10);
      String written =
          new String(
              text,
              0,
              DateTimeText.writeTimestamp(text, millis, nanos, precision),
              StandardCharsets.UTF_8);
      String pattern = "yyyy-MM-dd HH:mm:ss" + (precision > 0 ? "." + "S".repeat(precision) : "");
      LocalDateTime time =
          LocalDateTime.ofEpochSecond(
              Math.floorDiv(millis, 1_000L),
              (int) Math.floorMod(millis, 1_000L) * 1_000_000 + nanos,
              ZoneOffset.UTC);
      assertThat(written).isEqualTo(time.format(DateTimeFormatter.ofPattern(pattern, Locale.ROOT)));
      DateTimePattern.LocalTime read =
          DateTimeText.readPlainTimestamp(bytes(written)).orElseThrow();
      if (precision == 9) {
        assertThat(read).isEqualTo(new DateTimePattern.LocalTime(millis, nanos));
      }
    }
  }

  // Recorded from Flink 2.3.0.
  @ParameterizedTest
  @CsvSource({
    "2023-02-28, 2023-02-28",
    "' 2023 - 2 - 3', 2023-02-03",
    "2023-02-03 any, 2023-02-03",
    "2023-2, 2023-02-01",
    "12, 0012-01-01",
    "2020-02-29, 2020-02-29"
  })
  void datesAreParsedLeniently(String text, LocalDate date) {
    assertThat(DateTimeText.parseDate(bytes(text))).isEqualTo(date.toEpochDay());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "2023-02-29", "2023-13", "10000", "-1", "2023-1-1-1", "2023-é"})
  void otherTextsAreNotDates(String text) {
    assertThat(DateTimeText.parseDate(bytes(text))).isEqualTo(DateTimeText.NO_DATE);
  }

  @ParameterizedTest
  @CsvSource({
    "12:30, 45000000",
    "12:30:15.9996, 45016000",
    "' 1 : 2 : 3 ', 3723000",
    "10:00:00+02:30, 45000000",
    "10+1, 39600000",
    "1-99, -352800000",
    "23:59:59.5é7, 86399507"
  })
  void timesAreParsedLeniently(String text, long millis) {
    assertThat(DateTimeText.parseTime(bytes(text))).isEqualTo(millis);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "24:00", "12:60", "1:2:3:4", "5+3:4", "12.5", "a"})
  void otherTextsAreNotTimes(String text) {
    assertThat(DateTimeText.parseTime(bytes(text))).isEqualTo(DateTimeText.NO_TIME);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.expression.function.temporal.DateTimePattern.Dialect;
import io.millrace.expression.function.temporal.DateTimePattern.LocalTime;
import io.millrace.expression.function.temporal.JulianCalendar.CivilDate;
import io.millrace.testing.RandomExtension;
import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.TimeZone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DateTimePatternTest {
  private static final int CASES = 2_000;

  @RegisterExtension final RandomExtension seeded = new RandomExtension();

  private static LocalDateTime time(Random random, int firstYear) {
    return LocalDateTime.of(firstYear, 1, 1, 0, 0)
        .plusDays(random.nextInt((9_999 - firstYear) * 365))
        .plusNanos(random.nextLong(86_400_000_000_000L));
  }

  private static String write(DateTimePattern pattern, LocalDateTime time) {
    byte[] text = new byte[pattern.maximumBytes()];
    CivilDate date = new CivilDate(time.getYear(), time.getMonthValue(), time.getDayOfMonth());
    long nanos = time.toLocalTime().toNanoOfDay();
    int millis = (int) (nanos / 1_000_000);
    int nanosOfSecond = (int) (nanos % 1_000_000_000);
    int length = pattern.write(text, date, millis, nanosOfSecond);
    return new String(text, 0, length, StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "yyyy-MM-dd HH:mm:ss",
        "uuuuMMddHHmmssSSS",
        "yy/M/d H:m:s",
        "S SS SSSSSS SSSSSSSSS",
        "'T''é' dd.MM.yyyy",
        "''yyyy''",
        ""
      })
  void formatsLikeJavaTime(String text) {
    Random random = seeded.random();
    DateTimePattern pattern = DateTimePattern.of(text, Dialect.JAVA_TIME).orElseThrow();
    DateTimeFormatter formatter = DateTimeFormatter.ofPattern(text, Locale.ROOT);
    for (int i = 0; i < CASES; i++) {
      LocalDateTime time = time(random, 1);
      assertThat(write(pattern, time)).isEqualTo(time.format(formatter));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"yyyy-MM-dd HH:mm:ss", "yyMMdd", "d.M.yyyy H'h'", "[yyyy]"})
  void formatsLikeTheLegacyFormat(String text) {
    Random random = seeded.random();
    DateTimePattern pattern = DateTimePattern.of(text, Dialect.LEGACY).orElseThrow();
    SimpleDateFormat format = new SimpleDateFormat(text, Locale.ROOT);
    format.setTimeZone(TimeZone.getTimeZone(ZoneOffset.UTC));
    for (int i = 0; i < CASES; i++) {
      LocalDateTime time = time(random, 1583);
      assertThat(write(pattern, time))
          .isEqualTo(format.format(time.toInstant(ZoneOffset.UTC).toEpochMilli()));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"yyyy-MM-dd HH:mm:ss", "yyyyMMddHHmmssSSSSSSSSS", "dd/MM/uuuu'T'ss"})
  void parsesWhatItFormats(String text) {
    Random random = seeded.random();
    DateTimePattern pattern = DateTimePattern.of(text, Dialect.JAVA_TIME).orElseThrow();
    assertThat(pattern.isReadable()).isTrue();
    DateTimeFormatter formatter = DateTimeFormatter.ofPattern(text, Locale.ROOT);
    for (int i = 0; i < CASES; i++) {
      String written = time(random, 1).format(formatter);
      LocalTime read = pattern.read(written.getBytes(StandardCharsets.UTF_8)).orElseThrow();
      LocalDateTime time =
          LocalDateTime.ofEpochSecond(
              Math.floorDiv(read.millis(), 1_000L),
              (int) Math.floorMod(read.millis(), 1_000L) * 1_000_000 + read.nanos(),
              ZoneOffset.UTC);
      assertThat(time.format(formatter)).isEqualTo(written);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2023-02-29",
        "2023-13-01",
        "0000-01-01",
        "2023-1-01",
        "2023-01-01 ",
        "2O23-01-01"
      })
  void leavesOtherTextsToTheJavaFormatter(String text) {
    DateTimePattern pattern = DateTimePattern.of("yyyy-MM-dd", Dialect.JAVA_TIME).orElseThrow();
    assertThat(pattern.read(text.getBytes(StandardCharsets.UTF_8))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"EEE", "MMM", "yyyyy", "ddd", "hh a", "[HH]", "HH#", "'open", "SSSSSSSSSS"})
  void supportsNumbersAndTextOnly(String text) {
    assertThat(DateTimePattern.of(text, Dialect.JAVA_TIME)).isEmpty();
  }

  @Test
  void readsNumbersOfFixedWidthOnly() {
    assertThat(readable("yy-MM-dd", Dialect.JAVA_TIME)).isFalse();
    assertThat(readable("yyyy-M-dd", Dialect.JAVA_TIME)).isFalse();
    assertThat(readable("yyyy'1'", Dialect.JAVA_TIME)).isFalse();
    assertThat(readable("yyyy yyyy", Dialect.JAVA_TIME)).isFalse();
    assertThat(readable("ss.S", Dialect.JAVA_TIME)).isTrue();
    assertThat(readable("ss.S", Dialect.LEGACY)).isFalse();
    assertThat(readable("ss.SSS", Dialect.LEGACY)).isTrue();
    assertThat(DateTimePattern.of("uuuu", Dialect.LEGACY)).isEqualTo(Optional.empty());
  }

  private static boolean readable(String text, Dialect dialect) {
    return DateTimePattern.of(text, dialect).orElseThrow().isReadable();
  }
}

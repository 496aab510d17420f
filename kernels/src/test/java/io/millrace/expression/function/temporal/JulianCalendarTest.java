// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.expression.function.temporal.JulianCalendar.CivilDate;
import io.millrace.testing.RandomExtension;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.time.temporal.IsoFields;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class JulianCalendarTest {
  private static final int CASES = 5_000;
  private static final int FIRST_DAY = (int) LocalDate.of(1583, 1, 1).toEpochDay();
  private static final int LAST_DAY = (int) LocalDate.of(9999, 12, 31).toEpochDay();

  @RegisterExtension final RandomExtension seeded = new RandomExtension();

  private static LocalDate date(Random random) {
    return LocalDate.ofEpochDay(random.nextInt(FIRST_DAY, LAST_DAY));
  }

  private static int day(LocalDate date) {
    return (int) date.toEpochDay();
  }

  @RepeatedTest(4)
  void fieldsMatchJavaTime() {
    Random random = seeded.random();
    for (int i = 0; i < CASES; i++) {
      LocalDate date = date(random);
      assertField(DateTimeUnit.YEAR, date, date.getYear());
      assertField(DateTimeUnit.QUARTER, date, date.get(IsoFields.QUARTER_OF_YEAR));
      assertField(DateTimeUnit.MONTH, date, date.getMonthValue());
      assertField(DateTimeUnit.WEEK, date, date.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR));
      assertField(DateTimeUnit.ISO_YEAR, date, date.get(IsoFields.WEEK_BASED_YEAR));
      assertField(DateTimeUnit.DAY, date, date.getDayOfMonth());
      assertField(DateTimeUnit.DAY_OF_YEAR, date, date.getDayOfYear());
      assertField(DateTimeUnit.ISO_DAY_OF_WEEK, date, date.getDayOfWeek().getValue());
      assertField(DateTimeUnit.DAY_OF_WEEK, date, date.getDayOfWeek().getValue() % 7 + 1);
      assertField(DateTimeUnit.EPOCH, date, date.toEpochDay() * 86_400);
    }
  }

  private static void assertField(DateTimeUnit unit, LocalDate date, long expected) {
    assertThat(JulianCalendar.extract(unit, day(date)))
        .as("%s of %s", unit, date)
        .isEqualTo(expected);
  }

  @RepeatedTest(4)
  void unitsStartAsInJavaTime() {
    Random random = seeded.random();
    for (int i = 0; i < CASES; i++) {
      LocalDate date = date(random);
      LocalDate month = date.withDayOfMonth(1);
      int quarter = (date.getMonthValue() - 1) / 3 * 3 + 1;
      assertFloor(DateTimeUnit.YEAR, date, date.withDayOfYear(1));
      assertFloor(DateTimeUnit.QUARTER, date, month.withMonth(quarter));
      assertFloor(DateTimeUnit.MONTH, date, month);
      assertFloor(DateTimeUnit.WEEK, date, date.minusDays(date.getDayOfWeek().getValue() % 7));
      assertFloor(DateTimeUnit.DAY, date, date);
      assertFloor(
          DateTimeUnit.DECADE, date, date.withDayOfYear(1).withYear(date.getYear() / 10 * 10));
      boolean begins = date.equals(month);
      assertThat(JulianCalendar.ceil(DateTimeUnit.MONTH, day(date) + JulianCalendar.EPOCH_JULIAN))
          .as("next month of %s", date)
          .isEqualTo(day(begins ? date : month.plusMonths(1)));
    }
  }

  private static void assertFloor(DateTimeUnit unit, LocalDate date, LocalDate expected) {
    assertThat(JulianCalendar.floor(unit, day(date) + JulianCalendar.EPOCH_JULIAN))
        .as("%s of %s", unit, date)
        .isEqualTo(day(expected));
  }

  @RepeatedTest(4)
  void monthsAreAddedAndCountedAsInJavaTime() {
    Random random = seeded.random();
    for (int i = 0; i < CASES; i++) {
      LocalDate date = date(random);
      int months = random.nextInt(-6_000, 6_000);
      assertThat(JulianCalendar.addMonths(day(date), months))
          .as("%s and %s months", date, months)
          .isEqualTo(day(date.plusMonths(months)));
      LocalDate later = date.plusDays(random.nextInt(20_000));
      int between = (int) ChronoUnit.MONTHS.between(date, later);
      int expected = date.plusMonths(between + 1L).isAfter(later) ? between : between + 1;
      assertThat(JulianCalendar.subtractMonths(day(later), day(date)))
          .as("from %s to %s", date, later)
          .isEqualTo(expected);
    }
  }

  @RepeatedTest(4)
  void datesOfAllDaysMatchJavaTime() {
    Random random = seeded.random();
    for (int i = 0; i < CASES; i++) {
      long day = random.nextLong(-365_000_000_000L, 365_000_000_000L);
      LocalDate date = LocalDate.ofEpochDay(day);
      CivilDate civil = new CivilDate(date.getYear(), date.getMonthValue(), date.getDayOfMonth());
      assertThat(JulianCalendar.civilDateOfEpochDay(day)).isEqualTo(civil);
      assertThat(JulianCalendar.epochDayOfCivilDate(civil)).isEqualTo(day);
    }
  }

  // Recorded from Flink 2.3.0, which rounds by the Julian calendar here.
  @Test
  void roundingFollowsTheJulianCalendarBefore1582() {
    int julian = day(LocalDate.of(1582, 10, 4)) + JulianCalendar.EPOCH_JULIAN;
    assertThat(JulianCalendar.floor(DateTimeUnit.DAY, julian))
        .isEqualTo(day(LocalDate.of(1582, 9, 24)));
    assertThat(JulianCalendar.floor(DateTimeUnit.QUARTER, julian))
        .isEqualTo(day(LocalDate.of(1582, 7, 1)));
    assertThat(JulianCalendar.ceil(DateTimeUnit.WEEK, julian))
        .isEqualTo(day(LocalDate.of(1582, 9, 30)));
  }

  @Test
  void ceilOfTheStartOfADecadeIsTheNextDecade() {
    int julian = day(LocalDate.of(2020, 1, 1)) + JulianCalendar.EPOCH_JULIAN;
    assertThat(JulianCalendar.ceil(DateTimeUnit.DECADE, julian))
        .isEqualTo(day(LocalDate.of(2030, 1, 1)));
    assertThat(JulianCalendar.ceil(DateTimeUnit.YEAR, julian))
        .isEqualTo(day(LocalDate.of(2020, 1, 1)));
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneOffsetTransitionRule;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.function.LongUnaryOperator;

/**
 * The offsets of a time zone in milliseconds, by instant or by local time. {@code
 * datetime_zone.cuh} reads the table on the device. Immutable.
 *
 * <p>After the last irregular transition the table continues for 28 years, which cover every kind
 * of year (weekday of the first day, leap or not); later years use the offsets of the year of the
 * same kind.
 *
 * <p>Flink uses {@link ZoneRules} in casts and DATE_FORMAT, and {@link TimeZone} in the other
 * functions. The latter knows no offsets before 1900 and resolves gaps and overlaps of local time
 * differently, so there are separate tables.
 */
final class ZoneOffsetTable {
  /** The table of a zero offset. */
  static final ZoneOffsetTable UTC =
      new ZoneOffsetTable(new long[0], new int[] {0}, 0, new long[0]);

  private static final int KINDS_OF_YEARS = 14;
  private static final int CYCLE_YEARS = 28;
  private static final int FIRST_SAMPLED_YEAR = 1890;
  private static final int LAST_CENTURY_IN_CYCLE = 2100;
  private static final int FIRST_CYCLE_YEAR = 2040;
  private static final int HEADER_BYTES = 16;

  private final long[] starts;
  private final int[] offsets;
  private final long end;
  private final long[] yearStarts;

  private ZoneOffsetTable(long[] starts, int[] offsets, long end, long[] yearStarts) {
    this.starts = starts;
    this.offsets = offsets;
    this.end = end;
    this.yearStarts = yearStarts;
  }

  /** Offsets by instant, as in {@link ZoneRules#getOffset(Instant)}. */
  static ZoneOffsetTable ofInstants(ZoneId zone) {
    ZoneRules rules = zone.getRules();
    return build(rules, millis -> millisOf(rules.getOffset(Instant.ofEpochMilli(millis))));
  }

  /**
   * Offsets by local time, as in {@link LocalDateTime#atZone}: the offset before a gap or overlap.
   */
  static ZoneOffsetTable ofLocalTimes(ZoneId zone) {
    return build(
        zone.getRules(), millis -> millisOf(local(millis).atZone(zone).toInstant(), millis));
  }

  /** Offsets by instant, as in {@link TimeZone#getOffset(long)}. */
  static ZoneOffsetTable ofInstants(TimeZone zone) {
    return build(zone.toZoneId().getRules(), zone::getOffset);
  }

  /** Offsets by local time, as in a lenient {@link GregorianCalendar}. */
  static ZoneOffsetTable ofLocalTimes(TimeZone zone) {
    GregorianCalendar calendar = new GregorianCalendar(zone, Locale.ROOT);
    return build(
        zone.toZoneId().getRules(),
        millis -> {
          LocalDateTime time = local(millis);
          calendar.clear();
          calendar.set(
              time.getYear(),
              time.getMonthValue() - 1,
              time.getDayOfMonth(),
              time.getHour(),
              time.getMinute(),
              time.getSecond());
          return millis - time.getNano() / 1_000_000 - calendar.getTimeInMillis();
        });
  }

  private static LocalDateTime local(long millis) {
    return LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), ZoneOffset.UTC);
  }

  private static long millisOf(ZoneOffset offset) {
    return offset.getTotalSeconds() * 1_000L;
  }

  private static long millisOf(Instant instant, long localMillis) {
    return localMillis - instant.toEpochMilli();
  }

  private static ZoneOffsetTable build(ZoneRules rules, LongUnaryOperator offsetAt) {
    if (rules.isFixedOffset()) {
      return new ZoneOffsetTable(
          new long[0], new int[] {(int) offsetAt.applyAsLong(0)}, Long.MAX_VALUE, new long[0]);
    }
    boolean repeats = !rules.getTransitionRules().isEmpty();
    int cycleYear = cycleYear(rules);
    int endYear = cycleYear + CYCLE_YEARS;
    long[] samples = samples(rules, endYear);
    List<Long> starts = new ArrayList<>();
    List<Integer> offsets = new ArrayList<>();
    offsets.add((int) offsetAt.applyAsLong(samples[0]));
    for (int i = 1; i < samples.length; i++) {
      int offset = (int) offsetAt.applyAsLong(samples[i]);
      long from = samples[i - 1];
      while (offset != offsets.get(offsets.size() - 1)) {
        from = firstDifferent(offsetAt, from, samples[i]);
        starts.add(from);
        offsets.add((int) offsetAt.applyAsLong(from));
      }
    }
    return new ZoneOffsetTable(
        starts.stream().mapToLong(Long::longValue).toArray(),
        offsets.stream().mapToInt(Integer::intValue).toArray(),
        startOfYear(endYear),
        repeats ? yearStarts(cycleYear) : new long[0]);
  }

  /** The first of the 28 years that represent all later years; none of them skips its leap day. */
  private static int cycleYear(ZoneRules rules) {
    List<ZoneOffsetTransition> transitions = rules.getTransitions();
    int last =
        transitions.isEmpty()
            ? FIRST_CYCLE_YEAR
            : transitions.get(transitions.size() - 1).getDateTimeBefore().getYear() + 2;
    int year = Math.max(last, FIRST_CYCLE_YEAR);
    return year + CYCLE_YEARS > LAST_CENTURY_IN_CYCLE
        ? Math.max(year, LAST_CENTURY_IN_CYCLE + 1)
        : year;
  }

  // Samples around each transition of java.time, the earliest time that TimeZone knows, and each
  // year.
  private static long[] samples(ZoneRules rules, int endYear) {
    List<ZoneOffsetTransition> transitions = new ArrayList<>(rules.getTransitions());
    int lastYear =
        transitions.isEmpty()
            ? FIRST_SAMPLED_YEAR
            : transitions.get(transitions.size() - 1).getDateTimeBefore().getYear();
    for (int year = lastYear; year < endYear; year++) {
      for (ZoneOffsetTransitionRule rule : rules.getTransitionRules()) {
        transitions.add(rule.createTransition(year));
      }
    }
    TreeSet<Long> samples = new TreeSet<>();
    for (ZoneOffsetTransition transition : transitions) {
      long millis = transition.toEpochSecond() * 1_000;
      long before = millis + millisOf(transition.getOffsetBefore());
      long after = millis + millisOf(transition.getOffsetAfter());
      for (long at : new long[] {millis, before, after}) {
        samples.addAll(List.of(at - 1, at));
      }
    }
    for (int year = FIRST_SAMPLED_YEAR; year <= endYear; year++) {
      samples.add(startOfYear(year));
    }
    samples.removeIf(at -> at > startOfYear(endYear));
    return samples.stream().mapToLong(Long::longValue).toArray();
  }

  private static long firstDifferent(LongUnaryOperator offsetAt, long same, long different) {
    long offset = offsetAt.applyAsLong(same);
    long low = same;
    long high = different;
    while (high - low > 1) {
      long middle = low + (high - low) / 2;
      if (offsetAt.applyAsLong(middle) == offset) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }

  private static long[] yearStarts(int cycleYear) {
    long[] result = new long[KINDS_OF_YEARS];
    for (int year = cycleYear; year < cycleYear + CYCLE_YEARS; year++) {
      result[kindOf(year)] = startOfYear(year);
    }
    return result;
  }

  private static int kindOf(int year) {
    int leap = Year.isLeap(year) ? 1 : 0;
    return leap * 7 + LocalDate.of(year, 1, 1).getDayOfWeek().getValue() - 1;
  }

  private static long startOfYear(int year) {
    return LocalDate.of(year, 1, 1).toEpochDay() * DateTimeArithmetic.MILLIS_PER_DAY;
  }

  /** The offset at a time, both in milliseconds. */
  long offset(long millis) {
    long time = yearStarts.length > 0 && millis >= end ? equivalent(millis) : millis;
    int index = Arrays.binarySearch(starts, time);
    return offsets[index < 0 ? -index - 1 : index + 1];
  }

  private long equivalent(long millis) {
    long day = Math.floorDiv(millis, DateTimeArithmetic.MILLIS_PER_DAY);
    int year = JulianCalendar.civilDateOfEpochDay(day).year();
    long yearStart = JulianCalendar.epochDayOfCivilDate(new JulianCalendar.CivilDate(year, 1, 1));
    int leap = JulianCalendar.lastDayOfMonth(year, 2) - 28;
    int kind = leap * 7 + Math.floorMod(yearStart + 3, 7);
    return millis - yearStart * DateTimeArithmetic.MILLIS_PER_DAY + yearStarts[kind];
  }

  /** The table in the layout of the device functions; its length is a multiple of 8 bytes. */
  byte[] toBytes() {
    int bytes =
        HEADER_BYTES
            + (starts.length + yearStarts.length) * Long.BYTES
            + (offsets.length + 1) / 2 * Long.BYTES;
    ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(starts.length).putInt(yearStarts.length > 0 ? 1 : 0);
    buffer.putLong(end);
    for (long start : starts) {
      buffer.putLong(start);
    }
    for (long start : yearStarts) {
      buffer.putLong(start);
    }
    for (int offset : offsets) {
      buffer.putInt(offset);
    }
    return buffer.array();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.window.Cumulate;
import io.millrace.operators.window.Hop;
import io.millrace.operators.window.Session;
import io.millrace.operators.window.TimeWindow;
import io.millrace.operators.window.Tumble;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.types.Row;

/**
 * A random query over a window table-valued function, and rows for it, out of order and some of
 * them late.
 *
 * @param schema of the rows: the columns of {@code groupBy}, a time and a watermark
 * @param rows whose last column has the watermark behind the row; null if there is none
 * @param isGroupWindow whether the window is a group window, such as in GROUP BY TUMBLE(...), and
 *     not a table-valued function
 */
record RandomWindowQuery(
    RandomGroupBy groupBy,
    Schema schema,
    List<Row> rows,
    TimeWindow window,
    String windowSql,
    boolean isGroupWindow) {
  static final String TIME = "ts";
  static final String WATERMARK = "w";

  private static final ZoneId UTC = ZoneId.of("UTC");
  private static final List<ZoneId> FIXED_ZONES =
      List.of(UTC, ZoneId.of("Asia/Shanghai"), ZoneId.of("Asia/Kolkata"));
  private static final List<ZoneId> ZONES =
      List.of(
          UTC,
          ZoneId.of("Asia/Shanghai"),
          ZoneId.of("Asia/Kolkata"),
          ZoneId.of("America/New_York"),
          ZoneId.of("Australia/Sydney"));
  private static final long[] STEPS_OF_HALF_AN_HOUR = {
    1, 20, 1_000, 12_000, 75_000, 60_000, 600_000, 1_800_000
  };

  /** The window functions. */
  enum Function {
    TUMBLE,
    HOP,
    CUMULATE,
    SESSION
  }

  // Around the changes of summer time in New York and Sydney, the epoch, and before it.
  private static final List<Instant> STARTS =
      List.of(
          Instant.parse("2024-03-10T05:00:00Z"),
          Instant.parse("2024-11-03T04:00:00Z"),
          Instant.parse("2024-04-06T14:30:00Z"),
          Instant.parse("2024-06-15T12:34:56.789Z"),
          Instant.parse("1970-01-01T00:00:00Z"),
          Instant.parse("1963-02-03T04:05:06Z"));
  private static final int MAX_STEPS = 6;
  private static final int SLICES = 15;

  /**
   * A query that Flink answers with all rows in {@code zone}. In zones other than UTC its window
   * functions may lose rows (see {@link WindowAggregateParityTest}), and group windows do not; for
   * CUMULATE there is no group window, and a step that divides the zone's offset to UTC loses none.
   *
   * @param addsFloatingPoint whether it has sums that depend on the order of additions
   * @param hasLateRows whether rows may be late
   * @param zone of the session; one of {@link #zones}
   */
  static RandomWindowQuery of(
      Random random,
      Function function,
      boolean isInstant,
      boolean addsFloatingPoint,
      boolean hasLateRows,
      ZoneId zone) {
    boolean isShifted = isInstant && !zone.equals(UTC);
    boolean isSession = function == Function.SESSION;
    boolean isGroupWindow = isShifted && function != Function.CUMULATE && !isSession;
    RandomGroupBy groupBy = RandomGroupBy.of(random, false, addsFloatingPoint);
    long step =
        isShifted && !isGroupWindow && !isSession
            ? STEPS_OF_HALF_AN_HOUR[random.nextInt(STEPS_OF_HALF_AN_HOUR.length)]
            : step(random);
    boolean hasOneStep = function == Function.TUMBLE || isSession;
    long size = hasOneStep ? step : step * (1 + random.nextInt(MAX_STEPS));
    long offset =
        !isGroupWindow && !isSession && random.nextInt(3) == 0
            ? random.nextLong(-step + 1, step)
            : 0;
    List<Field> fields = new ArrayList<>(groupBy.schema().fields());
    fields.add(new Field(TIME, DataType.timestamp(3, isInstant), random.nextBoolean()));
    fields.add(Field.of(WATERMARK, DataType.INT64));
    List<Row> rows = rows(random, groupBy.rows(), isInstant, step, hasLateRows);
    if (isSession) {
      return new RandomWindowQuery(
          groupBy,
          new Schema(fields),
          rows,
          Session.over(TIME, Duration.ofMillis(step)),
          session(groupBy.keys(), step),
          false);
    }
    return new RandomWindowQuery(
        groupBy,
        new Schema(fields),
        rows,
        window(function, size, step).offset(Duration.ofMillis(offset)),
        isGroupWindow ? groupWindow(function, size, step) : sql(function, size, step, offset),
        isGroupWindow);
  }

  private static String session(List<String> keys, long gap) {
    String partition =
        keys.stream().map(key -> "`" + key + "`").collect(Collectors.joining(", ", "(", ")"));
    return "SESSION(TABLE t PARTITION BY "
        + partition
        + ", DESCRIPTOR("
        + TIME
        + "), "
        + interval(gap)
        + ")";
  }

  /** Zones in which windows can be compared. */
  static List<ZoneId> zones(Function function) {
    return function == Function.CUMULATE || function == Function.SESSION ? FIXED_ZONES : ZONES;
  }

  private static long step(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> 1 + random.nextInt(50);
      case 1 -> 1_000L * (1 + random.nextInt(20));
      case 2 -> 1 + random.nextInt(100_000);
      default -> 60_000L * (1 + random.nextInt(90));
    };
  }

  private static TimeWindow window(Function function, long size, long step) {
    Duration width = Duration.ofMillis(size);
    Duration stepWidth = Duration.ofMillis(step);
    return switch (function) {
      case TUMBLE -> Tumble.over(TIME, width);
      case HOP -> Hop.over(TIME, width).every(stepWidth);
      case CUMULATE -> Cumulate.over(TIME, width).every(stepWidth);
      case SESSION -> Session.over(TIME, width);
    };
  }

  private static String sql(Function function, long size, long step, long offset) {
    String steps = function == Function.TUMBLE ? "" : interval(step) + ", ";
    String moved = offset == 0 ? "" : ", " + interval(offset);
    return function + "(TABLE t, DESCRIPTOR(" + TIME + "), " + steps + interval(size) + moved + ")";
  }

  private static String groupWindow(Function function, long size, long step) {
    String slide = function == Function.TUMBLE ? "" : interval(step) + ", ";
    return function + "(" + TIME + ", " + slide + interval(size) + ")";
  }

  private static String interval(long millis) {
    long absolute = Math.abs(millis);
    return String.format(
        "INTERVAL %s'%d.%03d' SECOND(6, 3)",
        millis < 0 ? "-" : "", absolute / 1_000, absolute % 1_000);
  }

  private static List<Row> rows(
      Random random, List<Row> rows, boolean isInstant, long step, boolean hasLateRows) {
    long start = STARTS.get(random.nextInt(STARTS.size())).toEpochMilli();
    long span = step * (1 + random.nextInt(SLICES));
    long disorder = random.nextBoolean() ? 1 + random.nextLong(3 * step) : 1;
    long latest = start;
    List<Row> timed = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      long time = start + span * i / rows.size() - random.nextLong(disorder);
      latest = Math.max(latest, time);
      Long watermark =
          random.nextInt(8) == 0
              ? Long.valueOf(latest - (hasLateRows ? random.nextLong(disorder) : disorder))
              : null;
      timed.add(Row.join(rows.get(i), Row.of(timestamp(time, isInstant), watermark)));
    }
    return timed;
  }

  private static Object timestamp(long millis, boolean isInstant) {
    Instant instant = Instant.ofEpochMilli(millis);
    return isInstant ? instant : instant.atOffset(ZoneOffset.UTC).toLocalDateTime();
  }

  /** The milliseconds since 1970-01-01T00:00 of {@link #timestamp}. */
  static long millis(Object timestamp) {
    return timestamp instanceof Instant instant
        ? instant.toEpochMilli()
        : ((LocalDateTime) timestamp).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  /** Those without averages, which may wrap in Flink. */
  List<Aggregate> aggregates() {
    return IntStream.range(0, groupBy.aggregates().size())
        .filter(i -> groupBy.averages().get(i) == null)
        .mapToObj(groupBy.aggregates()::get)
        .toList();
  }

  List<String> keys() {
    return groupBy.keys();
  }

  /** The query in SQL, over a table {@code t}. */
  String sql() {
    return isGroupWindow ? groupWindowSql() : windowFunctionSql();
  }

  private String windowFunctionSql() {
    List<String> windowColumns = List.of("window_start", "window_end", "window_time");
    return "SELECT "
        + listed(quotedKeys(), aggregates(), windowColumns)
        + " FROM TABLE("
        + windowSql
        + ") GROUP BY "
        + listed(quotedKeys(), windowColumns);
  }

  private String groupWindowSql() {
    int open = windowSql.indexOf('(');
    List<String> windowColumns =
        Stream.of("_START", "_END", "_ROWTIME")
            .map(property -> new StringBuilder(windowSql).insert(open, property).toString())
            .toList();
    return "SELECT "
        + listed(quotedKeys(), aggregates(), windowColumns)
        + " FROM t GROUP BY "
        + listed(quotedKeys(), List.of(windowSql));
  }

  private List<String> quotedKeys() {
    return keys().stream().map(key -> "`" + key + "`").toList();
  }

  private static String listed(List<?>... items) {
    return Stream.of(items)
        .flatMap(List::stream)
        .map(Object::toString)
        .collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return sql()
        + " with t "
        + schema
        + rows.stream().limit(10).map(row -> "\n    " + row).collect(Collectors.joining())
        + (rows.size() > 10 ? "\n    and " + (rows.size() - 10) + " rows more" : "");
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Expected values were recorded from Flink 2.3.0. */
class DateTimeFunctionsTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("America/Bahia_Banderas"), FunctionRegistry.builtIn());

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private Object evaluate(Expression expression) {
    return evaluate(expression, "a");
  }

  private Object evaluate(Expression expression, String text) {
    try (Table table = new TableBuilder().column("s", DataType.STRING, text, null).build(device);
        Table result =
            calc(table.schema(), expression).apply(table, device.stream(), device.memory())) {
      return device.rows(result).get(0).get(0);
    }
  }

  private static Calc calc(Schema schema, Expression expression) {
    return Calc.of(schema, Optional.empty(), List.of(expression.as("r")), CONTEXT);
  }

  private static Expression timestamp(String text) {
    return lit(LocalDateTime.parse(text));
  }

  @ParameterizedTest
  @CsvSource({
    "2024-02-29T12:34:56.789, CENTURY, 21, 21",
    "2024-02-29T12:34:56.789, WEEK, 9, 9",
    "2024-02-29T12:34:56.789, DOW, 5, 5",
    "2024-02-29T12:34:56.789, HOUR, 12, 6",
    "2024-02-29T12:34:56.789, MILLISECOND, 789, 789",
    "2024-02-29T12:34:56.789, EPOCH, 1709210096, 1709188496",
    "1969-12-31T23:59:59.999, YEAR, 1970, 1970",
    "1969-12-31T23:59:59.999, HOUR, 0, -7",
    "2021-01-03T00:00:00, ISOYEAR, 2020, 2020",
    "2021-01-03T00:00:00, WEEK, 53, 53",
    "2021-01-03T00:00:00, DAY, 3, 2",
    "1582-10-04T00:00:00, DOY, 277, 277"
  })
  void fieldsMatchFlink(String text, String unit, long expected, long expectedInZone) {
    LocalDateTime time = LocalDateTime.parse(text);
    assertThat(evaluate(call("EXTRACT", unit, time))).isEqualTo(expected);
    assertThat(evaluate(call("EXTRACT", unit, Instant.parse(text + "Z"))))
        .isEqualTo(expectedInZone);
  }

  @Test
  void fractionsCountWithinTheSecond() {
    Expression time = timestamp("2024-02-29T12:34:56.789123456");
    assertThat(evaluate(call("EXTRACT", "MICROSECOND", time))).isEqualTo(789_123L);
    assertThat(evaluate(call("EXTRACT", "NANOSECOND", time))).isEqualTo(789_123_456L);
    assertThat(evaluate(call("SECOND", time))).isEqualTo(56L);
    assertThat(evaluate(call("MINUTE", LocalTime.of(9, 8, 7)))).isEqualTo(8L);
  }

  @ParameterizedTest
  @CsvSource({
    "1969-12-31T23:59:59.999, DECADE, 1970-01-01T07:00:00Z, 1980-01-01T07:00:00Z",
    "1969-12-31T23:59:59.999, WEEK, 1969-12-28T07:00:00Z, 1970-01-04T07:00:00Z",
    "2021-01-03T00:00:00, WEEK, 2020-12-27T06:00:00Z, 2021-01-03T06:00:00Z",
    "2020-12-31T00:00:00, DAY, 2020-12-30T06:00:00Z, 2020-12-31T06:00:00Z",
    "2024-02-29T12:34:56.789, MONTH, 2024-02-01T06:00:00Z, 2024-03-01T06:00:00Z",
    "1582-10-04T00:00:00, QUARTER, 1582-07-01T06:00:00Z, 1582-10-01T06:00:00Z"
  })
  void instantsAreRoundedInTheSessionsZone(String text, String unit, String floor, String ceil) {
    Instant instant = Instant.parse(text + "Z");
    assertThat(evaluate(call("FLOOR TO", instant, unit))).isEqualTo(Instant.parse(floor));
    assertThat(evaluate(call("CEIL TO", instant, unit))).isEqualTo(Instant.parse(ceil));
  }

  @Test
  void roundingKeepsTheType() {
    Expression time = timestamp("2024-02-29T12:34:56.789123456");
    assertThat(evaluate(call("CEIL TO", time, "MILLISECOND")))
        .isEqualTo(LocalDateTime.parse("2024-02-29T12:34:56.790"));
    assertThat(evaluate(call("FLOOR TO", time, "HOUR")))
        .isEqualTo(LocalDateTime.parse("2024-02-29T12:00"));
    assertThat(evaluate(call("CEIL TO", LocalTime.of(1, 2, 3), "MINUTE")))
        .isEqualTo(LocalTime.of(1, 3));
    assertThat(evaluate(call("CEIL TO", LocalDate.of(2024, 2, 29), "DAY")))
        .isEqualTo(LocalDate.of(2024, 3, 1));
    assertThat(evaluate(call("FLOOR TO", LocalDate.of(2024, 2, 29), "HOUR")))
        .isEqualTo(LocalDate.of(2024, 2, 29));
  }

  @Test
  void intervalsAreAdded() {
    assertThat(evaluate(call("TIMESTAMPADD", "MONTH", 1, LocalDate.of(2024, 1, 31))))
        .isEqualTo(LocalDate.of(2024, 2, 29));
    assertThat(evaluate(call("TIMESTAMPADD", "WEEK", -1, LocalDate.of(2024, 1, 3))))
        .isEqualTo(LocalDate.of(2023, 12, 27));
    assertThat(evaluate(call("TIMESTAMPADD", "HOUR", 25, LocalDate.of(2024, 1, 1))))
        .isEqualTo(LocalDateTime.of(2024, 1, 2, 1, 0));
    assertThat(evaluate(call("TIMESTAMPADD", "HOUR", -2, LocalTime.of(1, 0))))
        .isEqualTo(LocalTime.of(23, 0));
    assertThat(
            evaluate(
                call("TIMESTAMPADD", "QUARTER", 1L, timestamp("2023-11-30T01:02:03.123456789"))))
        .isEqualTo(LocalDateTime.parse("2024-02-29T01:02:03.123456789"));
    assertThat(evaluate(call("TIMESTAMPADD", "SECOND", 1, timestamp("2023-11-30T01:02:03.123456"))))
        .isEqualTo(LocalDateTime.parse("2023-11-30T01:02:04.123456"));
  }

  @Test
  void millisecondsMakeATimestampOfMilliseconds() {
    Expression seconds =
        new Expression.Cast(timestamp("2024-01-01T00:00"), DataType.timestamp(0), false);
    assertThat(evaluate(call("TIMESTAMPADD", "MILLISECOND", 1, seconds)))
        .isEqualTo(LocalDateTime.parse("2024-01-01T00:00:00.001"));
    Calc calc = calc(new Schema(List.of()), call("TIMESTAMPADD", "MILLISECOND", 1, seconds));
    assertThat(calc.outputSchema().field(0).type()).isEqualTo(DataType.timestamp(3));
  }

  @Test
  void differencesAreWholeUnits() {
    Expression from = timestamp("2024-01-31T12:00:00");
    Expression to = timestamp("2024-02-29T11:59:59");
    assertThat(evaluate(call("TIMESTAMPDIFF", "MONTH", from, to))).isEqualTo(0);
    assertThat(evaluate(call("TIMESTAMPDIFF", "DAY", from, to))).isEqualTo(28);
    assertThat(evaluate(call("TIMESTAMPDIFF", "DAY", to, from))).isEqualTo(-28);
    assertThat(evaluate(call("TIMESTAMPDIFF", "WEEK", from, to))).isEqualTo(4);
    assertThat(evaluate(call("TIMESTAMPDIFF", "NANOSECOND", to, from)))
        .isEqualTo(-2_505_599_000_000_000L);
    assertThat(
            evaluate(
                call(
                    "TIMESTAMPDIFF", "YEAR", LocalDate.of(2000, 2, 29), LocalDate.of(2024, 2, 28))))
        .isEqualTo(23);
  }

  @Test
  void timestampsAreFormatted() {
    Expression time = timestamp("2024-02-29T12:34:56.789123");
    assertThat(evaluate(call("DATE_FORMAT", time, "yyyyMMdd HH:mm:ss.SSSSSS")))
        .isEqualTo("20240229 12:34:56.789123");
    Expression instant = lit(Instant.parse("2024-02-29T12:34:56.789Z"));
    assertThat(evaluate(call("DATE_FORMAT", instant, "dd.MM.yy H"))).isEqualTo("29.02.24 6");
    assertThat(evaluate(call("DATE_FORMAT", timestamp("2024-02-29T12:34:56"), "D")))
        .isEqualTo("60");
    assertThat(evaluate(call("DATE_FORMAT", "2024-02-29 01:02:03", "yyyy/M/d H")))
        .isEqualTo("2024/2/29 1");
    assertThat(evaluate(call("DATE_FORMAT", "2024", "yyyy"))).isNull();
    assertThat(evaluate(call("DATE_FORMAT", time, col("s")), "HH:mm")).isEqualTo("12:34");
  }

  @Test
  void secondsAreFormattedInTheSessionsZone() {
    assertThat(evaluate(call("FROM_UNIXTIME", -5_000_000_000L))).isEqualTo("1811-07-23 09:06:40");
    assertThat(evaluate(call("FROM_UNIXTIME", 1_700_000_000, "yyyyMMdd HH")))
        .isEqualTo("20231114 16");
    assertThat(evaluate(call("FROM_UNIXTIME", -50_000_000_000L))).isEqualTo("0385-07-24 01:06:40");
  }

  @Test
  void textsBecomeSeconds() {
    assertThat(evaluate(call("UNIX_TIMESTAMP", col("s")), "2023-07-01 12:00:00"))
        .isEqualTo(1_688_234_400L);
    assertThat(evaluate(call("UNIX_TIMESTAMP", col("s")), "2023-07-01 12:00"))
        .isEqualTo(Long.MIN_VALUE);
    assertThat(evaluate(call("UNIX_TIMESTAMP", col("s"), "yyyy-MM-dd"), "2023-13-01"))
        .isEqualTo(1_704_088_800L);
  }

  @ParameterizedTest
  @CsvSource({
    "1970-01-01 00:00:00, UTC, America/Los_Angeles, 1969-12-31 16:00:00",
    "2022-10-30 02:30:00, Europe/Berlin, UTC, 2022-10-30 01:30:00",
    "2022-03-27 02:30:00, Europe/Berlin, UTC, 2022-03-27 01:30:00",
    "2022-03-27, UTC, UTC,"
  })
  void textsAreConvertedBetweenZones(String text, String from, String to, String expected) {
    assertThat(evaluate(call("CONVERT_TZ", col("s"), from, to), text)).isEqualTo(expected);
  }

  @Test
  void textsBecomeDates() {
    assertThat(evaluate(call("TO_DATE", col("s")), " 2023-2-3"))
        .isEqualTo(LocalDate.of(2023, 2, 3));
    assertThat(evaluate(call("TO_DATE", col("s")), "2023-02-30")).isNull();
    assertThat(evaluate(call("TO_DATE", col("s"), "yyyy-MM-dd"), "2023-02-30"))
        .isEqualTo(LocalDate.of(2023, 3, 2));
    assertThat(evaluate(call("TO_DATE", col("s"), "yyyy-MM-dd"), "x"))
        .isEqualTo(LocalDate.ofEpochDay(622_191_233));
  }

  @ParameterizedTest
  @CsvSource({
    "2023-02-30 10:00:00, 2023-02-28T10:00",
    "2023-2-3 4:5:6.7896, 2023-02-03T04:05:06.789",
    "2023-01-01 24:00:00, 2023-01-02T00:00",
    "2023-01-01, 2023-01-01T00:00",
    "2023-01-01T00:00:00,",
    "0000-01-01,"
  })
  void textsBecomeTimestamps(String text, LocalDateTime expected) {
    assertThat(evaluate(call("TO_TIMESTAMP", col("s")), text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "2023-7-1 9:05:01, yyyy-MM-dd HH:mm, 2023-07-01T09:05:01",
    "01.02.2023, dd.MM.yyyy, 2023-02-01T00:00",
    "02-30, MM-dd,",
    "12:30, HH:mm, 1970-01-01T12:30",
    "x, yyyy,",
    "2023, yyy[, 2023-01-01T00:00",
    "2023, yyy{,"
  })
  void textsBecomeTimestampsByPattern(String text, String pattern, LocalDateTime expected) {
    assertThat(evaluate(call("TO_TIMESTAMP", col("s"), pattern), text)).isEqualTo(expected);
  }

  @Test
  void numbersBecomeInstants() {
    assertThat(evaluate(call("TO_TIMESTAMP_LTZ", 1_700_000_000_123L)))
        .isEqualTo(Instant.parse("2023-11-14T22:13:20.123Z"));
    assertThat(evaluate(call("TO_TIMESTAMP_LTZ", -1L, 6)))
        .isEqualTo(Instant.parse("1969-12-31T23:59:59.999999Z"));
    assertThat(evaluate(call("TO_TIMESTAMP_LTZ", -62_167_219_200_001L, 3))).isNull();
    assertThat(evaluate(call("TO_TIMESTAMP_LTZ", 1_700_000_000.5, 0)))
        .isEqualTo(Instant.parse("2023-11-14T22:13:20.500Z"));
    assertThat(evaluate(call("TO_TIMESTAMP_LTZ", 2.5e11, 0)))
        .isEqualTo(Instant.parse("2262-04-11T23:47:16.854Z"));
    assertThat(
            evaluate(
                call("TO_TIMESTAMP_LTZ", col("s"), "yyyy-MM-dd HH:mm:ss.SSSSSS", "Europe/Berlin"),
                "2023-07-01 12:00:00.000001"))
        .isEqualTo(Instant.parse("2023-07-01T10:00:00.000001Z"));
  }

  @Test
  void aNullOfAPrecisionAFormatOrAZoneGivesNull() {
    Expression text = lit("2023-07-01 12:00:00");
    Expression nothing = nullOf(DataType.STRING);
    assertThat(evaluate(call("TO_TIMESTAMP_LTZ", 1L, nullOf(DataType.INT32)))).isNull();
    assertThat(evaluate(call("TO_TIMESTAMP_LTZ", nullOf(DataType.INT64), 6))).isNull();
    assertThat(evaluate(call("TO_TIMESTAMP_LTZ", text, nothing))).isNull();
    assertThat(evaluate(call("TO_TIMESTAMP_LTZ", text, "yyyy-MM-dd HH:mm:ss", nothing))).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"EEE", "hh a", "yyyy-[MM]"})
  void saysWhyAPatternNeedsTheHost(String pattern) {
    TypedExpression bound =
        new ExpressionResolver(new Schema(List.of()), CONTEXT)
            .resolve(call("DATE_FORMAT", timestamp("2024-01-01T00:00"), pattern));
    BoundFunction function = ((TypedExpression.Call) bound).function();
    assertThat(function.device()).isEmpty();
    assertThat(function.hostReason()).isEqualTo(PatternBinding.HOST_PATTERN);
  }

  @Test
  void refusesUnitsThatATypeDoesNotHave() {
    assertThatThrownBy(() -> evaluate(call("EXTRACT", "YEAR", LocalTime.NOON)))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining(
            "expected one of the units HOUR, MINUTE, SECOND, MILLISECOND, got YEAR");
    assertThatThrownBy(
            () -> evaluate(call("FLOOR TO", timestamp("2024-01-01T00:00"), "NANOSECOND")))
        .hasMessageContaining(", got NANOSECOND");
    assertThatThrownBy(() -> evaluate(call("TIMESTAMPADD", "DAY", 1.5, LocalDate.EPOCH)))
        .hasMessageContaining("1.5 is DOUBLE");
    assertThatThrownBy(() -> evaluate(call("DATE_FORMAT", timestamp("2024-01-01T00:00"), "b{")))
        .hasMessageContaining("the pattern 'b{' is malformed");
  }

  @Test
  void readsAsSql() {
    assertThat(call("EXTRACT", "YEAR", col("t"))).hasToString("EXTRACT(YEAR FROM `t`)");
    assertThat(call("FLOOR TO", col("t"), "DAY")).hasToString("FLOOR(`t` TO DAY)");
    assertThat(call("TIMESTAMPADD", "DAY", 1, col("t"))).hasToString("TIMESTAMPADD(DAY, 1, `t`)");
    assertThat(call("TIMESTAMPDIFF", "DAY", col("t"), col("u")))
        .hasToString("TIMESTAMPDIFF(DAY, `t`, `u`)");
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.function.Evaluation;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
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

class TemporalCastsTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("Europe/Berlin"), FunctionRegistry.builtIn());

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private Object cast(Object value, DataType type) {
    return evaluate(new Expression.Cast(lit(value), type, false), "");
  }

  private Object castText(String text, DataType type, boolean orNull) {
    return evaluate(new Expression.Cast(col("s"), type, orNull), text);
  }

  private Object evaluate(Expression expression, String text) {
    try (Table table = new TableBuilder().column("s", DataType.STRING, text).build(device);
        Table result =
            Calc.of(table.schema(), Optional.empty(), List.of(expression.as("r")), CONTEXT)
                .apply(table, device.stream(), device.memory())) {
      return device.rows(result).get(0).get(0);
    }
  }

  @Test
  void datesAndTimesBecomeTimestamps() {
    assertThat(cast(LocalDate.of(2023, 7, 1), DataType.timestamp(6)))
        .isEqualTo(LocalDateTime.of(2023, 7, 1, 0, 0));
    assertThat(cast(LocalDate.of(2023, 7, 1), DataType.timestamp(9, true)))
        .isEqualTo(Instant.parse("2023-06-30T22:00:00Z"));
    assertThat(cast(LocalTime.of(1, 2), DataType.timestamp(3)))
        .isEqualTo(LocalDateTime.of(1970, 1, 1, 1, 2));
    assertThat(cast(LocalTime.of(1, 2), DataType.timestamp(0, true)))
        .isEqualTo(Instant.parse("1970-01-01T00:02:00Z"));
  }

  @Test
  void timestampsBecomeDatesAndTimes() {
    LocalDateTime beforeEpoch = LocalDateTime.of(1969, 12, 31, 1, 0);
    assertThat(cast(beforeEpoch, DataType.DATE)).isEqualTo(LocalDate.EPOCH);
    Instant instant = Instant.parse("2023-06-30T22:30:00.123456789Z");
    assertThat(cast(instant, DataType.DATE)).isEqualTo(LocalDate.of(2023, 7, 1));
    assertThat(cast(instant, DataType.TIME)).isEqualTo(LocalTime.of(0, 30, 0, 123_000_000));
  }

  @Test
  void instantsAndLocalTimesAreConverted() {
    assertThat(cast(Instant.parse("2023-01-01T00:00:00.000001Z"), DataType.timestamp(9)))
        .isEqualTo(LocalDateTime.parse("2023-01-01T01:00:00.000001"));
    assertThat(cast(LocalDateTime.of(2022, 3, 27, 2, 30), DataType.timestamp(3, true)))
        .isEqualTo(Instant.parse("2022-03-27T01:30:00Z"));
    assertThat(cast(LocalDateTime.of(2022, 10, 30, 2, 30), DataType.timestamp(3, true)))
        .isEqualTo(Instant.parse("2022-10-30T00:30:00Z"));
  }

  @Test
  void fewerDigitsAreTruncatedTowards1970() {
    LocalDateTime after = LocalDateTime.parse("2023-01-01T00:00:00.987654321");
    assertThat(cast(after, DataType.timestamp(7)))
        .isEqualTo(LocalDateTime.parse("2023-01-01T00:00:00.9876543"));
    assertThat(cast(after, DataType.timestamp(4)))
        .isEqualTo(LocalDateTime.parse("2023-01-01T00:00:00.9876"));
    assertThat(cast(after, DataType.timestamp(0)))
        .isEqualTo(LocalDateTime.parse("2023-01-01T00:00:00"));
    assertThat(cast(LocalDateTime.parse("1969-12-31T23:59:59.999"), DataType.timestamp(1)))
        .isEqualTo(LocalDateTime.of(1970, 1, 1, 0, 0));
  }

  @Test
  void textsMatchFlink() {
    assertThat(cast(LocalDate.of(2023, 7, 1), DataType.STRING)).isEqualTo("2023-07-01");
    assertThat(cast(LocalTime.of(1, 2, 3), DataType.STRING)).isEqualTo("01:02:03.0");
    assertThat(cast(LocalTime.of(1, 2, 3, 120_000_000), DataType.STRING)).isEqualTo("01:02:03.12");
    assertThat(cast(LocalDateTime.of(2023, 7, 1, 0, 0), DataType.STRING))
        .isEqualTo("2023-07-01 00:00:00.000");
    assertThat(cast(Instant.parse("2023-06-30T22:00:00.000001Z"), DataType.STRING))
        .isEqualTo("2023-07-01 00:00:00.000001");
  }

  @Test
  void aTimeOfFewerDigitsIsTruncatedTowardsMidnightAndPrintsFewerDigits() {
    LocalDateTime beforeEpoch = LocalDateTime.parse("1677-09-21T00:12:43.146");
    List<Object> times = List.of(-85_636_000, -85_636_800, -85_636_850, -85_636_854);
    List<String> texts = List.of("00:12:44", "00:12:43.2", "00:12:43.15", "00:12:43.146");
    try (Table table =
        new TableBuilder().column("ts", DataType.timestamp(3), beforeEpoch).build(device)) {
      for (int precision = 0; precision <= 3; precision++) {
        Expression time = call("CAST_TIME", col("ts").cast(DataType.TIME), precision);
        assertThat(Evaluation.of(device, table, time)).containsExactly(times.get(precision));
        assertThat(Evaluation.of(device, table, time.cast(DataType.STRING)))
            .containsExactly(texts.get(precision));
      }
      Expression time = col("ts").cast(DataType.TIME);
      assertThatThrownBy(() -> Evaluation.of(device, table, call("CAST_TIME", time, 4)))
          .hasMessageContaining("expected a precision of 0 to 3 for TIME, got 4");
    }
  }

  @Test
  void textsAreRead() {
    assertThat(castText("2023-7", DataType.DATE, false)).isEqualTo(LocalDate.of(2023, 7, 1));
    assertThat(castText("12:30:15.9996", DataType.TIME, false)).isEqualTo(LocalTime.of(12, 30, 16));
    assertThat(castText("2023-02-30 1:2:3.45", DataType.timestamp(1), false))
        .isEqualTo(LocalDateTime.parse("2023-02-28T01:02:03.4"));
    assertThat(castText("2023-07-01", DataType.timestamp(9, true), false))
        .isEqualTo(Instant.parse("2023-06-30T22:00:00Z"));
  }

  @Test
  void otherTextsFailOrAreNull() {
    for (DataType type : List.of(DataType.DATE, DataType.TIME, DataType.timestamp(6))) {
      assertThat(castText("x", type, true)).isNull();
      assertThatThrownBy(() -> castText("x", type, false))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining("the value cannot be cast");
    }
    assertThat(castText("99999999999", DataType.DATE, true)).isNull();
  }

  @Test
  void microsecondsThatOverflowALongFail() {
    assertThatThrownBy(() -> cast(LocalDateTime.of(300_000, 1, 1, 0, 0), DataType.timestamp(6)))
        .isInstanceOf(EvaluationException.class);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.time.temporal.Temporal;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A planner's literals: each type has its values and NULL. */
class LiteralTest {
  private static final LocalDateTime TIME = LocalDateTime.parse("1969-07-20T20:17:40.123456789");
  private static final Instant INSTANT = Instant.parse("2026-11-25T01:02:03.987654321Z");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private Object value(Object value, DataType type) {
    try (Table table = new TableBuilder().column("a", DataType.INT32, 1).build(device);
        Calc calc =
            Calc.of(
                table.schema(),
                Optional.empty(),
                List.of(lit(value, type).as("value")),
                ResolutionContext.DEFAULT);
        Table result = calc.apply(table, device.stream(), device.memory())) {
      Object read = device.rows(result).get(0).get(0);
      device.stream().synchronize();
      assertThat(result.schema().field(0).type()).isEqualTo(type);
      return read;
    }
  }

  @Test
  void valuesOfEachTypeAreKept() {
    assertThat(value(true, DataType.BOOL)).isEqualTo(true);
    assertThat(value(-128, DataType.INT8)).isEqualTo((byte) -128);
    assertThat(value(new BigDecimal("32767"), DataType.INT16)).isEqualTo((short) 32767);
    assertThat(value(5L, DataType.INT32)).isEqualTo(5);
    assertThat(value(Long.MIN_VALUE, DataType.INT64)).isEqualTo(Long.MIN_VALUE);
    assertThat(value(1.5, DataType.FLOAT32)).isEqualTo(1.5f);
    assertThat(value(new BigDecimal("0.1"), DataType.FLOAT64)).isEqualTo(0.1);
    assertThat(value("grün", DataType.STRING)).isEqualTo("grün");
    assertThat(value(LocalDate.parse("2026-11-25"), DataType.DATE))
        .isEqualTo(LocalDate.parse("2026-11-25"));
    assertThat(value(LocalTime.parse("23:59:59.999"), DataType.TIME))
        .isEqualTo(LocalTime.parse("23:59:59.999"));
  }

  @Test
  void decimalsHaveTheScaleOfTheirType() {
    assertThat(value(new BigDecimal("1.5"), DataType.decimal(9, 3)))
        .isEqualTo(new BigDecimal("1.500"));
    assertThat(value(7, DataType.decimal(18, 2))).isEqualTo(new BigDecimal("7.00"));
    assertThat(value(new BigDecimal("-1e20"), DataType.decimal(38, 10)))
        .isEqualTo(new BigDecimal("-100000000000000000000.0000000000"));
  }

  @Test
  void theFirstAndTheLastTimestampAreKept() {
    for (long end : List.of(Long.MIN_VALUE, Long.MAX_VALUE)) {
      Instant millis = Instant.ofEpochMilli(end);
      assertThat(value(millis, DataType.timestamp(3, true))).isEqualTo(millis);
      Instant micros = Instant.EPOCH.plus(end, ChronoUnit.MICROS);
      assertThat(value(micros, DataType.timestamp(6, true))).isEqualTo(micros);
    }
  }

  @Test
  void timestampsHaveTheDigitsOfTheirType() {
    for (int precision = 0; precision <= 9; precision++) {
      long kept = Math.round(Math.pow(10, 9 - precision));
      LocalDateTime time = (LocalDateTime) cut(TIME, kept);
      Instant instant = (Instant) cut(INSTANT, kept);
      assertThat(value(time, DataType.timestamp(precision))).isEqualTo(time);
      assertThat(value(instant, DataType.timestamp(precision, true))).isEqualTo(instant);
    }
  }

  private static Temporal cut(Temporal time, long nanos) {
    long nano = time.get(ChronoField.NANO_OF_SECOND);
    return time.with(ChronoField.NANO_OF_SECOND, nano / nanos * nanos);
  }

  @Test
  void bytesNeedNotBeText() {
    byte[] bytes = {0, (byte) 0xff, (byte) 0xc3, 'a'};

    assertThat(value(bytes, DataType.BINARY)).isEqualTo(ByteBuffer.wrap(bytes));
    assertThat(lit(bytes))
        .isEqualTo(lit(bytes.clone(), DataType.BINARY))
        .isNotEqualTo(lit(Arrays.copyOf(bytes, 3)))
        .hasToString("CAST(x'00ffc361' AS BYTES)");
  }

  @Test
  void eachTypeHasNull() {
    for (DataType type :
        List.of(
            DataType.BOOL,
            DataType.INT8,
            DataType.FLOAT32,
            DataType.decimal(38, 4),
            DataType.STRING,
            DataType.BINARY,
            DataType.DATE,
            DataType.TIME,
            DataType.timestamp(9),
            DataType.timestamp(5, true))) {
      assertThat(value(null, type)).as(type.toString()).isNull();
    }
  }

  @Test
  void instantsAreWrittenInUtc() {
    assertThat(lit(INSTANT))
        .hasToString(
            "TO_TIMESTAMP_LTZ('2026-11-25 01:02:03.987654321', 'yyyy-MM-dd HH:mm:ss.SSSSSSSSS',"
                + " 'UTC')");
    assertThat(lit(Instant.EPOCH, DataType.timestamp(0, true)))
        .hasToString(
            "CAST(TO_TIMESTAMP_LTZ('1970-01-01 00:00:00.000', 'yyyy-MM-dd HH:mm:ss.SSS', 'UTC') AS"
                + " TIMESTAMP_LTZ(0))");
  }

  @Test
  void valuesThatTheTypeDoesNotHaveAreRefused() {
    assertRefused(128, DataType.INT8);
    assertRefused(1.5, DataType.INT64);
    assertRefused(new BigDecimal("1.25"), DataType.decimal(9, 1));
    assertRefused(100, DataType.decimal(2, 0));
    assertRefused(TIME, DataType.timestamp(6));
    assertRefused(INSTANT, DataType.timestamp(9));
    assertRefused("x", DataType.BINARY);
    assertThatThrownBy(() -> lit(List.of(), DataType.list(DataType.INT32)))
        .hasMessageStartingWith("no literal is ");
  }

  private static void assertRefused(Object value, DataType type) {
    assertThatThrownBy(() -> lit(value, type))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected a value of " + type + ", got " + value);
  }
}

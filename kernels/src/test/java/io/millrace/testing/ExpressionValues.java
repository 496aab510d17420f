// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.vector.BinaryValue;
import io.millrace.expression.vector.TimestampNanos;
import java.io.Serializable;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Random values that reach many branches of functions: strings with numbers, dates, patterns and
 * lists; numbers half way between two others; times within SQL's range of years; and the extreme
 * values of each type.
 */
public final class ExpressionValues {
  private static final long MILLIS_PER_DAY = TimeUnit.DAYS.toMillis(1);
  private static final LocalDate FIRST_DAY = LocalDate.of(1, 1, 1);
  private static final LocalDate LAST_DAY = LocalDate.of(9999, 12, 31);
  private static final LocalDate RECENT = LocalDate.of(1960, 1, 1);
  private static final int RECENT_DAYS = 30_000;

  private static final List<String> TEXTS =
      List.of(
          "",
          " ",
          "  padded  ",
          "Hello World",
          "straße ÄÖÜ ıİ",
          "日本語テキスト",
          "a,b,,c",
          "one two  three",
          "100%_sure\\n",
          "aXbXc",
          "%",
          "_",
          "true",
          "FALSE",
          "yes",
          "0",
          "NaN",
          "Infinity",
          "http://user@example.com:80/path/p.html?query=1&b=2#ref",
          "SGVsbG8=",
          "48656C6C6F",
          "line\nbreak",
          "{\"key\": \"a/b\"}\b\t\f\r",
          "{\"key\": {\"b\": [1, 2.50, \"x\\\"y\"]}, \"a\": {\"b\": -7}}",
          "[{\"a\": [true, null]}, {\"b\": -1.5e3}] tail",
          "{\"a\": [\"\\u00e9\\/\"], \"key\": false",
          "z\u0000y",
          "😀 emoji");

  private final Random random;
  private final RandomTables values;

  public ExpressionValues(Random random) {
    this.random = random;
    this.values = new RandomTables(random, 0);
  }

  /** Rows of {@code schema}; one value in eight of a nullable column is null. */
  public List<List<Object>> rows(Schema schema, int count) {
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < count; row++) {
      List<Object> fields = new ArrayList<>();
      for (Field field : schema.fields()) {
        fields.add(field.nullable() && random.nextInt(8) == 0 ? null : value(field.type()));
      }
      rows.add(fields);
    }
    return rows;
  }

  /** A non-null value of {@code type}, in the form of {@link TableRows}. */
  public Object value(DataType type) {
    return switch (type.id()) {
      case FLOAT32 -> random.nextInt(4) == 0 ? values.value(type) : (float) number();
      case FLOAT64 -> random.nextInt(4) == 0 ? values.value(type) : number();
      case DECIMAL32, DECIMAL64, DECIMAL128 -> decimal(type);
      case DATE -> date();
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> timestamp(type);
      case STRING -> string();
      case BINARY -> binary();
      default -> values.value(type);
    };
  }

  /**
   * A value of {@code type} in the form of a literal. It is finite, as SQL's literals are, and a
   * FLOAT is exactly the number that its decimal digits denote.
   */
  public Serializable literal(DataType type) {
    return switch (type.id()) {
      case FLOAT32 -> (random.nextInt(2001) - 1000) / 8.0f;
      case FLOAT64 -> number();
      default -> stored(type, value(type));
    };
  }

  private static Serializable stored(DataType type, Object value) {
    return switch (type.id()) {
      case INT8, INT16, INT32, INT64 -> ((Number) value).longValue();
      case DATE -> ((LocalDate) value).toEpochDay();
      case TIME -> TimeUnit.NANOSECONDS.toMillis(((LocalTime) value).toNanoOfDay());
      case TIMESTAMP_MILLIS -> instant(value).toEpochMilli();
      case TIMESTAMP_MICROS -> micros(instant(value));
      case TIMESTAMP_NANOS ->
          new TimestampNanos(
              instant(value).toEpochMilli(),
              instant(value).get(ChronoField.NANO_OF_SECOND) % 1_000_000);
      case BINARY -> {
        ByteBuffer bytes = ((ByteBuffer) value).duplicate();
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        yield new BinaryValue(copy);
      }
      default -> (Serializable) value;
    };
  }

  private static long micros(Instant instant) {
    return instant.getEpochSecond() * 1_000_000 + instant.get(ChronoField.MICRO_OF_SECOND);
  }

  private static Instant instant(Object timestamp) {
    return timestamp instanceof Instant instant
        ? instant
        : ((LocalDateTime) timestamp).toInstant(ZoneOffset.UTC);
  }

  private double number() {
    return switch (random.nextInt(5)) {
      case 0 -> random.nextInt(21) - 10;
      case 1 -> (random.nextInt(2001) - 1000) / 2.0;
      case 2 -> (random.nextInt(200_001) - 100_000) / 1000.0;
      case 3 -> random.nextGaussian() * Math.pow(10, random.nextInt(40) - 20);
      default -> random.nextDouble() * 2 - 1;
    };
  }

  private BigDecimal decimal(DataType type) {
    return random.nextInt(3) == 0
        ? (BigDecimal) values.value(type)
        : BigDecimal.valueOf(random.nextInt(2001) - 1000L, type.scale())
            .remainder(BigDecimal.TEN.pow(type.precision() - type.scale()));
  }

  private LocalDate date() {
    return switch (random.nextInt(8)) {
      case 0 -> random.nextBoolean() ? FIRST_DAY : LAST_DAY;
      case 1 ->
          FIRST_DAY.plusDays(
              random.nextInt((int) (LAST_DAY.toEpochDay() - FIRST_DAY.toEpochDay())));
      case 2 -> LocalDate.of(1960 + random.nextInt(100), 2, 28).plusDays(random.nextInt(3));
      case 3 -> LocalDate.of(1960 + random.nextInt(100), 12, 29).plusDays(random.nextInt(7));
      default -> RECENT.plusDays(random.nextInt(RECENT_DAYS));
    };
  }

  /** A random timestamp with the fractional digits of the type's precision. */
  private Object timestamp(DataType type) {
    long millis = random.nextInt(4) == 0 ? 0 : random.nextLong(MILLIS_PER_DAY);
    Instant instant =
        date()
            .atStartOfDay()
            .toInstant(ZoneOffset.UTC)
            .plusMillis(millis)
            .plusNanos(random.nextInt(1_000_000));
    long unit = Math.round(Math.pow(10, 9 - type.precision()));
    Instant truncated = instant.minusNanos(instant.get(ChronoField.NANO_OF_SECOND) % unit);
    return type.withTimeZone() ? truncated : LocalDateTime.ofInstant(truncated, ZoneOffset.UTC);
  }

  private String string() {
    return switch (random.nextInt(8)) {
      case 0 -> (String) values.value(DataType.STRING);
      case 1 -> Long.toString(random.nextLong() >> random.nextInt(64));
      case 2 -> " " + (random.nextInt(2001) - 1000) / 8.0 + (random.nextBoolean() ? " " : "");
      case 3 -> date().toString();
      case 4 -> timestamp(DataType.timestamp(random.nextInt(10))).toString().replace('T', ' ');
      case 5 -> String.format(Locale.ROOT, "%x", random.nextInt());
      default -> TEXTS.get(random.nextInt(TEXTS.size()));
    };
  }

  private ByteBuffer binary() {
    return random.nextBoolean()
        ? (ByteBuffer) values.value(DataType.BINARY)
        : ByteBuffer.wrap(string().getBytes(StandardCharsets.UTF_8));
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Random;

/** Writes random values as text, in one of the many ways in which a value can be written. */
public abstract class RandomValues {
  /** A column of each type that is read from text and has no fields. */
  public static final Schema SCALARS =
      Schema.of(
          Field.of("flag", DataType.BOOL),
          Field.of("tiny", DataType.INT8),
          Field.of("small", DataType.INT16),
          Field.of("number", DataType.INT32),
          Field.of("big", DataType.INT64),
          Field.of("real", DataType.FLOAT32),
          Field.of("double", DataType.FLOAT64),
          Field.of("price", DataType.decimal(7, 2)),
          Field.of("amount", DataType.decimal(15, 3)),
          Field.of("total", DataType.decimal(38, 10)),
          Field.of("day", DataType.DATE),
          Field.of("time", DataType.TIME),
          Field.of("second", DataType.timestamp(0)),
          Field.of("milli", DataType.timestamp(3)),
          Field.of("micro", DataType.timestamp(6)),
          Field.of("nano", DataType.timestamp(9)),
          Field.of("instant", DataType.timestamp(3, true)),
          Field.of("text", DataType.STRING));

  private static final LocalDate LAST_DAY = LocalDate.of(9999, 12, 31);

  private final Random random;

  protected RandomValues(Random random) {
    this.random = random;
  }

  /** Writes a boolean or a number. */
  protected abstract void plain(String value);

  /** Writes a value that JSON writes as a string, without characters that need escapes. */
  protected abstract void quoted(String value);

  /** Writes a string. */
  protected abstract void string(String value);

  /** Writes an object with random values for its members; the values. */
  protected abstract List<Object> object(List<Field> fields);

  /** Writes a list with random elements, some of which are null; the elements. */
  protected List<Object> list(DataType element) {
    throw new IllegalArgumentException("expected no list of " + element);
  }

  /** Writes a random value; the value, in the form of {@link io.millrace.testing.TableRows}. */
  public final Object value(DataType type) {
    return switch (type.id()) {
      case BOOL -> plain(random.nextBoolean());
      case INT8 -> plain((byte) random.nextInt());
      case INT16 -> plain((short) random.nextInt());
      case INT32 -> plain(random.nextInt());
      case INT64 -> plain(random.nextLong() >> random.nextInt(64));
      case FLOAT32 -> floating(Float.intBitsToFloat(random.nextInt()));
      case FLOAT64 -> floating(Double.longBitsToDouble(random.nextLong()));
      case DECIMAL32, DECIMAL64, DECIMAL128 -> decimal(type);
      case DATE -> quoted(day());
      case TIME -> {
        LocalTime time = LocalTime.ofNanoOfDay(random.nextLong(LocalTime.MAX.toNanoOfDay()));
        quoted(time);
        yield time.truncatedTo(ChronoUnit.MILLIS);
      }
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> timestamp(type);
      case STRING -> {
        String value = randomString();
        string(value);
        yield value;
      }
      case BINARY -> {
        byte[] bytes = new byte[random.nextInt(random.nextInt(8) == 0 ? 100 : 5)];
        random.nextBytes(bytes);
        string(Base64.getEncoder().encodeToString(bytes));
        yield ByteBuffer.wrap(bytes);
      }
      case STRUCT -> object(type.fields());
      case LIST -> list(type.fields().get(0).type());
      case DICTIONARY -> throw new IllegalArgumentException(type.toString());
    };
  }

  private Object plain(Object value) {
    plain(value.toString());
    return value;
  }

  private Object quoted(Object value) {
    quoted(value.toString());
    return value;
  }

  private Object floating(Number value) {
    boolean finite = Double.isFinite(value.doubleValue());
    return finite ? plain(value) : quoted(value);
  }

  private Object decimal(DataType type) {
    BigInteger unscaled = new BigInteger(1 + random.nextInt(127), random);
    unscaled = unscaled.mod(BigInteger.TEN.pow(type.precision()));
    BigDecimal value =
        new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), type.scale());
    Object written = random.nextBoolean() ? value.toPlainString() : value;
    if (random.nextBoolean()) {
      plain(written);
    } else {
      quoted(written);
    }
    return value;
  }

  private LocalDate day() {
    return LocalDate.of(0, 1, 1).plusDays(random.nextInt((int) (LAST_DAY.toEpochDay() + 719_528)));
  }

  private Object timestamp(DataType type) {
    LocalDateTime value =
        LocalDateTime.of(
            day(), LocalTime.ofNanoOfDay(random.nextLong(LocalTime.MAX.toNanoOfDay())));
    LocalDateTime kept = value.truncatedTo(unit(type.precision()));
    String written = random.nextBoolean() ? value.toString() : value.toString().replace('T', ' ');
    if (!type.withTimeZone()) {
      quoted(written);
      return kept;
    }
    ZoneOffset offset = ZoneOffset.ofTotalSeconds(random.nextInt(2 * 64800 + 1) - 64800);
    quoted(written + offset.getId());
    return kept.toInstant(offset);
  }

  private static ChronoUnit unit(int precision) {
    return switch (precision) {
      case 0 -> ChronoUnit.SECONDS;
      case 3 -> ChronoUnit.MILLIS;
      case 6 -> ChronoUnit.MICROS;
      default -> ChronoUnit.NANOS;
    };
  }

  private String randomString() {
    StringBuilder value = new StringBuilder();
    int length = random.nextInt(5) == 0 ? random.nextInt(60) : random.nextInt(9);
    for (int i = 0; i < length; i++) {
      int codePoint =
          switch (random.nextInt(8)) {
            case 0 -> random.nextInt(0x20);
            case 1 -> 0x80 + random.nextInt(0x780);
            case 2 -> 0xe000 + random.nextInt(0x1000);
            case 3 -> 0x10000 + random.nextInt(0x10000);
            case 4 -> "\"\\/".charAt(random.nextInt(3));
            default -> ' ' + random.nextInt(95);
          };
      value.appendCodePoint(codePoint);
    }
    return value.toString();
  }
}

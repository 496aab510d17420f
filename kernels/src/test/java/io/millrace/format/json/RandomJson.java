// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Writes random records as JSON, in one of the many ways in which the same record can be written.
 */
final class RandomJson {
  private static final String[] SPACES = {"", "", "", " ", "\t", "  \r"};
  private static final String[] SKIPPED = {
    "null", "-1.5e+10", "\"}\\\"\"", "{\"a\":[{},[]]}", "[1,\"]\",{\"b\":null}]", "true"
  };
  private static final LocalDate LAST_DAY = LocalDate.of(9999, 12, 31);

  private final Random random;
  private final StringBuilder text;

  private RandomJson(Random random, StringBuilder text) {
    this.random = random;
    this.text = text;
  }

  /** Appends a record; its values, in the form of {@link io.millrace.testing.TableRows}. */
  static List<Object> record(Schema schema, Random random, StringBuilder text) {
    return new RandomJson(random, text).object(schema.fields());
  }

  private void space() {
    text.append(SPACES[random.nextInt(SPACES.length)]);
  }

  private List<Object> object(List<Field> fields) {
    Object[] values = new Object[fields.size()];
    List<Integer> order = new ArrayList<>(IntStream.range(0, fields.size()).boxed().toList());
    if (random.nextBoolean()) {
      Collections.shuffle(order, random);
    }
    String separator = "";
    space();
    text.append('{');
    for (int i : order) {
      Field field = fields.get(i);
      if (random.nextInt(10) == 0) {
        name(separator, "skipped" + random.nextInt(3));
        text.append(SKIPPED[random.nextInt(SKIPPED.length)]);
        separator = ",";
      }
      if (field.nullable() && random.nextInt(8) == 0) {
        if (random.nextBoolean()) {
          name(separator, field.name());
          text.append("null");
          separator = ",";
        }
        continue;
      }
      name(separator, field.name());
      values[i] = value(field.type());
      separator = ",";
    }
    space();
    text.append('}');
    space();
    return Arrays.asList(values);
  }

  private void name(String separator, String name) {
    text.append(separator);
    space();
    string(name);
    space();
    text.append(':');
    space();
  }

  private Object value(DataType type) {
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
      case STRUCT -> object(type.fields());
      case BINARY, LIST, DICTIONARY -> throw new IllegalArgumentException(type.toString());
    };
  }

  private Object plain(Object value) {
    text.append(value);
    return value;
  }

  private Object quoted(Object value) {
    text.append('"').append(value).append('"');
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

  private void string(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char next = value.charAt(i);
      boolean mustEscape = next == '"' || next == '\\' || next < ' ';
      if (mustEscape && "\"\\".indexOf(next) >= 0 && random.nextBoolean()) {
        text.append('\\').append(next);
      } else if (next == '\n' && random.nextBoolean()) {
        text.append("\\n");
      } else if (mustEscape || (random.nextInt(20) == 0 && !Character.isSurrogate(next))) {
        text.append(String.format(random.nextBoolean() ? "\\u%04x" : "\\u%04X", (int) next));
      } else {
        text.append(next);
      }
    }
    text.append('"');
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.flink.formats.common.TimestampFormat;

/** Writes random records that both Millrace and Flink's format {@code json} read. */
class RandomRecords {
  private static final String[] SPACES = {"", "", "", "", " ", "\t", "\r\n", " \n\t "};
  private static final String[] NOT_FINITE = {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""};
  private static final String[] ZEROS = {"0", "-0", "-0.0", "0e7", "-0.000E-9", "0.0e+400"};
  private static final String[] SURROGATES = {
    "\\ud83d\\ude00", "\\uD83D", "\\ude00", "\\ud83d\\ud83d\\ude00", "\\ude00\\ud83d", "\\uDBFFx"
  };
  private static final String PLAIN =
      "\u007f\u0080\u07ff\u0800\u2028\ufeff\ufffd\uffff\u00e9ABab/,:[]{}' ";
  private static final int DAYS =
      (int) (LocalDate.of(9999, 12, 31).toEpochDay() - LocalDate.of(0, 1, 1).toEpochDay() + 1);
  // Jackson reads numbers of up to 1000 characters.
  private static final int MAX_DIGITS = 900;
  // Millrace reads decimals with escapes of up to 64 characters.
  private static final int MAX_ESCAPED = 64;

  protected final Random random;
  private final TimestampFormat timestamps;
  private final boolean negativeZeros;
  protected StringBuilder text = new StringBuilder();

  /**
   * @param timestamps whether a T or a space is between the date and the time
   * @param negativeZeros whether to write floating-point numbers that are negative zeros
   */
  RandomRecords(Random random, TimestampFormat timestamps, boolean negativeZeros) {
    this.random = random;
    this.timestamps = timestamps;
    this.negativeZeros = negativeZeros;
  }

  /** A record with a member for each field, which may be null or missing. */
  String record(List<Field> fields) {
    text = new StringBuilder();
    space();
    object(fields);
    space();
    return text.toString();
  }

  protected final void space() {
    text.append(oneOf(SPACES));
  }

  protected final String oneOf(String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  protected final boolean rarely() {
    return random.nextInt(8) == 0;
  }

  protected final void object(List<Field> fields) {
    List<Field> order = new ArrayList<>(fields);
    if (random.nextBoolean()) {
      Collections.shuffle(order, random);
    }
    text.append('{');
    String separator = "";
    for (Field field : order) {
      if (rarely()) {
        unknownMember(separator, fields);
        separator = ",";
      }
      if (rarely()) {
        continue;
      }
      name(separator, field.name());
      separator = ",";
      if (rarely()) {
        text.append("null");
      } else {
        value(field.type());
      }
      space();
    }
    if (rarely()) {
      unknownMember(separator, fields);
    } else {
      space();
    }
    text.append('}');
  }

  protected final void name(String separator, String name) {
    text.append(separator);
    space();
    string(name);
    space();
    text.append(':');
    space();
  }

  private void unknownMember(String separator, List<Field> fields) {
    String known = fields.get(random.nextInt(fields.size())).name();
    name(
        separator,
        oneOf("", "unknown", known + "s", known.substring(1), known.toUpperCase(Locale.ROOT)));
    unknownValue(random.nextInt(6));
    space();
  }

  protected final void unknownValue(int depth) {
    switch (depth == 0 ? random.nextInt(3) : 3 + random.nextInt(2)) {
      case 0 -> text.append(oneOf("null", "true", "false", "-1e+999", "9".repeat(40), "0.10"));
      case 1 -> string(randomString());
      case 2 -> text.append(oneOf("[]", "{}", "[ ]", "{\n}"));
      case 3 -> {
        String separator = "[";
        for (int i = random.nextInt(3); i >= 0; i--) {
          text.append(separator);
          unknownValue(random.nextInt(depth));
          separator = " ,\t";
        }
        text.append(']');
      }
      default -> {
        String separator = "{";
        for (int i = random.nextInt(3); i >= 0; i--) {
          name(separator, oneOf("a", "b", "}", "\""));
          unknownValue(random.nextInt(depth));
          separator = ",";
        }
        text.append('}');
      }
    }
  }

  protected void value(DataType type) {
    switch (type.id()) {
      case BOOL -> text.append(random.nextBoolean());
      case INT8, INT16, INT32, INT64 -> text.append(integer(type));
      case FLOAT32, FLOAT64 -> text.append(floatingPoint(type));
      case DECIMAL32, DECIMAL64, DECIMAL128 -> decimal(type);
      case DATE -> string(day());
      case TIME -> string(time() + fraction(9));
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> string(timestamp(type));
      case STRING -> string(randomString());
      case BINARY -> {
        byte[] bytes = new byte[random.nextInt(rarely() ? 200 : 5)];
        random.nextBytes(bytes);
        string(Base64.getEncoder().encodeToString(bytes));
      }
      case STRUCT -> object(type.fields());
      case LIST -> list(type.fields().get(0).type());
      case DICTIONARY -> throw new IllegalArgumentException(type.toString());
    }
  }

  private void list(DataType element) {
    text.append('[');
    space();
    for (int i = random.nextInt(rarely() ? 40 : 4); i > 0; i--) {
      if (rarely()) {
        text.append("null");
      } else {
        value(element);
      }
      space();
      text.append(i == 1 ? "" : ",");
      space();
    }
    text.append(']');
  }

  private String integer(DataType type) {
    if (rarely()) {
      return "-0";
    }
    int unused = Long.SIZE - type.id().byteWidth() * Byte.SIZE;
    long shifted = random.nextLong() >> (unused + random.nextInt(Long.SIZE - unused));
    long least = Long.MIN_VALUE >> unused;
    return Long.toString(rarely() ? (random.nextBoolean() ? least : ~least) : shifted);
  }

  private String floatingPoint(DataType type) {
    boolean isFloat = type.equals(DataType.FLOAT32);
    for (; ; ) {
      String number = number(isFloat);
      double value = isFloat ? Float.parseFloat(number) : Double.parseDouble(number);
      boolean isNegativeZero = value == 0 && number.startsWith("-");
      if (Double.isInfinite(value)) {
        return oneOf(NOT_FINITE);
      } else if (negativeZeros || !isNegativeZero) {
        return number;
      }
    }
  }

  private String number(boolean isFloat) {
    String sign = random.nextBoolean() ? "-" : "";
    return switch (random.nextInt(6)) {
      case 0 -> oneOf(ZEROS);
      case 1 -> sign + between(isFloat);
      case 2 -> sign + digits(1 + random.nextInt(25)) + exponent(isFloat ? 45 : 320);
      case 3 -> {
        int places = random.nextInt(rarely() ? MAX_DIGITS : 30) + 1;
        yield sign + digits(1) + "." + places(places) + exponent(isFloat ? 45 : 320);
      }
      case 4 -> {
        double value = Double.longBitsToDouble(random.nextLong());
        yield Double.isFinite(value) ? Double.toString(value) : "5e-324";
      }
      default -> {
        float value = Float.intBitsToFloat(random.nextInt());
        yield Float.isFinite(value) ? Float.toString(value) : "1e-45";
      }
    };
  }

  /** The number in the middle between two neighbours, or a little beside it. */
  private String between(boolean isFloat) {
    BigDecimal low;
    BigDecimal high;
    if (isFloat) {
      float value = Float.intBitsToFloat((90 + random.nextInt(70)) << 23 | random.nextInt(1 << 23));
      low = new BigDecimal(value);
      high = new BigDecimal(Math.nextUp(value));
    } else {
      long fraction = random.nextLong() >>> 12;
      double value = Double.longBitsToDouble((long) (900 + random.nextInt(300)) << 52 | fraction);
      low = new BigDecimal(value);
      high = new BigDecimal(Math.nextUp(value));
    }
    BigDecimal middle = low.add(high).divide(BigDecimal.valueOf(2));
    BigDecimal ulp = BigDecimal.ONE.movePointLeft(middle.scale() + random.nextInt(20));
    BigDecimal beside =
        switch (random.nextInt(3)) {
          case 0 -> middle;
          case 1 -> middle.add(ulp);
          default -> middle.subtract(ulp);
        };
    return random.nextBoolean() ? beside.toString() : beside.toPlainString();
  }

  private String exponent(int limit) {
    return random.nextInt(3) == 0
        ? ""
        : oneOf("e", "E") + oneOf("-", "+", "") + oneOf("", "0") + random.nextInt(limit);
  }

  /** The first of which is zero only if it is the only one. */
  private String digits(int count) {
    return count == 1
        ? Integer.toString(random.nextInt(10))
        : (1 + random.nextInt(9)) + places(count - 1);
  }

  private String places(int count) {
    StringBuilder places = new StringBuilder();
    boolean zeros = rarely();
    for (int i = 0; i < count; i++) {
      places.append(zeros && i < count - 1 ? 0 : random.nextInt(10));
    }
    return places.toString();
  }

  private void decimal(DataType type) {
    for (; ; ) {
      BigInteger unscaled = new BigInteger(random.nextInt(130), random);
      BigDecimal value = new BigDecimal(unscaled, random.nextInt(45));
      boolean isString = random.nextBoolean();
      String number = random.nextBoolean() ? value.toPlainString() : value.toString();
      if (rarely()) {
        number = digits(3) + exponent(40);
      } else if (rarely()) {
        number = "0." + places(MAX_DIGITS);
      } else if (isString && rarely()) {
        number = oneOf("+", "", "00") + oneOf(".5", "7.", "08", ".25E1");
      }
      number = random.nextBoolean() || number.startsWith("+") ? number : "-" + number;
      BigDecimal kept = new BigDecimal(number).setScale(type.scale(), RoundingMode.HALF_UP);
      if (kept.precision() <= type.precision()) {
        if (!isString) {
          text.append(number);
        } else if (number.length() < MAX_ESCAPED) {
          string(number);
        } else {
          text.append('"').append(number).append('"');
        }
        return;
      }
    }
  }

  private String day() {
    return LocalDate.of(0, 1, 1).plusDays(random.nextInt(DAYS)).toString();
  }

  private String time() {
    LocalTime time = LocalTime.ofSecondOfDay(random.nextInt(86_400));
    return String.format("%tT", time);
  }

  private String fraction(int most) {
    return rarely() ? "" : "." + (rarely() ? "" : places(1 + random.nextInt(most)));
  }

  private String timestamp(DataType type) {
    // Flink keeps digits that TIMESTAMP(0) does not have.
    String fraction = type.precision() == 0 ? oneOf("", ".", ".0", ".000000000") : fraction(9);
    boolean isSql = timestamps == TimestampFormat.SQL;
    String time = time() + fraction;
    if (!isSql && rarely()) {
      time = time.substring(0, "HH:mm".length());
    }
    return day() + (isSql ? " " : "T") + time + (type.withTimeZone() ? "Z" : "");
  }

  /** What {@link #string} writes; a lone surrogate stands for one of {@link #SURROGATES}. */
  private String randomString() {
    StringBuilder value = new StringBuilder();
    for (int i = random.nextInt(rarely() ? 300 : 12); i > 0; i--) {
      switch (random.nextInt(6)) {
        case 0 -> value.append((char) random.nextInt(0x20));
        case 1 -> value.append(PLAIN.charAt(random.nextInt(PLAIN.length())));
        case 2 -> value.appendCodePoint(0x10000 + random.nextInt(0x100000));
        case 3 -> value.append(oneOf("\"", "\\", "/", "\b", "\f", "\u0000"));
        case 4 ->
            value.append((char) (Character.MIN_SURROGATE + random.nextInt(SURROGATES.length)));
        default -> value.append((char) (' ' + random.nextInt(95)));
      }
    }
    return value.toString();
  }

  protected void string(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); ) {
      int next = value.codePointAt(i);
      i += Character.charCount(next);
      int escape = "\"\\/\b\f\n\r\t".indexOf(next);
      boolean mustEscape = next < ' ' || next == '"' || next == '\\';
      if (next >= Character.MIN_SURROGATE && next <= Character.MAX_SURROGATE) {
        text.append(SURROGATES[(next - Character.MIN_SURROGATE) % SURROGATES.length]);
      } else if (escape >= 0 && random.nextBoolean()) {
        text.append('\\').append("\"\\/bfnrt".charAt(escape));
      } else if (mustEscape || random.nextInt(20) == 0) {
        for (char unit : Character.toChars(next)) {
          text.append(String.format(oneOf("\\u%04x", "\\u%04X"), (int) unit));
        }
      } else {
        text.appendCodePoint(next);
      }
    }
    text.append('"');
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.numeric;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Parses numbers in off-heap UTF-8 exactly as Flink's casts do ({@code BinaryStringDataUtil} of
 * Flink 2.3), including its oddities. The twin of {@code text_cast.cu}.
 */
@Internal
public final class NumberText {
  private static final int LONG_DIGITS = 18;
  private static final int MAX_EXPONENT_DIGITS = 40;

  private final byte[] bytes;
  private int position;

  private NumberText(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * Parses an integer within the limits: sign, digits and an ignored fraction, surrounded by
   * spaces. A lone decimal point is accepted as 0.
   */
  public static Optional<Long> parseInteger(long address, int length, long least, long most) {
    int i = 0;
    int end = length;
    while (i < end && HostMemory.getByte(address + i) == ' ') {
      i++;
    }
    while (end > i && HostMemory.getByte(address + end - 1) == ' ') {
      end--;
    }
    byte sign = i < end ? HostMemory.getByte(address + i) : 0;
    boolean negative = sign == '-';
    i += negative || sign == '+' ? 1 : 0;
    if (i == end) {
      return Optional.empty();
    }
    // The negative range is larger.
    long value = 0;
    long limit = negative ? least : -most;
    boolean inFraction = false;
    for (; i < end; i++) {
      byte next = HostMemory.getByte(address + i);
      if (next == '.' && !inFraction) {
        inFraction = true;
        continue;
      }
      int digit = next - '0';
      if (digit < 0 || digit > 9 || (!inFraction && value < (limit + digit) / 10)) {
        return Optional.empty();
      }
      value = inFraction ? value : value * 10 - digit;
    }
    return Optional.of(negative ? value : -value);
  }

  /** Parses the BOOLEAN that a word stands for. */
  public static Optional<Boolean> parseBoolean(byte[] bytes) {
    byte[] lower = bytes.clone();
    for (int i = 0; i < lower.length; i++) {
      lower[i] += (byte) (lower[i] >= 'A' && lower[i] <= 'Z' ? 'a' - 'A' : 0);
    }
    return switch (new String(lower, StandardCharsets.ISO_8859_1)) {
      case "t", "true", "y", "yes", "1" -> Optional.of(true);
      case "f", "false", "n", "no", "0" -> Optional.of(false);
      default -> Optional.empty();
    };
  }

  /** Parses a decimal, rounded half up. */
  public static Optional<BigDecimal> parseDecimal(byte[] bytes, int precision, int scale) {
    return precision <= LONG_DIGITS && bytes.length <= LONG_DIGITS
        ? new NumberText(bytes).parseShortDecimal(precision, scale)
        : parseLongDecimal(bytes, precision, scale);
  }

  // Like Flink: accepts one arbitrary byte after the number, counts leading zeros for the
  // precision, and does not check the precision again after rounding.
  private Optional<BigDecimal> parseShortDecimal(int precision, int scale) {
    skipBlanks();
    boolean negative = takeSign();
    if (position == bytes.length) {
      return Optional.empty();
    }
    long digits = 0;
    int count = 0;
    int countBeforePoint = -1;
    byte end = 0;
    while (position < bytes.length) {
      end = bytes[position++];
      if (isDigit(end)) {
        digits = digits * 10 + (end - '0');
        count++;
      } else if (end == '.' && countBeforePoint < 0) {
        countBeforePoint = count;
      } else if (end == '.') {
        return Optional.empty();
      } else {
        break;
      }
    }
    int behindPoint = countBeforePoint < 0 ? 0 : count - countBeforePoint;
    int exponent = 0;
    if ((end == 'e' || end == 'E') && position < bytes.length) {
      boolean hasSign = bytes[position] == '-' || bytes[position] == '+';
      boolean negativeExponent = takeSign();
      if (hasSign && position == bytes.length) {
        return Optional.empty();
      }
      exponent = takeExponent();
      exponent = negativeExponent ? -exponent : exponent;
    }
    skipBlanks();
    int change = exponent - behindPoint + scale;
    if (position < bytes.length || count + change > precision || change < -LONG_DIGITS) {
      return Optional.empty();
    }
    BigDecimal unscaled =
        BigDecimal.valueOf(negative ? -digits : digits)
            .scaleByPowerOfTen(change)
            .setScale(0, RoundingMode.HALF_UP);
    return Optional.of(unscaled.movePointLeft(scale).setScale(scale, RoundingMode.UNNECESSARY));
  }

  private int takeExponent() {
    int exponent = 0;
    while (position < bytes.length) {
      byte digit = bytes[position++];
      if (!isDigit(digit)) {
        break;
      }
      exponent = exponent < MAX_EXPONENT_DIGITS ? exponent * 10 + (digit - '0') : exponent;
    }
    return exponent;
  }

  private boolean takeSign() {
    boolean negative = position < bytes.length && bytes[position] == '-';
    position += negative || (position < bytes.length && bytes[position] == '+') ? 1 : 0;
    return negative;
  }

  private void skipBlanks() {
    while (position < bytes.length && isBlank(bytes[position])) {
      position++;
    }
  }

  private static Optional<BigDecimal> parseLongDecimal(byte[] bytes, int precision, int scale) {
    int start = 0;
    int end = bytes.length;
    while (start < end && isBlank(bytes[start])) {
      start++;
    }
    while (end > start && isBlank(bytes[end - 1])) {
      end--;
    }
    BigDecimal value;
    try {
      value = new BigDecimal(new String(bytes, start, end - start, StandardCharsets.UTF_8));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
    // Avoids the digits of a large exponent, which setScale would materialize.
    long digitsBeforePoint = (long) value.precision() - value.scale();
    if (value.signum() == 0 || digitsBeforePoint < -scale) {
      return Optional.of(BigDecimal.ZERO.setScale(scale));
    }
    if (digitsBeforePoint > precision - scale) {
      return Optional.empty();
    }
    BigDecimal rounded = value.setScale(scale, RoundingMode.HALF_UP);
    return Optional.of(rounded).filter(number -> number.precision() <= precision);
  }

  private static boolean isDigit(byte value) {
    return value >= '0' && value <= '9';
  }

  private static boolean isBlank(byte value) {
    return value == ' ' || value == '\n' || value == '\t';
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import io.millrace.annotation.Internal;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * The twins of decimal.cu, on DECIMAL128 vectors. Values of up to 18 digits are computed without
 * allocation; the others are computed with BigDecimal, as Flink's DecimalDataUtils does.
 *
 * <p>Each function has a loop of its own: a loop that is shared through a callback or a cursor took
 * 1.2 to 1.5 times as long, as the decimals are no longer kept in registers.
 */
@Internal
public final class DecimalHostFunctions {
  private static final MathContext QUOTIENT = new MathContext(38, RoundingMode.HALF_UP);
  private static final int LONG_DIGITS = 18;
  private static final long EXACT_DOUBLE_LIMIT = 1L << 53;

  private DecimalHostFunctions() {}

  /**
   * The sum or the difference.
   *
   * @param leftShift zeros that align the left operand
   * @param rightShift zeros that align the right operand
   * @param drop number of trailing digits of the aligned sum to drop
   * @param precision maximum number of digits of the result
   */
  static HostFunction sum(
      boolean isDifference, int leftShift, int rightShift, int drop, int precision) {
    return (operands, result, rows) -> {
      Int128 left = new Int128();
      Int128 right = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        left.load(operands[0], row);
        right.load(operands[1], row);
        if (isDifference) {
          right.negate();
        }
        if (drop == 0 && left.appendZeros(leftShift) && right.appendZeros(rightShift)) {
          if (left.add(right)) {
            left.store(result, row, precision);
          } else {
            result.setNull(row);
          }
        } else {
          BigDecimal a = operands[0].getDecimal(row);
          BigDecimal b = operands[1].getDecimal(row);
          store(isDifference ? a.subtract(b) : a.add(b), result, row, precision);
        }
      }
    };
  }

  /** The product, rounded by {@code drop} trailing digits. */
  static HostFunction product(int drop, int precision) {
    return (operands, result, rows) -> {
      Int128 left = new Int128();
      Int128 right = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        left.load(operands[0], row);
        right.load(operands[1], row);
        if (drop <= LONG_DIGITS && left.fitsLong() && right.fitsLong()) {
          left.setProduct(left.low(), right.low());
          left.dropDigits(drop, DecimalRounding.HALF_UP);
          left.store(result, row, precision);
        } else {
          BigDecimal product = operands[0].getDecimal(row).multiply(operands[1].getDecimal(row));
          store(product, result, row, precision);
        }
      }
    };
  }

  /**
   * The quotient, rounded to 38 digits and then to the scale of the result.
   *
   * @param shift zeros that the left operand's unscaled value needs for the result's scale
   */
  static HostFunction quotient(int shift, int precision) {
    return (operands, result, rows) -> {
      Int128 left = new Int128();
      Int128 right = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        left.load(operands[0], row);
        right.load(operands[1], row);
        if (right.low() == 0 && right.high() == 0) {
          rows.fail(row, Status.DIVISION_BY_ZERO);
        } else if (divide(left, right, shift)) {
          left.store(result, row, precision);
        } else {
          BigDecimal divisor = operands[1].getDecimal(row);
          BigDecimal quotient = operands[0].getDecimal(row).divide(divisor, QUOTIENT);
          store(quotient, result, row, precision);
        }
      }
    };
  }

  /**
   * Divides operands of up to 18 digits. A quotient of no more than 19 digits, by such a divisor,
   * is too far below a half for the rounding to 38 digits to matter.
   */
  private static boolean divide(Int128 left, Int128 right, int shift) {
    if (!left.fitsLong() || !right.fitsLong() || shift > LONG_DIGITS) {
      return false;
    }
    boolean negative = (left.high() ^ right.high()) < 0;
    long divisor = Math.abs(right.low());
    left.setProduct(Math.abs(left.low()), Int128.powerOfTen(shift));
    long remainder = left.divide(divisor);
    if (!left.fitsLong()) {
      return false;
    }
    long quotient =
        left.low() + (DecimalRounding.HALF_UP.roundsUp(remainder, divisor, false) ? 1 : 0);
    left.set(negative ? -quotient : quotient);
    return true;
  }

  /** The remainder of the aligned operands, which is of the result's scale. */
  static HostFunction remainder(int leftShift, int rightShift) {
    return (operands, result, rows) -> {
      Int128 left = new Int128();
      Int128 right = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        left.load(operands[0], row);
        right.load(operands[1], row);
        if (right.low() == 0 && right.high() == 0) {
          rows.fail(row, Status.DIVISION_BY_ZERO);
        } else if (left.appendZeros(leftShift)
            && right.appendZeros(rightShift)
            && left.fitsLong()
            && right.fitsLong()) {
          left.set(left.low() % right.low());
          left.store(result, row, result.type().precision());
        } else {
          wideRemainder(operands, result, rows, row);
        }
      }
    };
  }

  private static void wideRemainder(HostVector[] operands, HostVector result, Rows rows, int row) {
    BigDecimal divisor = operands[1].getDecimal(row);
    BigDecimal remainder;
    try {
      remainder = operands[0].getDecimal(row).remainder(divisor, QUOTIENT);
    } catch (ArithmeticException e) {
      // The integral quotient has more than 38 digits.
      rows.fail(row, Status.INVALID_ARGUMENT);
      return;
    }
    store(remainder, result, row, result.type().precision());
  }

  /** Whether the left operand is less than the right operand, or equal to it if {@code orEqual}. */
  public static HostFunction isLess(boolean orEqual, int leftShift, int rightShift) {
    return (operands, result, rows) -> {
      Int128 left = new Int128();
      Int128 right = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        left.load(operands[0], row);
        right.load(operands[1], row);
        int order =
            left.appendZeros(leftShift) && right.appendZeros(rightShift)
                ? left.compareTo(right)
                : operands[0].getDecimal(row).compareTo(operands[1].getDecimal(row));
        result.setBoolean(row, orEqual ? order <= 0 : order < 0);
      }
    };
  }

  /** The number with the other sign. */
  static HostFunction negation() {
    return (operands, result, rows) -> {
      Int128 value = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        value.load(operands[0], row);
        value.negate();
        value.store(result, row, result.type().precision());
      }
    };
  }

  /** The magnitude. */
  static HostFunction magnitude() {
    return (operands, result, rows) -> {
      Int128 value = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        value.load(operands[0], row);
        if (value.high() < 0) {
          value.negate();
        }
        value.store(result, row, result.type().precision());
      }
    };
  }

  /** -1, 0 or 1, with {@code scale} zeros. */
  static HostFunction sign(int scale, int precision) {
    return (operands, result, rows) -> {
      Int128 value = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        value.load(operands[0], row);
        boolean negative = value.high() < 0;
        if (negative || value.high() != 0 || value.low() != 0) {
          value.setPowerOfTen(scale);
        }
        if (negative) {
          value.negate();
        }
        value.store(result, row, precision);
      }
    };
  }

  /** The number with {@code shift} more digits behind the point, or fewer. */
  static HostFunction rescaled(int shift, int precision) {
    return (operands, result, rows) -> {
      Int128 value = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        value.load(operands[0], row);
        if (shift < 0 && -shift <= LONG_DIGITS) {
          value.dropDigits(-shift, DecimalRounding.HALF_UP);
          value.store(result, row, precision);
        } else if (shift >= 0 && value.appendZeros(shift)) {
          value.store(result, row, precision);
        } else {
          store(operands[0].getDecimal(row), result, row, precision);
        }
      }
    };
  }

  /** The unscaled value without its last {@code drop} digits and then with zeros behind it. */
  static HostFunction rounded(int drop, int zeros, DecimalRounding rounding, int precision) {
    return (operands, result, rows) -> {
      Int128 value = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        value.load(operands[0], row);
        if (drop <= LONG_DIGITS && zeros == 0) {
          value.dropDigits(drop, rounding);
          value.store(result, row, precision);
        } else {
          BigDecimal unscaled = new BigDecimal(operands[0].getDecimal(row).unscaledValue(), drop);
          BigDecimal kept = unscaled.setScale(0, rounding.mode());
          int exponent = zeros - result.type().scale();
          store(kept.scaleByPowerOfTen(exponent), result, row, precision);
        }
      }
    };
  }

  /** The nearest DOUBLE. */
  static HostFunction toDouble(int scale) {
    double divisor = scale <= LONG_DIGITS ? Int128.powerOfTen(scale) : 0;
    return (operands, result, rows) -> {
      Int128 value = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        value.load(operands[0], row);
        boolean isQuotientOfExact =
            divisor != 0 && value.fitsLong() && Math.abs(value.low()) < EXACT_DOUBLE_LIMIT;
        result.doubles()[row] =
            isQuotientOfExact ? value.low() / divisor : operands[0].getDecimal(row).doubleValue();
      }
    };
  }

  /** The lowest 64 bits of the number without its {@code scale} digits behind the point. */
  static HostFunction integralPart(int scale) {
    return (operands, result, rows) -> {
      Int128 value = new Int128();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        value.load(operands[0], row);
        if (scale <= LONG_DIGITS) {
          value.dropDigits(scale, DecimalRounding.DOWN);
          result.longs()[row] = value.low();
        } else {
          result.longs()[row] = operands[0].getDecimal(row).toBigInteger().longValue();
        }
      }
    };
  }

  /** Stores what is left at the scale of the vector, or a null if it has more digits. */
  static void store(BigDecimal value, HostVector result, int row, int precision) {
    BigDecimal scaled = value.setScale(result.type().scale(), RoundingMode.HALF_UP);
    if (scaled.precision() > precision) {
      result.setNull(row);
    } else {
      result.setDecimal(row, scaled);
    }
  }
}

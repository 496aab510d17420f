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
 * The twins of decimal.cu on DECIMAL128 vectors. Values of up to 18 digits are computed without
 * allocation; the others are computed with BigDecimal, as Flink's DecimalDataUtils does.
 */
@Internal
public final class DecimalHostFunctions {
  private static final MathContext QUOTIENT = new MathContext(38, RoundingMode.HALF_UP);
  private static final int LONG_DIGITS = 18;
  private static final long EXACT_DOUBLE_LIMIT = 1L << 53;

  private DecimalHostFunctions() {}

  /** A cursor over the rows of two decimals; {@link #next} overwrites all fields. */
  private static final class Pair {
    final Int128 left = new Int128();
    final Int128 right = new Int128();
    int row;
    private final HostVector[] operands;
    private final Rows rows;
    private int next;

    Pair(HostVector[] operands, Rows rows) {
      this.operands = operands;
      this.rows = rows;
    }

    boolean next() {
      if (next == rows.count()) {
        return false;
      }
      row = rows.position(next++);
      left.load(operands[0], row);
      right.load(operands[1], row);
      return true;
    }
  }

  /** A cursor over the rows of one decimal; {@link #next} overwrites all fields. */
  private static final class Single {
    final Int128 value = new Int128();
    int row;
    private final HostVector operand;
    private final Rows rows;
    private int next;

    Single(HostVector operand, Rows rows) {
      this.operand = operand;
      this.rows = rows;
    }

    boolean next() {
      if (next == rows.count()) {
        return false;
      }
      row = rows.position(next++);
      value.load(operand, row);
      return true;
    }
  }

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
      for (Pair pair = new Pair(operands, rows); pair.next(); ) {
        if (isDifference) {
          pair.right.negate();
        }
        if (drop == 0 && pair.left.appendZeros(leftShift) && pair.right.appendZeros(rightShift)) {
          if (pair.left.add(pair.right)) {
            pair.left.store(result, pair.row, precision);
          } else {
            result.setNull(pair.row);
          }
        } else {
          BigDecimal a = operands[0].getDecimal(pair.row);
          BigDecimal b = operands[1].getDecimal(pair.row);
          store(isDifference ? a.subtract(b) : a.add(b), result, pair.row, precision);
        }
      }
    };
  }

  /** The product, rounded by {@code drop} trailing digits. */
  static HostFunction product(int drop, int precision) {
    return (operands, result, rows) -> {
      for (Pair pair = new Pair(operands, rows); pair.next(); ) {
        if (drop <= LONG_DIGITS && pair.left.fitsLong() && pair.right.fitsLong()) {
          pair.left.setProduct(pair.left.low(), pair.right.low());
          pair.left.dropDigits(drop, DecimalRounding.HALF_UP);
          pair.left.store(result, pair.row, precision);
        } else {
          BigDecimal product =
              operands[0].getDecimal(pair.row).multiply(operands[1].getDecimal(pair.row));
          store(product, result, pair.row, precision);
        }
      }
    };
  }

  /**
   * The quotient, rounded to 38 digits and then to the scale of the result.
   *
   * @param shift zeros to append to the unscaled left operand for the scale of the result
   */
  static HostFunction quotient(int shift, int precision) {
    return (operands, result, rows) -> {
      for (Pair pair = new Pair(operands, rows); pair.next(); ) {
        if (pair.right.low() == 0 && pair.right.high() == 0) {
          rows.fail(pair.row, Status.DIVISION_BY_ZERO);
        } else if (divide(pair.left, pair.right, shift)) {
          pair.left.store(result, pair.row, precision);
        } else {
          BigDecimal divisor = operands[1].getDecimal(pair.row);
          BigDecimal quotient = operands[0].getDecimal(pair.row).divide(divisor, QUOTIENT);
          store(quotient, result, pair.row, precision);
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

  /** The remainder of the aligned operands, which has the scale of the result. */
  static HostFunction remainder(int leftShift, int rightShift) {
    return (operands, result, rows) -> {
      for (Pair pair = new Pair(operands, rows); pair.next(); ) {
        if (pair.right.low() == 0 && pair.right.high() == 0) {
          rows.fail(pair.row, Status.DIVISION_BY_ZERO);
        } else if (pair.left.appendZeros(leftShift)
            && pair.right.appendZeros(rightShift)
            && pair.left.fitsLong()
            && pair.right.fitsLong()) {
          pair.left.set(pair.left.low() % pair.right.low());
          pair.left.store(result, pair.row, result.type().precision());
        } else {
          wideRemainder(operands, result, rows, pair.row);
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

  /** Whether the left operand is less than the right operand, or equal if {@code orEqual}. */
  public static HostFunction isLess(boolean orEqual, int leftShift, int rightShift) {
    return (operands, result, rows) -> {
      for (Pair pair = new Pair(operands, rows); pair.next(); ) {
        int order =
            pair.left.appendZeros(leftShift) && pair.right.appendZeros(rightShift)
                ? pair.left.compareTo(pair.right)
                : operands[0].getDecimal(pair.row).compareTo(operands[1].getDecimal(pair.row));
        result.setBoolean(pair.row, orEqual ? order <= 0 : order < 0);
      }
    };
  }

  /** The negated number. */
  static HostFunction negation() {
    return (operands, result, rows) -> {
      for (Single each = new Single(operands[0], rows); each.next(); ) {
        each.value.negate();
        each.value.store(result, each.row, result.type().precision());
      }
    };
  }

  /** The absolute value. */
  static HostFunction magnitude() {
    return (operands, result, rows) -> {
      for (Single each = new Single(operands[0], rows); each.next(); ) {
        if (each.value.high() < 0) {
          each.value.negate();
        }
        each.value.store(result, each.row, result.type().precision());
      }
    };
  }

  /** -1, 0 or 1 with {@code scale} fraction digits. */
  static HostFunction sign(int scale, int precision) {
    return (operands, result, rows) -> {
      for (Single each = new Single(operands[0], rows); each.next(); ) {
        boolean negative = each.value.high() < 0;
        if (negative || each.value.high() != 0 || each.value.low() != 0) {
          each.value.setPowerOfTen(scale);
        }
        if (negative) {
          each.value.negate();
        }
        each.value.store(result, each.row, precision);
      }
    };
  }

  /** The number with {@code shift} more fraction digits, or fewer if negative. */
  static HostFunction rescaled(int shift, int precision) {
    return (operands, result, rows) -> {
      for (Single each = new Single(operands[0], rows); each.next(); ) {
        if (shift < 0 && -shift <= LONG_DIGITS) {
          each.value.dropDigits(-shift, DecimalRounding.HALF_UP);
          each.value.store(result, each.row, precision);
        } else if (shift >= 0 && each.value.appendZeros(shift)) {
          each.value.store(result, each.row, precision);
        } else {
          store(operands[0].getDecimal(each.row), result, each.row, precision);
        }
      }
    };
  }

  /** Rounds the unscaled value by {@code drop} digits, then appends {@code zeros} zeros. */
  static HostFunction rounded(int drop, int zeros, DecimalRounding rounding, int precision) {
    return (operands, result, rows) -> {
      for (Single each = new Single(operands[0], rows); each.next(); ) {
        if (drop <= LONG_DIGITS && zeros == 0) {
          each.value.dropDigits(drop, rounding);
          each.value.store(result, each.row, precision);
        } else {
          BigDecimal unscaled =
              new BigDecimal(operands[0].getDecimal(each.row).unscaledValue(), drop);
          BigDecimal kept = unscaled.setScale(0, rounding.mode());
          int exponent = zeros - result.type().scale();
          store(kept.scaleByPowerOfTen(exponent), result, each.row, precision);
        }
      }
    };
  }

  /** The nearest DOUBLE. */
  static HostFunction toDouble(int scale) {
    double divisor = scale <= LONG_DIGITS ? Int128.powerOfTen(scale) : 0;
    return (operands, result, rows) -> {
      for (Single each = new Single(operands[0], rows); each.next(); ) {
        boolean isQuotientOfExact =
            divisor != 0
                && each.value.fitsLong()
                && Math.abs(each.value.low()) < EXACT_DOUBLE_LIMIT;
        result.doubles()[each.row] =
            isQuotientOfExact
                ? each.value.low() / divisor
                : operands[0].getDecimal(each.row).doubleValue();
      }
    };
  }

  /** The lowest 64 bits of the number truncated to an integer. */
  static HostFunction integralPart(int scale) {
    return (operands, result, rows) -> {
      for (Single each = new Single(operands[0], rows); each.next(); ) {
        if (scale <= LONG_DIGITS) {
          each.value.dropDigits(scale, DecimalRounding.DOWN);
          result.longs()[each.row] = each.value.low();
        } else {
          result.longs()[each.row] = operands[0].getDecimal(each.row).toBigInteger().longValue();
        }
      }
    };
  }

  /** Rounds a value to the scale of the vector and stores it; null if it has too many digits. */
  static void store(BigDecimal value, HostVector result, int row, int precision) {
    BigDecimal scaled = value.setScale(result.type().scale(), RoundingMode.HALF_UP);
    if (scaled.precision() > precision) {
      result.setNull(row);
    } else {
      result.setDecimal(row, scaled);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;

/**
 * Result type of decimal arithmetic, as Flink's {@code LogicalTypeMerging} derives it.
 *
 * @param precision digits of the exact result, may exceed 38
 * @param scale fraction digits of the exact result
 */
@Internal
public record DecimalType(int precision, int scale) {
  public static final int MAX_PRECISION = 38;
  private static final int MIN_SCALE = 6;

  static DecimalType ofSum(DataType left, DataType right) {
    int scale = Math.max(left.scale(), right.scale());
    return new DecimalType(Math.max(whole(left), whole(right)) + scale + 1, scale);
  }

  static DecimalType ofProduct(DataType left, DataType right) {
    return new DecimalType(left.precision() + right.precision() + 1, left.scale() + right.scale());
  }

  static DecimalType ofQuotient(DataType left, DataType right) {
    int scale = Math.max(MIN_SCALE, left.scale() + right.precision() + 1);
    return new DecimalType(whole(left) + right.scale() + scale, scale);
  }

  static DecimalType ofRemainder(DataType left, DataType right) {
    int scale = Math.max(left.scale(), right.scale());
    return new DecimalType(Math.min(whole(left), whole(right)) + scale, scale);
  }

  /**
   * Type of a number rounded to {@code digits} fraction digits, fewer than it has.
   *
   * @param digits negative to round before the decimal point
   */
  static DecimalType ofRounded(DataType type, int digits) {
    return digits < 0
        ? new DecimalType(Math.min(MAX_PRECISION, whole(type) + 1), 0)
        : new DecimalType(whole(type) + 1 + digits, digits);
  }

  /** Number of integer digits. */
  public static int whole(DataType type) {
    return type.precision() - type.scale();
  }

  /** Whether every exact result fits the type without rounding. */
  boolean isExact() {
    return precision <= MAX_PRECISION;
  }

  /** The column type. If the precision exceeds 38, fraction digits are dropped, down to 6. */
  DataType toDataType() {
    if (isExact()) {
      return DataType.decimal(precision, scale);
    }
    int whole = precision - scale;
    int kept = Math.max(MAX_PRECISION - whole, Math.min(scale, MIN_SCALE));
    return DataType.decimal(MAX_PRECISION, kept);
  }
}

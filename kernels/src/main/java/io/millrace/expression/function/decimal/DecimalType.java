// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;

/**
 * The types of decimal arithmetic's results, as Flink's {@code LogicalTypeMerging} derives them.
 *
 * @param precision how many digits the exact result may have, more than 38 too
 * @param scale digits behind the point of the exact result
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
   * Of a number rounded to {@code digits} behind the point, fewer than it has.
   *
   * @param digits negative before the point
   */
  static DecimalType ofRounded(DataType type, int digits) {
    return digits < 0
        ? new DecimalType(Math.min(MAX_PRECISION, whole(type) + 1), 0)
        : new DecimalType(whole(type) + 1 + digits, digits);
  }

  /** Digits before the point. */
  public static int whole(DataType type) {
    return type.precision() - type.scale();
  }

  /** Whether each result fits the type without rounding. */
  boolean isExact() {
    return precision <= MAX_PRECISION;
  }

  /** The type; of more than 38 digits those behind the point give way, down to 6 of them. */
  DataType toDataType() {
    if (isExact()) {
      return DataType.decimal(precision, scale);
    }
    int whole = precision - scale;
    int kept = Math.max(MAX_PRECISION - whole, Math.min(scale, MIN_SCALE));
    return DataType.decimal(MAX_PRECISION, kept);
  }
}

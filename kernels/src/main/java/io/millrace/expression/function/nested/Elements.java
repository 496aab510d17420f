// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import io.millrace.column.DataType;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.comparison.ByteOrderComparison;
import io.millrace.expression.vector.HostVector;

/** Compares elements of vectors of one scalar type, which are not null, as SQL's = and > do. */
final class Elements {
  private Elements() {}

  /**
   * Checks that values can be tested for equality.
   *
   * @throws ExpressionException if they are nested
   */
  static void checkEquatable(DataType type) {
    if (!type.id().isScalar()) {
      throw new ExpressionException("values of " + type + " are not compared");
    }
  }

  /** Whether two elements are equal. NaN equals nothing. */
  static boolean equal(HostVector left, int i, HostVector right, int j) {
    return switch (left.kind()) {
      case BOOL, INT, LONG -> left.longs()[i] == right.longs()[j];
      case FLOAT, DOUBLE -> left.doubles()[i] == right.doubles()[j];
      case DECIMAL128, TIMESTAMP_NANOS ->
          left.longs()[i] == right.longs()[j] && left.secondParts()[i] == right.secondParts()[j];
      case BYTES -> left.length(i) == right.length(j) && order(left, i, right, j) == 0;
      case STRUCT, LIST -> throw new IllegalArgumentException("values of " + left.type());
    };
  }

  /**
   * Whether two elements are equal and Java's hash codes of them are, too: neither are 0.0 and
   * -0.0.
   */
  static boolean same(HostVector left, int i, HostVector right, int j) {
    return equal(left, i, right, j)
        && (!left.kind().isFloating()
            || Double.doubleToLongBits(left.doubles()[i])
                == Double.doubleToLongBits(right.doubles()[j]));
  }

  /** Whether the left element is greater. NaN is neither greater nor less. */
  static boolean isGreater(HostVector left, int i, HostVector right, int j) {
    return switch (left.kind()) {
      case BOOL, INT, LONG -> left.longs()[i] > right.longs()[j];
      case FLOAT, DOUBLE -> left.doubles()[i] > right.doubles()[j];
      case DECIMAL128 -> {
        int high = Long.compare(left.secondParts()[i], right.secondParts()[j]);
        yield (high != 0 ? high : Long.compareUnsigned(left.longs()[i], right.longs()[j])) > 0;
      }
      case TIMESTAMP_NANOS -> {
        int millis = Long.compare(left.longs()[i], right.longs()[j]);
        yield (millis != 0 ? millis : Long.compare(left.secondParts()[i], right.secondParts()[j]))
            > 0;
      }
      case BYTES -> order(left, i, right, j) > 0;
      case STRUCT, LIST -> throw new IllegalArgumentException("values of " + left.type());
    };
  }

  private static int order(HostVector left, int i, HostVector right, int j) {
    return ByteOrderComparison.compare(
        left.address(i), left.length(i), right.address(j), right.length(j));
  }
}

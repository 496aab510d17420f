// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.state.row.Accumulator;

/** The types that the aggregate functions of SQL take and give: those of Flink. */
final class AggregateTypes {
  private static final int MAX_DIGITS = 38;
  private static final int MIN_AVERAGE_SCALE = 6;

  private AggregateTypes() {}

  /** The type of the result of values of {@code type}. */
  static DataType result(Aggregate.Function function, DataType type) {
    boolean isDecimal = type.isDecimal();
    return switch (function) {
      case COUNT -> DataType.INT64;
      case SUM, SUM0 -> isDecimal ? DataType.decimal(MAX_DIGITS, type.scale()) : type;
      case AVG, VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP ->
          isDecimal
              ? DataType.decimal(MAX_DIGITS, Math.max(type.scale(), MIN_AVERAGE_SCALE))
              : type;
      case SQUARED_DIFFERENCES -> DataType.FLOAT64;
      case MIN, MAX, FIRST_VALUE, LAST_VALUE, LISTAGG -> type;
      case USER_DEFINED -> throw new AssertionError(function);
    };
  }

  /** The type that values of {@code type} are converted to before they are combined. */
  static DataType computed(Aggregate.Function function, DataType type) {
    return switch (function) {
      case AVG -> type.equals(DataType.FLOAT32) ? DataType.FLOAT64 : type;
      case VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP, SQUARED_DIFFERENCES -> DataType.FLOAT64;
      default -> type;
    };
  }

  /**
   * Checks that an aggregate of values of {@code type} is supported.
   *
   * @throws ExpressionException if it is not
   */
  static void check(Aggregate aggregate, DataType type, boolean isChangelog) {
    Accumulator.Function function =
        switch (aggregate.function()) {
          case COUNT -> Accumulator.Function.COUNT;
          case SUM, SUM0, AVG, VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP, SQUARED_DIFFERENCES ->
              Accumulator.Function.SUM;
          case MIN -> Accumulator.Function.MIN;
          case MAX -> Accumulator.Function.MAX;
          case FIRST_VALUE -> Accumulator.Function.FIRST;
          case LAST_VALUE -> Accumulator.Function.LAST;
          case LISTAGG -> Accumulator.Function.LISTAGG;
          case USER_DEFINED -> throw new AssertionError(aggregate);
        };
    boolean isOneValue =
        function == Accumulator.Function.FIRST || function == Accumulator.Function.LAST;
    boolean isList = function == Accumulator.Function.LISTAGG;
    if ((isOneValue || isList) && aggregate.isDistinct()) {
      throw new ExpressionException(aggregate + " is not supported: it has DISTINCT");
    }
    boolean isBytesExtreme = !isOneValue && type.id() == TypeId.BINARY;
    if (!function.supports(type) || (isBytesExtreme && function != Accumulator.Function.COUNT)) {
      throw new ExpressionException(aggregate + " is not supported: its argument is " + type);
    }
    if (isChangelog && (isOneValue || isList)) {
      throw new ExpressionException(
          aggregate + " is not supported for a changelog: the values before are not kept");
    }
    if (isChangelog && aggregate.isDistinct() && isInOrder(aggregate.function(), type)) {
      throw new ExpressionException(
          aggregate + " is not supported for a changelog: its argument is " + type);
    }
  }

  // When a key ends, values in the order of the rows begin again, also for values that come back.
  private static boolean isInOrder(Aggregate.Function function, DataType type) {
    return switch (function) {
      case SUM, SUM0, AVG -> type.isFloatingPoint();
      case VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP, SQUARED_DIFFERENCES -> true;
      default -> false;
    };
  }
}

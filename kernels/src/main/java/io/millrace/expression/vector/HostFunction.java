// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.PublicEvolving;
import io.millrace.expression.error.ResultTooLongException;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/**
 * Plain Java that computes a function for many rows: the reference of the device function.
 * Stateless; called by several threads, each with vectors of its own.
 */
@PublicEvolving
@FunctionalInterface
public interface HostFunction {

  /**
   * Writes the results of {@code rows}, or makes them null, or reports that they fail. Other rows
   * of {@code result} must stay as they are.
   *
   * @param operands the operands' values; not null in {@code rows}
   */
  void evaluate(HostVector[] operands, HostVector result, Rows rows);

  /** What one row's result is. */
  @FunctionalInterface
  interface RowFunction {
    void evaluate(HostVector[] operands, HostVector result, int row);
  }

  /** Row by row. A row fails whose result has over 2 GiB. */
  static HostFunction ofRow(RowFunction function) {
    return (operands, result, rows) -> {
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        try {
          function.evaluate(operands, result, row);
        } catch (ResultTooLongException e) {
          rows.fail(row, Status.RESULT_TOO_LONG);
        }
      }
    };
  }

  /** Of one long to a long: BOOL, INT and LONG kinds. */
  static HostFunction ofLong(LongUnaryOperator function) {
    return (operands, result, rows) -> {
      long[] values = operands[0].longs();
      long[] results = result.longs();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        results[row] = function.applyAsLong(values[row]);
      }
    };
  }

  /** Of two longs to a long: BOOL, INT and LONG kinds. */
  static HostFunction ofLongs(LongBinaryOperator function) {
    return (operands, result, rows) -> {
      long[] left = operands[0].longs();
      long[] right = operands[1].longs();
      long[] results = result.longs();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        results[row] = function.applyAsLong(left[row], right[row]);
      }
    };
  }

  /** Of one double to a double. */
  static HostFunction ofDouble(DoubleUnaryOperator function) {
    return (operands, result, rows) -> {
      double[] values = operands[0].doubles();
      double[] results = result.doubles();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        results[row] = function.applyAsDouble(values[row]);
      }
    };
  }

  /** Of two doubles to a double. */
  static HostFunction ofDoubles(DoubleBinaryOperator function) {
    return (operands, result, rows) -> {
      double[] left = operands[0].doubles();
      double[] right = operands[1].doubles();
      double[] results = result.doubles();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        results[row] = function.applyAsDouble(left[row], right[row]);
      }
    };
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.PublicEvolving;
import io.millrace.expression.error.ResultTooLongException;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/**
 * Plain Java implementation of a function over many rows; the reference for the device function.
 * Stateless: several threads call one instance, each with its own vectors.
 */
@PublicEvolving
@FunctionalInterface
public interface HostFunction {

  /**
   * Computes {@code rows}: writes a value, sets null, or reports a failure for each row. Must not
   * change other rows of {@code result}.
   *
   * @param operands operand values; not null in {@code rows}
   */
  void evaluate(HostVector[] operands, HostVector result, Rows rows);

  /** Computes one row. */
  @FunctionalInterface
  interface RowFunction {
    void evaluate(HostVector[] operands, HostVector result, int row);
  }

  /** Computes one row, or reports its failure to {@code rows}. */
  @FunctionalInterface
  interface FallibleRowFunction {
    void evaluate(HostVector[] operands, HostVector result, int row, Rows rows);
  }

  /** A function that computes row by row and may report that a row fails. */
  static HostFunction ofFallibleRow(FallibleRowFunction function) {
    return (operands, result, rows) -> {
      for (int i = 0; i < rows.count(); i++) {
        function.evaluate(operands, result, rows.position(i), rows);
      }
    };
  }

  /** A function that computes row by row. A row whose result exceeds 2 GiB fails. */
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

  /** A function of a long that returns a long: kinds BOOL, INT and LONG. */
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

  /** A function of two longs that returns a long: kinds BOOL, INT and LONG. */
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

  /** A function of a double that returns a double. */
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

  /** A function of two doubles that returns a double. */
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

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.numeric;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import io.millrace.expression.vector.ValueKind;
import java.util.List;

/**
 * The five arithmetic operations on two integers of one type and, except for the remainder, on two
 * floating-point numbers of one type. Integers wrap as in Java. Integer division by zero fails the
 * row.
 */
@Internal
public enum Arithmetic {
  ADD("+", "add"),
  SUBTRACT("-", "sub"),
  MULTIPLY("*", "mul"),
  DIVIDE("/", "div"),
  REMAINDER("MOD", "rem");

  private final String symbol;
  private final String instruction;

  Arithmetic(String symbol, String instruction) {
    this.symbol = symbol;
    this.instruction = instruction;
  }

  public String symbol() {
    return symbol;
  }

  /** Applies the operation to two operands of one numeric type other than DECIMAL. */
  public TypedExpression of(TypedExpression left, TypedExpression right) {
    DataType type = left.type();
    ValueKind kind = ValueKind.of(type);
    BoundFunction.Builder function = BoundFunction.named(symbol);
    boolean divides = this == DIVIDE || this == REMAINDER;
    if (kind.isFloating()) {
      function.host(this::evaluateDoubles).device(floating(kind));
    } else if (divides) {
      function
          .failing()
          .host((operands, result, rows) -> divide(operands, result, rows, type))
          .device((kind == ValueKind.INT ? "int_" : "long_") + wrappingName(type));
    } else {
      function
          .host((operands, result, rows) -> evaluateLongs(operands, result, rows, type))
          .device(DeviceFunction.instructions((ptx, in, out) -> emit(ptx, in, out, type)));
    }
    if (this != REMAINDER) {
      function.sql(operands -> "(" + String.join(" " + symbol + " ", operands) + ")");
    }
    return function.call(List.of(left, right), type);
  }

  // MIN / -1 is the only quotient that overflows a narrow integer.
  private String wrappingName(DataType type) {
    String operation = this == DIVIDE ? "divide" : "remainder";
    return switch (type.id()) {
      case INT8 -> operation + "_to_byte";
      case INT16 -> operation + "_to_short";
      default -> operation;
    };
  }

  private DeviceFunction floating(ValueKind kind) {
    String suffix = kind == ValueKind.FLOAT ? ".f32" : ".f64";
    return DeviceFunction.instructions(
        (ptx, operands, result) ->
            ptx.write(
                "%s.rn%s %s, %s, %s",
                instruction,
                suffix,
                result.register(),
                operands.get(0).register(),
                operands.get(1).register()));
  }

  private void emit(PtxWriter ptx, List<PtxValue> operands, PtxValue result, DataType type) {
    boolean isLong = ValueKind.of(type) == ValueKind.LONG;
    ptx.write(
        "%s%s%s %s, %s, %s",
        instruction,
        this == MULTIPLY ? ".lo" : "",
        isLong ? ".s64" : ".s32",
        result.register(),
        operands.get(0).register(),
        operands.get(1).register());
    emitWrap(ptx, result.register(), type);
  }

  /** Sign-extends the low bits of a register that holds a TINYINT or SMALLINT. */
  public static void emitWrap(PtxWriter ptx, String register, DataType type) {
    switch (type.id()) {
      case INT8 -> ptx.write("bfe.s32 %s, %s, 0, 8", register, register);
      case INT16 -> ptx.write("bfe.s32 %s, %s, 0, 16", register, register);
      default -> {}
    }
  }

  private void evaluateLongs(HostVector[] operands, HostVector result, Rows rows, DataType type) {
    long[] left = operands[0].longs();
    long[] right = operands[1].longs();
    long[] results = result.longs();
    if (rows.isDense()) {
      evaluateLongs(left, right, results, rows.count());
      wrap(results, rows, type);
      return;
    }
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      results[row] =
          switch (this) {
            case ADD -> left[row] + right[row];
            case SUBTRACT -> left[row] - right[row];
            default -> left[row] * right[row];
          };
    }
    wrap(results, rows, type);
  }

  private void evaluateLongs(long[] left, long[] right, long[] results, int count) {
    switch (this) {
      case ADD -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] + right[i];
        }
      }
      case SUBTRACT -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] - right[i];
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] * right[i];
        }
      }
    }
  }

  private static void wrap(long[] values, Rows rows, DataType type) {
    if (ValueKind.of(type) == ValueKind.INT) {
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        values[row] = wrapped(values[row], type);
      }
    }
  }

  /** Wraps {@code value} to the range of an integer type. */
  public static long wrapped(long value, DataType type) {
    return switch (type.id()) {
      case INT8 -> (byte) value;
      case INT16 -> (short) value;
      case INT32 -> (int) value;
      default -> value;
    };
  }

  private void divide(HostVector[] operands, HostVector result, Rows rows, DataType type) {
    long[] left = operands[0].longs();
    long[] right = operands[1].longs();
    long[] results = result.longs();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      if (right[row] == 0) {
        rows.fail(row, Status.DIVISION_BY_ZERO);
      } else {
        long value = this == DIVIDE ? left[row] / right[row] : left[row] % right[row];
        results[row] = wrapped(value, type);
      }
    }
  }

  private void evaluateDoubles(HostVector[] operands, HostVector result, Rows rows) {
    double[] left = operands[0].doubles();
    double[] right = operands[1].doubles();
    double[] results = result.doubles();
    boolean isFloat = ValueKind.of(result.type()) == ValueKind.FLOAT;
    if (rows.isDense() && !isFloat) {
      evaluateDoubles(left, right, results, rows.count());
      return;
    }
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      double value =
          switch (this) {
            case ADD -> left[row] + right[row];
            case SUBTRACT -> left[row] - right[row];
            case MULTIPLY -> left[row] * right[row];
            case DIVIDE -> left[row] / right[row];
            case REMAINDER -> throw new IllegalStateException("no remainder of " + result.type());
          };
      // For these operations, rounding the double result to float gives the exact float result.
      results[row] = isFloat ? (float) value : value;
    }
  }

  private void evaluateDoubles(double[] left, double[] right, double[] results, int count) {
    switch (this) {
      case ADD -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] + right[i];
        }
      }
      case SUBTRACT -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] - right[i];
        }
      }
      case MULTIPLY -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] * right[i];
        }
      }
      case DIVIDE -> {
        for (int i = 0; i < count; i++) {
          results[i] = left[i] / right[i];
        }
      }
      case REMAINDER -> throw new IllegalStateException("no remainder of doubles");
    }
  }

  public static HostFunction negate(DataType type) {
    return ValueKind.of(type).isFloating()
        ? HostFunction.ofDouble(value -> -value)
        : HostFunction.ofLong(value -> wrapped(-value, type));
  }

  public static DeviceFunction negateOnDevice(DataType type) {
    String suffix =
        switch (ValueKind.of(type)) {
          case FLOAT -> ".f32";
          case DOUBLE -> ".f64";
          case LONG -> ".s64";
          default -> ".s32";
        };
    return DeviceFunction.instructions(
        (ptx, operands, result) -> {
          ptx.write("neg%s %s, %s", suffix, result.register(), operands.get(0).register());
          emitWrap(ptx, result.register(), type);
        });
  }
}

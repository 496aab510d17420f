// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.numeric;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.CastRule;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.ValueKind;
import java.util.List;

/**
 * Casts among BOOLEAN, integers and floating-point numbers with Java's conversions: integers wrap;
 * floating point to integer saturates, by way of INT for narrower targets, and maps NaN to 0.
 */
@Internal
public final class NumericCasts implements CastRule {
  @Override
  public boolean supports(DataType from, DataType to) {
    return isBinaryNumberOrBoolean(from) && isBinaryNumberOrBoolean(to);
  }

  private static boolean isBinaryNumberOrBoolean(DataType type) {
    return type.id() == TypeId.BOOL || type.isInteger() || type.isFloatingPoint();
  }

  @Override
  public TypedExpression.Call bind(TypedExpression operand, DataType to, BindingContext context) {
    return cast(operand, to);
  }

  /** A builder with the name and SQL text of a cast, without its functions. */
  public static BoundFunction.Builder function(DataType to) {
    return BoundFunction.named("CAST")
        .parameters(to)
        .sql(operands -> "CAST(" + operands.get(0) + " AS " + to + ")");
  }

  /** Casts between two types other than DECIMAL. */
  public static TypedExpression.Call cast(TypedExpression operand, DataType to) {
    boolean fromFloating = operand.type().isFloatingPoint();
    return function(to)
        .host(fromFloating ? fromDoubles(to) : fromLongs(to))
        .device(DeviceFunction.instructions((ptx, in, out) -> emit(ptx, in.get(0), out)))
        .call(List.of(operand), to);
  }

  private static HostFunction fromLongs(DataType to) {
    return switch (to.id()) {
      case BOOL -> HostFunction.ofLong(value -> value != 0 ? 1 : 0);
      case FLOAT32 ->
          HostFunction.ofRow(
              (operands, result, row) -> result.doubles()[row] = (float) operands[0].longs()[row]);
      case FLOAT64 ->
          HostFunction.ofRow(
              (operands, result, row) -> result.doubles()[row] = (double) operands[0].longs()[row]);
      default -> HostFunction.ofLong(value -> Arithmetic.wrapped(value, to));
    };
  }

  private static HostFunction fromDoubles(DataType to) {
    return switch (to.id()) {
      case FLOAT32 -> HostFunction.ofDouble(value -> (float) value);
      case FLOAT64 -> HostFunction.ofDouble(value -> value);
      default ->
          HostFunction.ofRow(
              (operands, result, row) ->
                  result.longs()[row] = fromDouble(operands[0].doubles()[row], to));
    };
  }

  private static long fromDouble(double value, DataType to) {
    return switch (to.id()) {
      case BOOL -> value != 0 ? 1 : 0;
      case INT64 -> (long) value;
      default -> Arithmetic.wrapped((int) value, to);
    };
  }

  private static void emit(PtxWriter ptx, PtxValue operand, PtxValue result) {
    String from = operand.register();
    String to = result.register();
    String fromSuffix = suffix(operand.type());
    switch (ValueKind.of(result.type())) {
      case BOOL -> {
        boolean isFloating = operand.type().isFloatingPoint();
        String zero =
            isFloating ? fromSuffix.equals(".f32") ? "0f00000000" : "0d0000000000000000" : "0";
        ptx.write("setp.%s%s %s, %s, %s", isFloating ? "neu" : "ne", fromSuffix, to, from, zero);
      }
      case FLOAT, DOUBLE -> emitToFloating(ptx, operand, result);
      default -> {
        if (operand.type().id() == TypeId.BOOL) {
          ptx.write("selp%s %s, 1, 0, %s", suffix(result.type()), to, from);
        } else if (operand.type().isFloatingPoint()) {
          emitFloatingToInteger(ptx, operand, result);
        } else if (fromSuffix.equals(suffix(result.type()))) {
          ptx.write("mov%s %s, %s", suffix(result.type()), to, from);
        } else {
          ptx.write("cvt%s%s %s, %s", suffix(result.type()), fromSuffix, to, from);
        }
        Arithmetic.emitWrap(ptx, to, result.type());
      }
    }
  }

  private static void emitToFloating(PtxWriter ptx, PtxValue operand, PtxValue result) {
    String from = operand.register();
    String to = result.register();
    boolean isFloat = result.type().id() == TypeId.FLOAT32;
    if (operand.type().id() == TypeId.BOOL) {
      String one = isFloat ? "0f3F800000" : "0d3FF0000000000000";
      String zero = isFloat ? "0f00000000" : "0d0000000000000000";
      ptx.write("selp%s %s, %s, %s, %s", suffix(result.type()), to, one, zero, from);
    } else {
      boolean isWidening = isFloat || operand.type().id() != TypeId.FLOAT32;
      String rounding = isWidening ? ".rn" : "";
      ptx.write(
          "cvt%s%s%s %s, %s", rounding, suffix(result.type()), suffix(operand.type()), to, from);
    }
  }

  /** The PTX instruction saturates but does not map NaN to zero. */
  private static void emitFloatingToInteger(PtxWriter ptx, PtxValue operand, PtxValue result) {
    String from = operand.register();
    String suffix = suffix(operand.type());
    String integerSuffix = suffix(result.type());
    String isNan = ptx.register(".pred");
    ptx.write("setp.nan%s %s, %s, %s", suffix, isNan, from, from);
    ptx.write("cvt.rzi%s%s %s, %s", integerSuffix, suffix, result.register(), from);
    ptx.write("selp%s %s, 0, %s, %s", integerSuffix, result.register(), result.register(), isNan);
  }

  private static String suffix(DataType type) {
    return switch (ValueKind.of(type)) {
      case BOOL -> ".pred";
      case INT -> ".s32";
      case LONG -> ".s64";
      case FLOAT -> ".f32";
      default -> ".f64";
    };
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.numeric.NumericCasts;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.CastRule;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import io.millrace.expression.vector.ValueKind;
import java.math.BigDecimal;
import java.util.List;

/**
 * Casts from and to decimals, as in Flink's {@code DecimalDataUtils}. To a decimal: rounded
 * HALF_UP, null if the digits do not fit. To an integer: truncated, then wrapped. To a
 * floating-point number: through DOUBLE. A cast of NaN or infinity fails; TRY_CAST then gives null,
 * although Flink's TRY_CAST fails too.
 */
@Internal
public final class DecimalCasts implements CastRule {
  @Override
  public boolean supports(DataType from, DataType to) {
    return isNumericOrBoolean(from)
        && isNumericOrBoolean(to)
        && (from.isDecimal() || to.isDecimal());
  }

  private static boolean isNumericOrBoolean(DataType type) {
    return type.id() == TypeId.BOOL || type.isNumeric();
  }

  @Override
  public TypedExpression.Call bind(TypedExpression operand, DataType to, BindingContext context) {
    return operand.type().isDecimal() ? fromDecimal(operand, to) : toDecimal(operand, to);
  }

  /** Casts a decimal to another numeric type or BOOLEAN. */
  static TypedExpression.Call fromDecimal(TypedExpression operand, DataType to) {
    return switch (to.id()) {
      case DECIMAL32, DECIMAL64, DECIMAL128 -> rescaled(operand, operand.type(), to);
      case BOOL -> toBoolean(operand);
      case INT64 -> toLong(operand);
      case FLOAT64 -> toDouble(operand);
      case FLOAT32 -> NumericCasts.cast(toDouble(operand), to);
      default -> NumericCasts.cast(toLong(operand), to);
    };
  }

  /**
   * Casts another numeric type or BOOLEAN to a decimal.
   *
   * @throws ExpressionException if the operand is BOOLEAN and the type cannot hold 1, the value of
   *     TRUE
   */
  static TypedExpression.Call toDecimal(TypedExpression operand, DataType to) {
    return switch (operand.type().id()) {
      case BOOL -> fromBoolean(operand, to);
      case FLOAT32 -> fromDouble(NumericCasts.cast(operand, DataType.FLOAT64), to);
      case FLOAT64 -> fromDouble(operand, to);
      default -> rescaled(operand, Coercion.asDecimal(operand.type()), to);
    };
  }

  /**
   * Rescales a decimal or an integer.
   *
   * @param from the decimal type that holds the operand's values
   */
  private static TypedExpression.Call rescaled(
      TypedExpression operand, DataType from, DataType to) {
    int shift = to.scale() - from.scale();
    BoundFunction.Builder function = NumericCasts.function(to);
    // Rounding may carry into another digit.
    int whole = DecimalType.whole(from) + (shift < 0 ? 1 : 0);
    boolean fits = DecimalType.whole(to) >= whole;
    boolean isWide = DecimalRegisters.isWide(operand.type());
    if (fits && shift >= 0 && shift <= DecimalRegisters.LONG_DIGITS && (!isWide || shift == 0)) {
      return function
          .host(appended(shift))
          .device(
              DeviceFunction.instructions(
                  (ptx, operands, result) -> emitAppended(ptx, operands.get(0), result, shift)))
          .call(List.of(operand), to);
    }
    TypedExpression wide = DecimalRegisters.widen(operand);
    TypedExpression.Call call =
        function
            .nullable()
            .host(DecimalHostFunctions.rescaled(shift, to.precision()))
            .device(DecimalRegisters.library("decimal_rescale", shift, to.precision()))
            .call(List.of(wide), DecimalRegisters.wide(to), !fits || operand.nullable());
    return call.type().equals(to) ? call : (TypedExpression.Call) DecimalRegisters.narrow(call, to);
  }

  private static HostFunction appended(int digits) {
    long factor = Int128.powerOfTen(digits);
    return (operands, result, rows) -> {
      long[] values = operands[0].longs();
      long[] highWords = operands[0].secondParts();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        result.longs()[row] = values[row] * factor;
        if (result.secondParts() != null) {
          result.secondParts()[row] =
              highWords != null ? highWords[row] : Math.multiplyHigh(values[row], factor);
        }
      }
    };
  }

  private static void emitAppended(PtxWriter ptx, PtxValue operand, PtxValue result, int digits) {
    if (ValueKind.of(operand.type()) == ValueKind.DECIMAL128) {
      ptx.write("mov.b64 %s, %s", result.register(), operand.register());
      ptx.write("mov.b64 %s, %s", result.secondPart(), operand.secondPart());
      return;
    }
    String value = DecimalRegisters.asLong(ptx, operand);
    long factor = Int128.powerOfTen(digits);
    if (ValueKind.of(result.type()) == ValueKind.DECIMAL128) {
      ptx.write("mul.lo.s64 %s, %s, %d", result.register(), value, factor);
      ptx.write("mul.hi.s64 %s, %s, %d", result.secondPart(), value, factor);
    } else {
      String scaled = ptx.register(".b64");
      ptx.write("mul.lo.s64 %s, %s, %d", scaled, value, factor);
      DecimalRegisters.store(ptx, scaled, result);
    }
  }

  private static TypedExpression.Call toBoolean(TypedExpression operand) {
    return NumericCasts.function(DataType.BOOL)
        .host(
            HostFunction.ofRow(
                (operands, result, row) -> {
                  long[] high = operands[0].secondParts();
                  result.setBoolean(
                      row, operands[0].longs()[row] != 0 || (high != null && high[row] != 0));
                }))
        .device(DeviceFunction.instructions(DecimalCasts::emitToBoolean))
        .call(List.of(operand), DataType.BOOL);
  }

  private static void emitToBoolean(PtxWriter ptx, List<PtxValue> operands, PtxValue result) {
    PtxValue operand = operands.get(0);
    String bits = operand.register();
    if (ValueKind.of(operand.type()) == ValueKind.DECIMAL128) {
      bits = ptx.register(".b64");
      ptx.write("or.b64 %s, %s, %s", bits, operand.register(), operand.secondPart());
    }
    boolean isInt = ValueKind.of(operand.type()) == ValueKind.INT;
    ptx.write("setp.ne%s %s, %s, 0", isInt ? ".s32" : ".s64", result.register(), bits);
  }

  private static TypedExpression.Call toLong(TypedExpression operand) {
    int scale = operand.type().scale();
    BoundFunction.Builder function = NumericCasts.function(DataType.INT64);
    if (DecimalRegisters.isWide(operand.type())) {
      return function
          .host(DecimalHostFunctions.integralPart(scale))
          .device(DecimalRegisters.library("decimal_to_long", scale))
          .call(List.of(operand), DataType.INT64);
    }
    long divisor = Int128.powerOfTen(scale);
    return function
        .host(HostFunction.ofLong(value -> value / divisor))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) ->
                    ptx.write(
                        "div.s64 %s, %s, %d",
                        result.register(), DecimalRegisters.asLong(ptx, operands.get(0)), divisor)))
        .call(List.of(operand), DataType.INT64);
  }

  /**
   * Divides two DOUBLEs for up to 18 digits. As in Flink, the quotient may not be the nearest
   * DOUBLE.
   */
  private static TypedExpression.Call toDouble(TypedExpression operand) {
    int scale = operand.type().scale();
    BoundFunction.Builder function = NumericCasts.function(DataType.FLOAT64);
    if (DecimalRegisters.isWide(operand.type())) {
      return function
          .host(DecimalHostFunctions.toDouble(scale))
          .device(DecimalRegisters.library("decimal_to_double", scale))
          .call(List.of(operand), DataType.FLOAT64);
    }
    double divisor = Int128.powerOfTen(scale);
    return function
        .host(
            HostFunction.ofRow(
                (operands, result, row) ->
                    result.doubles()[row] = operands[0].longs()[row] / divisor))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) -> {
                  String value = ptx.register(".f64");
                  ptx.write(
                      "cvt.rn.f64.s64 %s, %s",
                      value, DecimalRegisters.asLong(ptx, operands.get(0)));
                  ptx.write(
                      "div.rn.f64 %s, %s, 0d%016X",
                      result.register(), value, Double.doubleToRawLongBits(divisor));
                }))
        .call(List.of(operand), DataType.FLOAT64);
  }

  private static TypedExpression.Call fromBoolean(TypedExpression operand, DataType to) {
    if (DecimalType.whole(to) == 0) {
      throw new ExpressionException("expected a type that holds 1, the value of TRUE, got " + to);
    }
    TypedExpression.Call bit = NumericCasts.cast(operand, DataType.INT8);
    return rescaled(bit, DataType.decimal(1, 0), to);
  }

  private static TypedExpression.Call fromDouble(TypedExpression operand, DataType to) {
    String width = to.id() == TypeId.DECIMAL32 ? "32" : to.id() == TypeId.DECIMAL64 ? "64" : "128";
    return NumericCasts.function(to)
        .failing()
        .host(HostFunction.ofFallibleRow(DecimalCasts::evaluateFromDouble))
        .device(DecimalRegisters.library("double_to_decimal" + width, to.scale(), to.precision()))
        .call(List.of(operand), to, true);
  }

  private static void evaluateFromDouble(
      HostVector[] operands, HostVector result, int row, Rows rows) {
    double value = operands[0].doubles()[row];
    if (Double.isFinite(value)) {
      DecimalHostFunctions.store(BigDecimal.valueOf(value), result, row, result.type().precision());
    } else {
      rows.fail(row, Status.INVALID_CAST);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.function.numeric.Arithmetic;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.util.List;

/**
 * The five arithmetic operations on two decimals, or a decimal and an integer, with the types and
 * values of Flink's {@code DecimalDataUtils}: exact, then rounded HALF_UP, and null if the result
 * exceeds the precision of its type.
 */
@Internal
public final class DecimalArithmetic {
  private final Arithmetic operation;
  private final TypedExpression left;
  private final TypedExpression right;
  private final DataType leftType;
  private final DataType rightType;

  private DecimalArithmetic(Arithmetic operation, TypedExpression left, TypedExpression right) {
    this.operation = operation;
    this.left = left;
    this.right = right;
    this.leftType = Coercion.asDecimal(left.type());
    this.rightType = Coercion.asDecimal(right.type());
  }

  /**
   * Applies the operation to two operands, at least one of which is a decimal; the other may be an
   * integer.
   */
  public static TypedExpression of(
      Arithmetic operation, TypedExpression left, TypedExpression right, BindingContext context) {
    DecimalArithmetic arithmetic = new DecimalArithmetic(operation, left, right);
    return switch (operation) {
      case ADD, SUBTRACT -> arithmetic.sum();
      case MULTIPLY -> arithmetic.product();
      case DIVIDE -> arithmetic.quotient();
      case REMAINDER -> arithmetic.remainder(context);
    };
  }

  private BoundFunction.Builder function(DataType type) {
    BoundFunction.Builder function = BoundFunction.named(operation.symbol()).parameters(type);
    return operation == Arithmetic.REMAINDER
        ? function
        : function.sql(
            operands -> "(" + String.join(" " + operation.symbol() + " ", operands) + ")");
  }

  private TypedExpression sum() {
    DecimalType exact = DecimalType.ofSum(leftType, rightType);
    DataType type = exact.toDataType();
    int leftShift = exact.scale() - leftType.scale();
    int rightShift = exact.scale() - rightType.scale();
    if (type.precision() <= DecimalRegisters.LONG_DIGITS) {
      return function(type)
          .host(longSum(leftShift, rightShift))
          .device(
              DeviceFunction.instructions(
                  (ptx, in, out) -> emitLongSum(ptx, in, out, leftShift, rightShift)))
          .call(List.of(left, right), type);
    }
    int drop = exact.scale() - type.scale();
    boolean isDifference = operation == Arithmetic.SUBTRACT;
    BoundFunction.Builder function =
        function(type)
            .host(
                DecimalHostFunctions.sum(
                    isDifference, leftShift, rightShift, drop, type.precision()));
    if (exact.isExact() && leftShift == 0 && rightShift == 0) {
      function.device(DeviceFunction.instructions(this::emitWideSum));
    } else {
      String name = isDifference ? "decimal_subtract" : "decimal_add";
      function
          .nullable()
          .device(DecimalRegisters.library(name, leftShift, rightShift, drop, type.precision()));
    }
    return DecimalRegisters.call(function, !exact.isExact(), type, left, right);
  }

  private HostFunction longSum(int leftShift, int rightShift) {
    long leftFactor = Int128.powerOfTen(leftShift);
    long rightFactor = Int128.powerOfTen(rightShift) * (operation == Arithmetic.SUBTRACT ? -1 : 1);
    return (operands, result, rows) -> {
      long[] a = operands[0].longs();
      long[] b = operands[1].longs();
      long[] sums = result.longs();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        sums[row] = a[row] * leftFactor + b[row] * rightFactor;
      }
    };
  }

  private void emitLongSum(
      PtxWriter ptx, List<PtxValue> operands, PtxValue result, int leftShift, int rightShift) {
    String a = scaled(ptx, DecimalRegisters.asLong(ptx, operands.get(0)), leftShift);
    String b = scaled(ptx, DecimalRegisters.asLong(ptx, operands.get(1)), rightShift);
    String sum = ptx.register(".b64");
    ptx.write("%s.s64 %s, %s, %s", instruction(), sum, a, b);
    DecimalRegisters.store(ptx, sum, result);
  }

  private String instruction() {
    return operation == Arithmetic.SUBTRACT ? "sub" : "add";
  }

  private static String scaled(PtxWriter ptx, String register, int digits) {
    if (digits == 0) {
      return register;
    }
    String scaled = ptx.register(".b64");
    ptx.write("mul.lo.s64 %s, %s, %d", scaled, register, Int128.powerOfTen(digits));
    return scaled;
  }

  private void emitWideSum(PtxWriter ptx, List<PtxValue> operands, PtxValue result) {
    PtxValue a = operands.get(0);
    PtxValue b = operands.get(1);
    String instruction = instruction();
    ptx.write("%s.cc.u64 %s, %s, %s", instruction, result.register(), a.register(), b.register());
    ptx.write(
        "%sc.u64 %s, %s, %s", instruction, result.secondPart(), a.secondPart(), b.secondPart());
  }

  private TypedExpression product() {
    DecimalType exact = DecimalType.ofProduct(leftType, rightType);
    DataType type = exact.toDataType();
    if (type.precision() <= DecimalRegisters.LONG_DIGITS) {
      return function(type)
          .host(HostFunction.ofLongs((a, b) -> a * b))
          .device(DeviceFunction.instructions(DecimalArithmetic::emitLongProduct))
          .call(List.of(left, right), type);
    }
    if (isLong(left) && isLong(right)) {
      return function(type)
          .host(DecimalArithmetic::evaluateWideProduct)
          .device(DeviceFunction.instructions(DecimalArithmetic::emitWideProduct))
          .call(List.of(left, right), type);
    }
    int drop = exact.scale() - type.scale();
    return DecimalRegisters.call(
        function(type)
            .nullable()
            .host(DecimalHostFunctions.product(drop, type.precision()))
            .device(DecimalRegisters.library("decimal_multiply", drop, type.precision())),
        !exact.isExact(),
        type,
        left,
        right);
  }

  private static boolean isLong(TypedExpression operand) {
    return !DecimalRegisters.isWide(operand.type());
  }

  private static void emitLongProduct(PtxWriter ptx, List<PtxValue> operands, PtxValue result) {
    String product = ptx.register(".b64");
    ptx.write(
        "mul.lo.s64 %s, %s, %s",
        product,
        DecimalRegisters.asLong(ptx, operands.get(0)),
        DecimalRegisters.asLong(ptx, operands.get(1)));
    DecimalRegisters.store(ptx, product, result);
  }

  private static void evaluateWideProduct(HostVector[] operands, HostVector result, Rows rows) {
    long[] a = operands[0].longs();
    long[] b = operands[1].longs();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      result.longs()[row] = a[row] * b[row];
      result.secondParts()[row] = Math.multiplyHigh(a[row], b[row]);
    }
  }

  private static void emitWideProduct(PtxWriter ptx, List<PtxValue> operands, PtxValue result) {
    String a = DecimalRegisters.asLong(ptx, operands.get(0));
    String b = DecimalRegisters.asLong(ptx, operands.get(1));
    ptx.write("mul.lo.s64 %s, %s, %s", result.register(), a, b);
    ptx.write("mul.hi.s64 %s, %s, %s", result.secondPart(), a, b);
  }

  private TypedExpression quotient() {
    DecimalType exact = DecimalType.ofQuotient(leftType, rightType);
    DataType type = exact.toDataType();
    int shift = type.scale() - leftType.scale() + rightType.scale();
    return DecimalRegisters.call(
        function(type)
            .failing()
            .host(DecimalHostFunctions.quotient(shift, type.precision()))
            .device(DecimalRegisters.library("decimal_divide", shift, type.precision())),
        !exact.isExact(),
        type,
        left,
        right);
  }

  /**
   * For two numbers without fraction digits, the result has the type of the second operand, even if
   * it is an integer.
   */
  private TypedExpression remainder(BindingContext context) {
    boolean isIntegral = leftType.scale() == 0 && rightType.scale() == 0;
    if (isIntegral && right.type().isInteger()) {
      TypedExpression remainder =
          operation.of(
              Coercion.cast(left, DataType.INT64, context),
              Coercion.cast(right, DataType.INT64, context));
      return Coercion.cast(remainder, right.type(), context);
    }
    DecimalType exact = DecimalType.ofRemainder(leftType, rightType);
    DataType type = isIntegral ? rightType : exact.toDataType();
    int leftShift = exact.scale() - leftType.scale();
    int rightShift = exact.scale() - rightType.scale();
    return DecimalRegisters.call(
        function(type)
            .failing()
            .host(DecimalHostFunctions.remainder(leftShift, rightShift))
            .device(DecimalRegisters.library("decimal_mod", leftShift, rightShift)),
        false,
        type,
        left,
        right);
  }
}

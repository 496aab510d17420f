// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.ValueKind;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;

/**
 * Converts between the registers of decimals of different precisions. Library functions take and
 * return 128 bits.
 */
@Internal
public final class DecimalRegisters {
  /** Number of decimal digits that fit 64 bits. */
  static final int LONG_DIGITS = 18;

  private DecimalRegisters() {}

  /** The type with the same scale and a 128-bit representation. */
  static DataType wide(DataType type) {
    return DataType.decimal(Math.max(type.precision(), LONG_DIGITS + 1), type.scale());
  }

  static boolean isWide(DataType type) {
    return ValueKind.of(type) == ValueKind.DECIMAL128;
  }

  /** Widens a decimal or an integer to 128 bits. */
  public static TypedExpression widen(TypedExpression operand) {
    if (isWide(operand.type())) {
      return operand;
    }
    DataType wide = wide(Coercion.asDecimal(operand.type()));
    if (operand instanceof TypedExpression.Literal literal) {
      Object value =
          literal.value() instanceof Long number ? BigDecimal.valueOf(number) : literal.value();
      return new TypedExpression.Literal(value, wide);
    }
    return BoundFunction.named("WIDEN")
        .parameters(wide)
        .host(
            (operands, result, rows) -> {
              for (int i = 0; i < rows.count(); i++) {
                int row = rows.position(i);
                long value = operands[0].longs()[row];
                result.longs()[row] = value;
                result.secondParts()[row] = value >> (Long.SIZE - 1);
              }
            })
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) -> store(ptx, asLong(ptx, operands.get(0)), result)))
        .sql(operands -> operands.get(0))
        .call(List.of(operand), wide);
  }

  /** Narrows a number to the width of its type, which is known to hold it. */
  static TypedExpression narrow(TypedExpression operand, DataType to) {
    if (operand.type().equals(to)) {
      return operand;
    }
    return BoundFunction.named("NARROW")
        .parameters(to)
        .host(HostFunction.ofLong(value -> value))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) -> store(ptx, operands.get(0).register(), result)))
        .sql(operands -> operands.get(0))
        .call(List.of(operand), to);
  }

  /** A 64-bit register with the value of a 32-bit or 64-bit register. */
  static String asLong(PtxWriter ptx, PtxValue value) {
    if (ValueKind.of(value.type()) == ValueKind.LONG) {
      return value.register();
    }
    String wide = ptx.register(".b64");
    ptx.write("cvt.s64.s32 %s, %s", wide, value.register());
    return wide;
  }

  /** Stores a 64-bit register in a value of 32, 64 or 128 bits. */
  static void store(PtxWriter ptx, String register, PtxValue result) {
    switch (ValueKind.of(result.type())) {
      case INT -> ptx.write("cvt.u32.u64 %s, %s", result.register(), register);
      case LONG -> ptx.write("mov.b64 %s, %s", result.register(), register);
      default -> {
        ptx.write("mov.b64 %s, %s", result.register(), register);
        ptx.write("shr.s64 %s, %s, 63", result.secondPart(), register);
      }
    }
  }

  /** A call of a function in decimal.cu with constant arguments of one byte each. */
  public static DeviceFunction library(String name, int... numbers) {
    byte[] constant = new byte[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      constant[i] = (byte) numbers[i];
    }
    return DeviceFunction.call(name, constant);
  }

  /**
   * A call of a function whose operands and result are 128 bits wide; the result is then narrowed
   * to its type.
   *
   * @param nullable whether the function may return null
   */
  static TypedExpression call(
      BoundFunction.Builder function,
      boolean nullable,
      DataType type,
      TypedExpression... operands) {
    List<TypedExpression> wide = Arrays.stream(operands).map(DecimalRegisters::widen).toList();
    boolean anyNullable = nullable || wide.stream().anyMatch(TypedExpression::nullable);
    return narrow(function.call(wide, wide(type), anyNullable), type);
  }
}

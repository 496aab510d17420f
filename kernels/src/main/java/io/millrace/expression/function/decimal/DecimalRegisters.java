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
 * Between the registers that decimals of different precisions take: the library's functions take
 * and give 128 bits.
 */
@Internal
public final class DecimalRegisters {
  /** Digits that 64 bits hold. */
  static final int LONG_DIGITS = 18;

  private DecimalRegisters() {}

  /** The type with the same scale whose values take 128 bits. */
  static DataType wide(DataType type) {
    return DataType.decimal(Math.max(type.precision(), LONG_DIGITS + 1), type.scale());
  }

  static boolean isWide(DataType type) {
    return ValueKind.of(type) == ValueKind.DECIMAL128;
  }

  /** The same number in 128 bits; {@code operand} is a decimal or an integer. */
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

  /** The same number in the bits that its type needs, which hold it. */
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

  /** A register of 64 bits with a value of 32 or 64. */
  static String asLong(PtxWriter ptx, PtxValue value) {
    if (ValueKind.of(value.type()) == ValueKind.LONG) {
      return value.register();
    }
    String wide = ptx.register(".b64");
    ptx.write("cvt.s64.s32 %s, %s", wide, value.register());
    return wide;
  }

  /** Stores a register of 64 bits in a value of 32, 64 or 128. */
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

  /** The call of a function of decimal.cu, with its numbers of one byte each. */
  public static DeviceFunction library(String name, int... numbers) {
    byte[] constant = new byte[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      constant[i] = (byte) numbers[i];
    }
    return DeviceFunction.call(name, constant);
  }

  /**
   * The call of a function whose operands and result take 128 bits, with a result that may not.
   *
   * @param nullable whether the function may give null
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

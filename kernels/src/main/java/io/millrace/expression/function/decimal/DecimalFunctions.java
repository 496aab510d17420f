// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.ArrayList;
import java.util.List;

/** Mathematical functions of decimals with the types and values of Flink SQL. */
@Internal
public final class DecimalFunctions {
  /** Decimals of each width, with and without fraction digits. */
  static final List<DataType> TYPES =
      List.of(
          DataType.decimal(5, 2),
          DataType.decimal(9, 0),
          DataType.decimal(15, 4),
          DataType.decimal(38, 10));

  private DecimalFunctions() {}

  /** One signature for each of {@link #TYPES}. */
  public static List<Signature> unarySignatures() {
    return TYPES.stream().map(Signature::of).toList();
  }

  /** Two signatures for each of {@link #TYPES}: with and without a number of digits. */
  public static List<Signature> roundingSignatures() {
    List<Signature> signatures = new ArrayList<>(unarySignatures());
    for (DataType type : TYPES) {
      signatures.add(
          Signature.of(Signature.any(type), Signature.literal(DataType.INT32, 2L, 0L, -1L, 12L)));
    }
    return signatures;
  }

  /** Pairs of equal and of different types, and a decimal with an integer on either side. */
  public static List<Signature> binarySignatures() {
    return List.of(
        Signature.of(DataType.decimal(5, 2), DataType.decimal(5, 2)),
        Signature.of(DataType.decimal(9, 0), DataType.decimal(15, 4)),
        Signature.of(DataType.decimal(15, 4), DataType.decimal(15, 4)),
        Signature.of(DataType.decimal(38, 10), DataType.decimal(38, 10)),
        Signature.of(DataType.decimal(38, 10), DataType.decimal(5, 2)),
        Signature.of(DataType.decimal(15, 4), DataType.INT32),
        Signature.of(DataType.INT64, DataType.decimal(5, 2)));
  }

  public static TypedExpression negate(TypedExpression argument) {
    DataType type = argument.type();
    BoundFunction.Builder function =
        BoundFunction.named("NEGATE").sql(operands -> "(-" + operands.get(0) + ")");
    if (DecimalRegisters.isWide(type)) {
      function.host(DecimalHostFunctions.negation()).device("decimal_negate");
    } else {
      function.host(HostFunction.ofLong(value -> -value)).device(instruction("neg.s64"));
    }
    return function.call(List.of(argument), type);
  }

  public static TypedExpression abs(TypedExpression argument) {
    DataType type = argument.type();
    BoundFunction.Builder function = BoundFunction.named("ABS");
    if (DecimalRegisters.isWide(type)) {
      function.host(DecimalHostFunctions.magnitude()).device("decimal_abs");
    } else {
      function.host(HostFunction.ofLong(Math::abs)).device(instruction("abs.s64"));
    }
    return function.call(List.of(argument), type);
  }

  /**
   * -1, 0 or 1 in the type of the argument. If the type has no integer digits, then 1 is out of
   * range: as in Flink, the value is stored anyway up to 18 digits and becomes null beyond.
   */
  public static TypedExpression sign(TypedExpression argument) {
    DataType type = argument.type();
    if (DecimalRegisters.isWide(type)) {
      return BoundFunction.named("SIGN")
          .nullable()
          .host(DecimalHostFunctions.sign(type.scale(), type.precision()))
          .device(DecimalRegisters.library("decimal_sign", type.scale(), type.precision()))
          .call(List.of(argument), type);
    }
    long one = Int128.powerOfTen(type.scale());
    return BoundFunction.named("SIGN")
        .host(HostFunction.ofLong(value -> Long.signum(value) * one))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) -> {
                  String value = DecimalRegisters.asLong(ptx, operands.get(0));
                  String sign = ptx.register(".b64");
                  ptx.write("min.s64 %s, %s, 1", sign, value);
                  ptx.write("max.s64 %s, %s, -1", sign, sign);
                  ptx.write("mul.lo.s64 %s, %s, %d", sign, sign, one);
                  DecimalRegisters.store(ptx, sign, result);
                }))
        .call(List.of(argument), type);
  }

  /** FLOOR or CEIL. */
  public static TypedExpression whole(String name, TypedExpression argument) {
    DataType from = argument.type();
    DataType type = DataType.decimal(from.precision(), 0);
    DecimalRounding rounding =
        name.equals("FLOOR") ? DecimalRounding.FLOOR : DecimalRounding.CEILING;
    return from.scale() == 0
        ? argument
        : round(BoundFunction.named(name), argument, type, 0, rounding);
  }

  /**
   * ROUND, HALF_UP, to the number of fraction digits in the second argument; a negative number
   * rounds before the decimal point.
   *
   * @throws ExpressionException if the number of digits, which determines the type, is not a
   *     literal
   */
  public static TypedExpression round(List<TypedExpression> arguments) {
    return round("ROUND", arguments, DecimalRounding.HALF_UP);
  }

  /**
   * TRUNCATE to the number of fraction digits in the second argument; a negative number truncates
   * before the decimal point.
   *
   * @throws ExpressionException if the number of digits, which determines the type, is not a
   *     literal
   */
  public static TypedExpression truncate(List<TypedExpression> arguments) {
    return round("TRUNCATE", arguments, DecimalRounding.DOWN);
  }

  private static TypedExpression round(
      String name, List<TypedExpression> arguments, DecimalRounding rounding) {
    TypedExpression argument = arguments.get(0);
    DataType from = argument.type();
    int digits = (int) Arguments.literalInteger(arguments, 1);
    if (digits >= from.scale()) {
      return argument;
    }
    BoundFunction.Builder function =
        BoundFunction.named(name)
            .parameters(digits)
            .sql(operands -> name + "(" + operands.get(0) + ", " + digits + ")");
    DataType type = DecimalType.ofRounded(from, digits).toDataType();
    // No number has that many integer digits.
    int kept = Math.max(digits, -DecimalType.MAX_PRECISION - 1);
    return round(function, argument, type, kept, rounding);
  }

  private static TypedExpression round(
      BoundFunction.Builder function,
      TypedExpression argument,
      DataType type,
      int digits,
      DecimalRounding rounding) {
    int drop = argument.type().scale() - digits;
    int zeros = Math.max(0, -digits);
    int precision = type.precision();
    boolean mayOverflow =
        digits < 0 && DecimalType.whole(argument.type()) == DecimalType.MAX_PRECISION;
    return DecimalRegisters.call(
        function
            .nullable()
            .host(DecimalHostFunctions.rounded(drop, zeros, rounding, precision))
            .device(
                DecimalRegisters.library("decimal_round", drop, zeros, rounding.code(), precision)),
        mayOverflow,
        type,
        argument);
  }

  private static DeviceFunction instruction(String name) {
    return DeviceFunction.instructions(
        (ptx, operands, result) -> {
          String value = ptx.register(".b64");
          ptx.write("%s %s, %s", name, value, DecimalRegisters.asLong(ptx, operands.get(0)));
          DecimalRegisters.store(ptx, value, result);
        });
  }
}

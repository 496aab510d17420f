package io.millrace.expression.function;

import io.millrace.column.DataType;
import io.millrace.expression.BoundFunction;
import io.millrace.expression.DeviceFunction;
import io.millrace.expression.ExpressionException;
import io.millrace.expression.HostFunction;
import io.millrace.expression.Signature;
import io.millrace.expression.TypedExpression;
import java.util.List;

/** The mathematical functions of decimals, with the types and values of Flink SQL. */
final class DecimalFunctions {
  /** Decimals of each width, with and without digits behind the point. */
  static final List<DataType> TYPES =
      List.of(
          DataType.decimal(5, 2),
          DataType.decimal(9, 0),
          DataType.decimal(15, 4),
          DataType.decimal(38, 10));

  private DecimalFunctions() {}

  /** One signature for each of {@link #TYPES}. */
  static List<Signature> unarySignatures() {
    return TYPES.stream().map(Signature::of).toList();
  }

  /** Pairs of equal and of different types, and a decimal with an integer on either side. */
  static List<Signature> binarySignatures() {
    return List.of(
        Signature.of(DataType.decimal(5, 2), DataType.decimal(5, 2)),
        Signature.of(DataType.decimal(9, 0), DataType.decimal(15, 4)),
        Signature.of(DataType.decimal(15, 4), DataType.decimal(15, 4)),
        Signature.of(DataType.decimal(38, 10), DataType.decimal(38, 10)),
        Signature.of(DataType.decimal(38, 10), DataType.decimal(5, 2)),
        Signature.of(DataType.decimal(15, 4), DataType.INT32),
        Signature.of(DataType.INT64, DataType.decimal(5, 2)));
  }

  static TypedExpression negate(TypedExpression argument) {
    DataType type = argument.type();
    BoundFunction.Builder function =
        BoundFunction.named("NEGATE").sql(operands -> "(-" + operands.get(0) + ")");
    if (DecimalWidth.isWide(type)) {
      function.host(DecimalHostFunctions.negation()).device("decimal_negate");
    } else {
      function.host(HostFunction.ofLong(value -> -value)).device(instruction("neg.s64"));
    }
    return function.call(List.of(argument), type);
  }

  static TypedExpression abs(TypedExpression argument) {
    DataType type = argument.type();
    BoundFunction.Builder function = BoundFunction.named("ABS");
    if (DecimalWidth.isWide(type)) {
      function.host(DecimalHostFunctions.magnitude()).device("decimal_abs");
    } else {
      function.host(HostFunction.ofLong(Math::abs)).device(instruction("abs.s64"));
    }
    return function.call(List.of(argument), type);
  }

  /**
   * -1, 0 or 1 in the type of the argument. If that has no digit before the point it is out of the
   * type's range up to 18 digits, and null beyond, as in Flink.
   */
  static TypedExpression sign(TypedExpression argument) {
    DataType type = argument.type();
    if (DecimalWidth.isWide(type)) {
      return BoundFunction.named("SIGN")
          .nullable()
          .host(DecimalHostFunctions.sign(type.precision()))
          .device(DecimalWidth.library("decimal_sign", type.scale(), type.precision()))
          .call(List.of(argument), type);
    }
    long one = Int128.powerOfTen(type.scale());
    return BoundFunction.named("SIGN")
        .host(HostFunction.ofLong(value -> Long.signum(value) * one))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) -> {
                  String value = DecimalWidth.asLong(ptx, operands.get(0));
                  String sign = ptx.register(".b64");
                  ptx.write("min.s64 %s, %s, 1", sign, value);
                  ptx.write("max.s64 %s, %s, -1", sign, sign);
                  ptx.write("mul.lo.s64 %s, %s, %d", sign, sign, one);
                  DecimalWidth.store(ptx, sign, result);
                }))
        .call(List.of(argument), type);
  }

  static TypedExpression floor(TypedExpression argument) {
    return toIntegral("FLOOR", argument, DecimalRounding.FLOOR);
  }

  static TypedExpression ceil(TypedExpression argument) {
    return toIntegral("CEIL", argument, DecimalRounding.CEILING);
  }

  private static TypedExpression toIntegral(
      String name, TypedExpression argument, DecimalRounding rounding) {
    DataType from = argument.type();
    DataType type = DataType.decimal(from.precision(), 0);
    return from.scale() == 0
        ? argument
        : round(BoundFunction.named(name), argument, type, 0, rounding);
  }

  /** ROUND to {@code digits} behind the point, HALF_UP; before the point if it is negative. */
  static TypedExpression round(TypedExpression argument, long digits) {
    return round("ROUND", argument, digits, DecimalRounding.HALF_UP);
  }

  /** TRUNCATE to {@code digits} behind the point; before the point if it is negative. */
  static TypedExpression truncate(TypedExpression argument, long digits) {
    return round("TRUNCATE", argument, digits, DecimalRounding.DOWN);
  }

  private static TypedExpression round(
      String name, TypedExpression argument, long digits, DecimalRounding rounding) {
    if (digits < Integer.MIN_VALUE || digits > Integer.MAX_VALUE) {
      throw new ExpressionException(digits + " digits are no INT");
    }
    DataType from = argument.type();
    if (digits >= from.scale()) {
      return argument;
    }
    DataType type = DecimalType.ofRounded(from, (int) digits).toDataType();
    BoundFunction.Builder function =
        BoundFunction.named(name)
            .parameters((int) digits)
            .sql(operands -> name + "(" + operands.get(0) + ", " + digits + ")");
    // All digits are dropped by as many as 38 before the point.
    int kept = (int) Math.max(digits, -DecimalType.MAXIMUM_PRECISION - 1);
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
        digits < 0 && DecimalType.whole(argument.type()) == DecimalType.MAXIMUM_PRECISION;
    return DecimalWidth.call(
        function
            .nullable()
            .host(DecimalHostFunctions.rounded(drop, zeros, rounding, precision))
            .device(DecimalWidth.library("decimal_round", drop, zeros, rounding.code(), precision)),
        mayOverflow,
        type,
        argument);
  }

  private static DeviceFunction instruction(String name) {
    return DeviceFunction.instructions(
        (ptx, operands, result) -> {
          String value = ptx.register(".b64");
          ptx.write("%s %s, %s", name, value, DecimalWidth.asLong(ptx, operands.get(0)));
          DecimalWidth.store(ptx, value, result);
        });
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.function.decimal.DecimalFunctions;
import io.millrace.expression.function.numeric.Arithmetic;
import io.millrace.expression.function.numeric.DoubleRounding;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import io.millrace.expression.vector.ValueKind;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Stream;

/** Functions of all numeric types that keep the type: absolute value, sign and rounding. */
@Internal
public final class RoundingFunctions {
  private static final List<DataType> INTEGERS =
      List.of(DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64);
  private static final List<DataType> FLOATING = List.of(DataType.FLOAT32, DataType.FLOAT64);
  private static final List<DataType> NUMBERS =
      Stream.concat(INTEGERS.stream(), FLOATING.stream()).toList();
  // The code that Flink generates for narrower integers does not compile.
  private static final List<DataType> WIDE_NUMBERS =
      List.of(DataType.INT32, DataType.INT64, DataType.FLOAT32, DataType.FLOAT64);

  // Flink accepts any INTEGER, but needs excessive time or memory for many millions of digits.
  private static final Signature.Parameter DIGITS =
      Signature.literal(DataType.INT32, 2L, 0L, -1L, 12L, 2147483647L, -2147483647L);

  private RoundingFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        unary("ABS", "The absolute value; the least integer is returned unchanged.", NUMBERS)
            .bind((arguments, context) -> absolute(arguments)),
        unary("SIGN", "-1, 0 or 1 for a negative number, zero or a positive number.", WIDE_NUMBERS)
            .bind((arguments, context) -> sign(arguments)),
        unary(
                "FLOOR",
                "The greatest whole number that is less than or equal to the argument.",
                NUMBERS)
            .bind((arguments, context) -> whole("FLOOR", Math::floor, "cvt.rmi", arguments)),
        unary(
                "CEIL",
                "The least whole number that is greater than or equal to the argument.",
                NUMBERS)
            .aliases("CEILING")
            .bind((arguments, context) -> whole("CEIL", Math::ceil, "cvt.rpi", arguments)),
        rounding(
                "ROUND",
                "Rounds half away from zero, to a number of digits after the decimal point"
                    + " (default 0). Integers wrap. NaN, infinities and 536870920 digits or more"
                    + " fail.",
                NUMBERS)
            .bind((arguments, context) -> round(arguments)),
        rounding(
                "TRUNCATE",
                "Removes the digits after the decimal point, or after the given number of"
                    + " digits. Floating-point numbers of 1E20 and beyond, NaN and infinities fail,"
                    + " as do 536870920 or more digits before the decimal point.",
                WIDE_NUMBERS)
            .bind((arguments, context) -> truncate(arguments)));
  }

  private static FunctionDefinition.Builder unary(
      String name, String description, List<DataType> types) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.ARITHMETIC)
        .signatures(
            Stream.concat(
                    types.stream().map(Signature::of), DecimalFunctions.unarySignatures().stream())
                .toList())
        .description(description);
  }

  private static FunctionDefinition.Builder rounding(
      String name, String description, List<DataType> types) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.ARITHMETIC)
        .signatures(
            Stream.concat(
                    types.stream()
                        .flatMap(
                            type ->
                                Stream.of(
                                    Signature.of(type), Signature.of(Signature.any(type), DIGITS))),
                    DecimalFunctions.roundingSignatures().stream())
                .toList())
        .differences(
            "For a DECIMAL the number of digits must be a literal; for other types it may"
                + " be any expression.")
        .description(description);
  }

  private static DataType argumentType(List<TypedExpression> arguments, List<DataType> types) {
    TypedExpression argument = arguments.get(0);
    if (!types.contains(argument.type())) {
      throw Arguments.wrongType(argument);
    }
    return argument.type();
  }

  private static TypedExpression absolute(List<TypedExpression> arguments) {
    Arguments.count(arguments, 1, 1);
    if (arguments.get(0).type().isDecimal()) {
      return DecimalFunctions.abs(arguments.get(0));
    }
    DataType type = argumentType(arguments, NUMBERS);
    HostFunction host =
        type.isFloatingPoint()
            ? HostFunction.ofDouble(Math::abs)
            : HostFunction.ofLong(x -> Arithmetic.wrapped(Math.abs(x), type));
    return BoundFunction.named("ABS")
        .host(host)
        .device(DeviceFunction.instructions((ptx, in, out) -> emitAbsolute(ptx, in, out, type)))
        .call(arguments, type);
  }

  private static void emitAbsolute(
      PtxWriter ptx, List<PtxValue> operands, PtxValue result, DataType type) {
    String operand = operands.get(0).register();
    String suffix = suffix(type);
    if (type.isFloatingPoint()) {
      ptx.write("abs%s %s, %s", suffix, result.register(), operand);
      return;
    }
    ptx.write("neg%s %s, %s", suffix, result.register(), operand);
    ptx.write("max%s %s, %s, %s", suffix, result.register(), result.register(), operand);
    Arithmetic.emitWrap(ptx, result.register(), type);
  }

  private static TypedExpression sign(List<TypedExpression> arguments) {
    Arguments.count(arguments, 1, 1);
    if (arguments.get(0).type().isDecimal()) {
      return DecimalFunctions.sign(arguments.get(0));
    }
    DataType type = argumentType(arguments, WIDE_NUMBERS);
    HostFunction host =
        type.isFloatingPoint()
            ? HostFunction.ofDouble(Math::signum)
            : HostFunction.ofLong(Long::signum);
    return BoundFunction.named("SIGN")
        .host(host)
        .device(DeviceFunction.instructions((ptx, in, out) -> emitSign(ptx, in, out, type)))
        .call(arguments, type);
  }

  // Zeros and NaN are returned unchanged.
  private static void emitSign(
      PtxWriter ptx, List<PtxValue> operands, PtxValue result, DataType type) {
    String operand = operands.get(0).register();
    String suffix = suffix(type);
    if (!type.isFloatingPoint()) {
      ptx.write("max%s %s, %s, -1", suffix, result.register(), operand);
      ptx.write("min%s %s, %s, 1", suffix, result.register(), result.register());
      return;
    }
    boolean isFloat = ValueKind.of(type) == ValueKind.FLOAT;
    String one = isFloat ? "0f3F800000" : "0d3FF0000000000000";
    String minusOne = isFloat ? "0fBF800000" : "0dBFF0000000000000";
    String zero = isFloat ? "0f00000000" : "0d0000000000000000";
    String positive = ptx.register(".pred");
    String negative = ptx.register(".pred");
    ptx.write("setp.gt%s %s, %s, %s", suffix, positive, operand, zero);
    ptx.write("setp.lt%s %s, %s, %s", suffix, negative, operand, zero);
    ptx.write("selp%s %s, %s, %s, %s", suffix, result.register(), one, operand, positive);
    ptx.write(
        "selp%s %s, %s, %s, %s", suffix, result.register(), minusOne, result.register(), negative);
  }

  private static TypedExpression whole(
      String name, DoubleUnaryOperator host, String instruction, List<TypedExpression> arguments) {
    Arguments.count(arguments, 1, 1);
    if (arguments.get(0).type().isDecimal()) {
      return DecimalFunctions.whole(name, arguments.get(0));
    }
    DataType type = argumentType(arguments, NUMBERS);
    if (INTEGERS.contains(type)) {
      return arguments.get(0);
    }
    String suffix = suffix(type);
    return BoundFunction.named(name)
        .host(HostFunction.ofDouble(host))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) ->
                    ptx.write(
                        "%s%s%s %s, %s",
                        instruction,
                        suffix,
                        suffix,
                        result.register(),
                        operands.get(0).register())))
        .call(arguments, type);
  }

  private static TypedExpression round(List<TypedExpression> arguments) {
    List<TypedExpression> operands = withDigits(arguments);
    if (arguments.get(0).type().isDecimal()) {
      return DecimalFunctions.round(operands);
    }
    DataType type = argumentType(arguments, NUMBERS);
    BoundFunction.Builder function = BoundFunction.named("ROUND");
    switch (type.id()) {
      case FLOAT32 -> function.failing().host(RoundingFunctions::roundFloats).device("float_round");
      case FLOAT64 ->
          function.failing().host(RoundingFunctions::roundDoubles).device("double_round");
      default ->
          function
              .host(
                  HostFunction.ofLongs(
                      (x, digits) ->
                          Arithmetic.wrapped(DoubleRounding.round(x, (int) digits), type)))
              .device(
                  switch (type.id()) {
                    case INT8 -> "int_round_to_byte";
                    case INT16 -> "int_round_to_short";
                    case INT32 -> "int_round";
                    default -> "long_round";
                  });
    }
    return function.call(checked("ROUND", operands, DoubleRounding.TOO_MANY_DIGITS - 1), type);
  }

  private static TypedExpression truncate(List<TypedExpression> arguments) {
    List<TypedExpression> operands = withDigits(arguments);
    if (arguments.get(0).type().isDecimal()) {
      return DecimalFunctions.truncate(operands);
    }
    DataType type = argumentType(arguments, WIDE_NUMBERS);
    BoundFunction.Builder function = BoundFunction.named("TRUNCATE");
    if (type.isFloatingPoint()) {
      boolean isFloat = type.id() == TypeId.FLOAT32;
      function
          .failing()
          .host((values, result, rows) -> truncateDoubles(values, result, rows, isFloat))
          .device(isFloat ? "float_truncate" : "double_truncate");
    } else {
      function
          .host(HostFunction.ofLongs((x, digits) -> DoubleRounding.truncate(x, (int) digits)))
          .device(type.id() == TypeId.INT32 ? "int_truncate" : "long_truncate");
    }
    return function.call(checked("TRUNCATE", operands, Integer.MAX_VALUE), type);
  }

  /**
   * Wraps the digits operand in a check that fails if there are too many. The check is a separate
   * call, so that literal digits, the usual case, cost nothing and never fail.
   */
  private static List<TypedExpression> checked(
      String name, List<TypedExpression> operands, int most) {
    TypedExpression number = operands.get(0);
    TypedExpression digits = operands.get(1);
    boolean isInRange =
        digits instanceof TypedExpression.Literal literal
            && literal.value() instanceof Long count
            && Math.abs(count) < DoubleRounding.TOO_MANY_DIGITS;
    if (number.type().isFloatingPoint() || isInRange) {
      return operands;
    }
    boolean isLong = number.type().id() == TypeId.INT64;
    TypedExpression checked =
        BoundFunction.named(name)
            .parameters(most)
            .failing()
            .host(
                (values, result, rows) -> {
                  for (int i = 0; i < rows.count(); i++) {
                    int row = rows.position(i);
                    long count = values[1].longs()[row];
                    if (values[0].longs()[row] != 0
                        && (count > most || count <= -DoubleRounding.TOO_MANY_DIGITS)) {
                      rows.fail(row, Status.INVALID_ARGUMENT);
                    } else {
                      result.longs()[row] = count;
                    }
                  }
                })
            .device(isLong ? "long_rounding_digits" : "int_rounding_digits")
            .sql(texts -> name + "(" + texts.get(0) + ", " + texts.get(1) + ")")
            .call(
                List.of(number, digits, new TypedExpression.Literal((long) most, DataType.INT32)),
                DataType.INT32);
    return List.of(number, checked);
  }

  private static List<TypedExpression> withDigits(List<TypedExpression> arguments) {
    Arguments.count(arguments, 1, 2);
    if (arguments.size() == 1) {
      return List.of(arguments.get(0), new TypedExpression.Literal(0L, DataType.INT32));
    }
    Arguments.typed(arguments, 1, TypeId.INT8, TypeId.INT16, TypeId.INT32);
    return arguments;
  }

  private static void roundDoubles(HostVector[] operands, HostVector result, Rows rows) {
    double[] values = operands[0].doubles();
    long[] digits = operands[1].longs();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      if (DoubleRounding.canRound(values[row], (int) digits[row])) {
        result.doubles()[row] = DoubleRounding.round(values[row], (int) digits[row]);
      } else {
        rows.fail(row, Status.INVALID_ARGUMENT);
      }
    }
  }

  private static void roundFloats(HostVector[] operands, HostVector result, Rows rows) {
    double[] values = operands[0].doubles();
    long[] digits = operands[1].longs();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      if (DoubleRounding.canRound(values[row], (int) digits[row])) {
        result.doubles()[row] = DoubleRounding.round((float) values[row], (int) digits[row]);
      } else {
        rows.fail(row, Status.INVALID_ARGUMENT);
      }
    }
  }

  private static void truncateDoubles(
      HostVector[] operands, HostVector result, Rows rows, boolean isFloat) {
    double[] values = operands[0].doubles();
    long[] digits = operands[1].longs();
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      if (DoubleRounding.canTruncate(values[row], (int) digits[row])) {
        double truncated = DoubleRounding.truncate(values[row], (int) digits[row]);
        result.doubles()[row] = isFloat ? (float) truncated : truncated;
      } else {
        rows.fail(row, Status.INVALID_ARGUMENT);
      }
    }
  }

  private static String suffix(DataType type) {
    return switch (ValueKind.of(type)) {
      case FLOAT -> ".f32";
      case DOUBLE -> ".f64";
      case LONG -> ".s64";
      default -> ".s32";
    };
  }
}

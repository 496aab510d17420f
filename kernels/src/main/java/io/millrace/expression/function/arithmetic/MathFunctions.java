// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.function.numeric.Logarithm;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.ptx.PtxValue;
import io.millrace.expression.ptx.PtxWriter;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Mathematical functions of DOUBLE. Host and device use the same algorithm: fdlibm, as specified by
 * {@link StrictMath}, or {@link Logarithm}. Flink calls {@link Math}, whose results are within one
 * unit in the last place of both.
 */
@Internal
public final class MathFunctions {
  // Functions that Math computes with processor instructions; it delegates the others to
  // StrictMath.
  private static final Set<String> APPROXIMATED =
      Set.of("EXP", "LN", "LOG", "LOG10", "LOG2", "POWER", "SIN", "COS", "TAN");
  private static final String QUOTIENT = "COT";

  private MathFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return Stream.of(exponentials(), trigonometry(), hyperbolics(), angles(), constants())
        .flatMap(List::stream)
        .toList();
  }

  private static List<FunctionDefinition> exponentials() {
    return List.of(
        unary("EXP", "Euler's number to the power of x.", StrictMath::exp),
        unary("LN", "The natural logarithm; NaN for negative numbers.", Logarithm::natural),
        unary("LOG10", "The logarithm to base 10.", Logarithm::decimal),
        unary("LOG2", "The logarithm to base 2.", Logarithm::binary),
        logarithm(),
        binary("POWER", "The first number raised to the power of the second.", StrictMath::pow),
        unary(
            "SQRT",
            "The square root, as the power of 0.5: infinity for minus infinity.",
            x -> StrictMath.pow(x, 0.5),
            DeviceFunction.instructions(MathFunctions::squareRoot)));
  }

  private static List<FunctionDefinition> trigonometry() {
    return List.of(
        unary("SIN", "The sine of an angle in radians.", StrictMath::sin),
        unary("COS", "The cosine of an angle in radians.", StrictMath::cos),
        unary("TAN", "The tangent of an angle in radians.", StrictMath::tan),
        unary(QUOTIENT, "The cotangent of an angle in radians.", x -> 1.0 / StrictMath.tan(x)),
        unary("ASIN", "The arc sine; NaN outside -1 to 1.", StrictMath::asin),
        unary("ACOS", "The arc cosine; NaN outside -1 to 1.", StrictMath::acos),
        unary("ATAN", "The arc tangent.", StrictMath::atan),
        binary("ATAN2", "The angle of the point (x, y), given y and x.", StrictMath::atan2));
  }

  private static List<FunctionDefinition> hyperbolics() {
    return List.of(
        unary("SINH", "The hyperbolic sine.", StrictMath::sinh),
        unary("COSH", "The hyperbolic cosine.", StrictMath::cosh),
        unary("TANH", "The hyperbolic tangent.", StrictMath::tanh));
  }

  private static List<FunctionDefinition> angles() {
    return List.of(
        unary(
            "DEGREES",
            "Converts radians to degrees.",
            Math::toDegrees,
            multiply(Math.toDegrees(1))),
        unary(
            "RADIANS",
            "Converts degrees to radians.",
            Math::toRadians,
            multiply(Math.toRadians(1))));
  }

  private static List<FunctionDefinition> constants() {
    return List.of(
        constant("PI", "The ratio of a circle's circumference to its diameter.", Math.PI),
        constant("E", "Euler's number.", Math.E));
  }

  private static FunctionDefinition logarithm() {
    return FunctionDefinition.named("LOG")
        .family(FunctionFamily.ARITHMETIC)
        .signatures(
            Signature.of(DataType.FLOAT64), Signature.of(DataType.FLOAT64, DataType.FLOAT64))
        .description(
            "The natural logarithm of a number, or, with two arguments, the logarithm of"
                + " the second to the base of the first.")
        .differences(differences("LOG"))
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 2);
              BoundFunction.Builder function =
                  arguments.size() == 1
                      ? BoundFunction.named("LN")
                          .host(HostFunction.ofDouble(Logarithm::natural))
                          .device("double_ln")
                      : BoundFunction.named("LOG")
                          .host(HostFunction.ofDoubles(Logarithm::toBase))
                          .device("double_log");
              return function.call(doubles(arguments, context), DataType.FLOAT64);
            });
  }

  private static FunctionDefinition unary(
      String name, String description, DoubleUnaryOperator host) {
    return unary(name, description, host, library(name));
  }

  private static FunctionDefinition unary(
      String name, String description, DoubleUnaryOperator host, DeviceFunction device) {
    return define(name, description, 1, HostFunction.ofDouble(host), device);
  }

  private static FunctionDefinition binary(
      String name, String description, DoubleBinaryOperator host) {
    return define(name, description, 2, HostFunction.ofDoubles(host), library(name));
  }

  private static String differences(String name) {
    if (name.equals(QUOTIENT)) {
      return "Results differ from Flink by up to two units in the last place.";
    }
    return APPROXIMATED.contains(name)
        ? "Results differ from Flink by up to one unit in the last place."
        : "";
  }

  private static DeviceFunction library(String name) {
    return DeviceFunction.call("double_" + name.toLowerCase(Locale.ROOT));
  }

  private static FunctionDefinition define(
      String name, String description, int count, HostFunction host, DeviceFunction device) {
    DataType[] types =
        IntStream.range(0, count).mapToObj(i -> DataType.FLOAT64).toArray(DataType[]::new);
    return FunctionDefinition.named(name)
        .family(FunctionFamily.ARITHMETIC)
        .signatures(Signature.of(types))
        .description(description)
        .differences(differences(name))
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, count, count);
              return BoundFunction.named(name)
                  .host(host)
                  .device(device)
                  .call(doubles(arguments, context), DataType.FLOAT64);
            });
  }

  private static FunctionDefinition constant(String name, String description, double value) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.ARITHMETIC)
        .signatures(new Signature(List.of()))
        .description(description)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 0, 0);
              return new TypedExpression.Literal(value, DataType.FLOAT64);
            });
  }

  private static List<TypedExpression> doubles(
      List<TypedExpression> arguments, BindingContext context) {
    for (TypedExpression argument : arguments) {
      if (!argument.type().isNumeric()) {
        throw Arguments.wrongType(argument);
      }
    }
    return arguments.stream()
        .map(argument -> Coercion.cast(argument, DataType.FLOAT64, context))
        .toList();
  }

  private static DeviceFunction multiply(double factor) {
    return DeviceFunction.instructions(
        (ptx, operands, result) ->
            ptx.write(
                "mul.rn.f64 %s, %s, %s",
                result.register(), operands.get(0).register(), literal(factor)));
  }

  // Adding zero turns -0.0 into 0.0.
  private static void squareRoot(PtxWriter ptx, List<PtxValue> operands, PtxValue result) {
    String operand = operands.get(0).register();
    String isMinusInfinity = ptx.register(".pred");
    ptx.write(
        "setp.eq.f64 %s, %s, %s", isMinusInfinity, operand, literal(Double.NEGATIVE_INFINITY));
    ptx.write("add.rn.f64 %s, %s, %s", result.register(), operand, literal(0.0));
    ptx.write("sqrt.rn.f64 %s, %s", result.register(), result.register());
    ptx.write(
        "selp.f64 %s, %s, %s, %s",
        result.register(), literal(Double.POSITIVE_INFINITY), result.register(), isMinusInfinity);
  }

  /** The PTX notation of a constant, by its bits. */
  static String literal(double value) {
    return String.format(Locale.ROOT, "0d%016X", Double.doubleToLongBits(value));
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.function.decimal.DecimalArithmetic;
import io.millrace.expression.function.decimal.DecimalFunctions;
import io.millrace.expression.function.numeric.Arithmetic;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** The arithmetic operators with the result types of Flink SQL. */
@Internal
public final class ArithmeticFunctions {
  private static final List<DataType> TYPES =
      List.of(
          DataType.INT8,
          DataType.INT16,
          DataType.INT32,
          DataType.INT64,
          DataType.FLOAT32,
          DataType.FLOAT64);

  private static final List<Signature> MIXED =
      List.of(
          Signature.of(DataType.INT64, DataType.INT32),
          Signature.of(DataType.INT32, DataType.FLOAT32),
          Signature.of(DataType.FLOAT32, DataType.INT64),
          Signature.of(DataType.INT32, DataType.FLOAT64),
          Signature.of(DataType.FLOAT32, DataType.FLOAT64),
          Signature.of(DataType.FLOAT64, DataType.FLOAT32),
          Signature.of(DataType.decimal(7, 2), DataType.FLOAT32),
          Signature.of(DataType.FLOAT64, DataType.decimal(15, 4)));

  private ArithmeticFunctions() {}

  public static List<FunctionDefinition> definitions() {
    List<FunctionDefinition> definitions = new ArrayList<>();
    definitions.add(infix(Arithmetic.ADD, "The sum; integers wrap."));
    definitions.add(infix(Arithmetic.SUBTRACT, "The difference; integers wrap."));
    definitions.add(infix(Arithmetic.MULTIPLY, "The product; integers wrap."));
    definitions.add(
        infix(
            Arithmetic.DIVIDE,
            "The quotient. Integer division truncates towards zero. Division by zero fails"
                + " for integers and decimals and gives infinity or NaN for floating-point"
                + " numbers."));
    definitions.add(
        builder("MOD", "The remainder of the division, with the sign of the dividend.")
            .aliases("%")
            .signatures(signatures().filter(ArithmeticFunctions::isExact).toList())
            .bind((arguments, context) -> of(Arithmetic.REMAINDER, arguments, context)));
    definitions.add(
        FunctionDefinition.named("NEGATE")
            .family(FunctionFamily.ARITHMETIC)
            .signatures(
                Stream.concat(
                        TYPES.stream().map(Signature::of),
                        DecimalFunctions.unarySignatures().stream())
                    .toList())
            .description("The negated number; integers wrap. Written -x.")
            .sql(arguments -> "(-" + arguments.get(0) + ")")
            .bind(ArithmeticFunctions::negate));
    return definitions;
  }

  private static FunctionDefinition infix(Arithmetic operation, String description) {
    return builder(operation.symbol(), description)
        .infix(operation.symbol())
        .bind(
            (arguments, context) ->
                operation == Arithmetic.ADD
                    ? sum(arguments, context)
                    : of(operation, arguments, context));
  }

  /** Adds from left to right, because types, rounding and failures depend on the order. */
  private static TypedExpression sum(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, Integer.MAX_VALUE);
    TypedExpression sum = arguments.get(0);
    for (TypedExpression argument : arguments.subList(1, arguments.size())) {
      sum = of(Arithmetic.ADD, List.of(sum, argument), context);
    }
    return sum;
  }

  private static FunctionDefinition.Builder builder(String name, String description) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.ARITHMETIC)
        .signatures(signatures().toList())
        .description(description);
  }

  private static boolean isExact(Signature signature) {
    return signature.parameters().stream()
        .noneMatch(parameter -> parameter.type().isFloatingPoint());
  }

  private static Stream<Signature> signatures() {
    return Stream.of(
            TYPES.stream().map(type -> Signature.of(type, type)),
            MIXED.stream(),
            DecimalFunctions.binarySignatures().stream())
        .flatMap(Function.identity());
  }

  private static TypedExpression of(
      Arithmetic operation, List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, 2);
    for (TypedExpression argument : arguments) {
      boolean isRefused = operation == Arithmetic.REMAINDER && argument.type().isFloatingPoint();
      if (!argument.type().isNumeric() || isRefused) {
        throw Arguments.wrongType(argument);
      }
    }
    DataType common = Coercion.leastRestrictiveType(arguments);
    if (common.isDecimal()) {
      return DecimalArithmetic.of(operation, arguments.get(0), arguments.get(1), context);
    }
    TypedExpression left = Coercion.cast(arguments.get(0), common, context);
    TypedExpression right = Coercion.cast(arguments.get(1), common, context);
    TypedExpression result = operation.of(left, right);
    // SQL gives the remainder the type of the divisor.
    return operation == Arithmetic.REMAINDER && common.isInteger()
        ? Coercion.cast(result, arguments.get(1).type(), context)
        : result;
  }

  private static TypedExpression negate(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 1, 1);
    DataType type = arguments.get(0).type();
    if (type.isDecimal()) {
      return DecimalFunctions.negate(arguments.get(0));
    }
    if (!TYPES.contains(type)) {
      throw Arguments.wrongType(arguments.get(0));
    }
    return BoundFunction.named("NEGATE")
        .host(Arithmetic.negate(type))
        .device(Arithmetic.negateOnDevice(type))
        .sql(operands -> "(-" + operands.get(0) + ")")
        .call(arguments, type);
  }
}

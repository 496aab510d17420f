// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.logical;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.ConstantComparison;
import io.millrace.expression.resolve.ConstantLookup;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** Three-valued logic. */
@Internal
public final class LogicalFunctions {
  private static final TypedExpression TRUE = new TypedExpression.Literal(true, DataType.BOOL);
  private static final TypedExpression FALSE = new TypedExpression.Literal(false, DataType.BOOL);

  private LogicalFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        junction("AND", "True if all are true, false if any is false, otherwise null."),
        junction("OR", "True if any is true, false if all are false, otherwise null."),
        define("NOT", "The negated condition; null if it is null.", LogicalFunctions::not),
        test(
            "IS TRUE",
            "Whether the condition is true; false if it is null.",
            value -> is(value, true)),
        test(
            "IS NOT TRUE",
            "Whether the condition is false or null.",
            value -> not(is(value, true))),
        test(
            "IS FALSE",
            "Whether the condition is false; false if it is null.",
            value -> is(value, false)),
        test(
            "IS NOT FALSE",
            "Whether the condition is true or null.",
            value -> not(is(value, false))),
        test("IS UNKNOWN", "Whether the condition is null.", TypedExpression.IsNull::new),
        test(
            "IS NOT UNKNOWN",
            "Whether the condition is not null.",
            value -> not(new TypedExpression.IsNull(value))));
  }

  /** Negates a BOOLEAN. */
  public static TypedExpression not(TypedExpression operand) {
    return BoundFunction.named("NOT")
        .host(HostFunction.ofLong(value -> value ^ 1))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) ->
                    ptx.write("not.pred %s, %s", result.register(), operands.get(0).register())))
        .sql(operands -> "(NOT " + operands.get(0) + ")")
        .call(List.of(operand), DataType.BOOL);
  }

  private static TypedExpression is(TypedExpression operand, boolean value) {
    return new TypedExpression.Case(
        List.of(operand), value ? List.of(TRUE, FALSE) : List.of(FALSE, isFalse(operand)));
  }

  // The operand is false or null here.
  private static TypedExpression isFalse(TypedExpression operand) {
    return not(new TypedExpression.IsNull(operand));
  }

  private static FunctionDefinition junction(String name, String description) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.LOGICAL)
        .signatures(Signature.of(DataType.BOOL, DataType.BOOL))
        .description(description)
        .infix(name)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, Integer.MAX_VALUE);
              IntStream.range(0, arguments.size())
                  .forEach(i -> Arguments.typed(arguments, i, TypeId.BOOL));
              return junction(name.equals("AND"), arguments);
            });
  }

  /**
   * AND or OR. If many operands compare one value with constants, {@code x = 1 OR x = 2} or {@code
   * x <> 1 AND x <> 2}, they are replaced by one table lookup at the position of the first.
   */
  private static TypedExpression junction(boolean isAnd, List<TypedExpression> operands) {
    List<TypedExpression> terms =
        operands.size() < ConstantLookup.MIN_CONSTANTS ? operands : lookedUp(isAnd, operands);
    if (terms.size() == 1) {
      return terms.get(0);
    }
    return isAnd ? new TypedExpression.And(terms) : new TypedExpression.Or(terms);
  }

  private static List<TypedExpression> lookedUp(boolean isAnd, List<TypedExpression> operands) {
    List<Optional<ConstantComparison>> comparisons =
        ConstantComparison.of(isAnd ? "<>" : "=", operands);
    Map<TypedExpression, List<TypedExpression.Literal>> constants = new HashMap<>();
    for (Optional<ConstantComparison> comparison : comparisons) {
      comparison
          .filter(present -> present.constant().value() != null)
          .ifPresent(
              present ->
                  constants
                      .computeIfAbsent(present.value(), value -> new ArrayList<>())
                      .add(present.constant()));
    }
    constants.values().removeIf(ofOne -> ofOne.size() < ConstantLookup.MIN_CONSTANTS);
    Set<TypedExpression> lookedUp = new HashSet<>();
    List<TypedExpression> terms = new ArrayList<>();
    for (int i = 0; i < operands.size(); i++) {
      TypedExpression value =
          comparisons
              .get(i)
              .filter(comparison -> comparison.constant().value() != null)
              .map(ConstantComparison::value)
              .filter(constants::containsKey)
              .orElse(null);
      if (value == null) {
        terms.add(operands.get(i));
      } else if (lookedUp.add(value)) {
        terms.add(ConstantLookup.isIn(!isAnd, value, constants.get(value), true));
      }
    }
    return terms;
  }

  private static FunctionDefinition define(
      String name, String description, UnaryOperator<TypedExpression> binder) {
    return builder(name, description)
        .sql(arguments -> "(" + name + " " + arguments.get(0) + ")")
        .bind((arguments, context) -> binder.apply(operand(arguments)));
  }

  private static FunctionDefinition test(
      String name, String description, UnaryOperator<TypedExpression> binder) {
    return builder(name, description)
        .sql(arguments -> "(" + arguments.get(0) + " " + name + ")")
        .bind((arguments, context) -> binder.apply(operand(arguments)));
  }

  private static FunctionDefinition.Builder builder(String name, String description) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.LOGICAL)
        .signatures(Signature.of(DataType.BOOL))
        .description(description);
  }

  private static TypedExpression operand(List<TypedExpression> arguments) {
    Arguments.count(arguments, 1, 1);
    return Arguments.typed(arguments, 0, TypeId.BOOL);
  }
}

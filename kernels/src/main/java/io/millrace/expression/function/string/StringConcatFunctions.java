// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.STRING;
import static io.millrace.expression.function.string.StringFunctions.WITHIN_TEXT;
import static io.millrace.expression.function.string.StringFunctions.literal;
import static io.millrace.expression.function.string.StringFunctions.named;
import static io.millrace.expression.function.string.StringFunctions.texts;

import io.millrace.annotation.Internal;
import io.millrace.column.TypeId;
import io.millrace.expression.function.comparison.Comparison;
import io.millrace.expression.function.logical.LogicalFunctions;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.ArrayList;
import java.util.List;

/** Concatenation and selection of strings. */
@Internal
public final class StringConcatFunctions {
  private StringConcatFunctions() {}

  public static List<FunctionDefinition> definitions() {
    Signature two = Signature.of(STRING, STRING);
    Signature three = Signature.of(STRING, STRING, STRING);
    return List.of(
        named("||", two)
            .description("The two strings concatenated.")
            .infix("||")
            .bind((arguments, context) -> concatTexts(texts(arguments, 2, Integer.MAX_VALUE))),
        named("CONCAT", Signature.of(STRING), two, three)
            .description("The strings concatenated; null if any is null.")
            .bind((arguments, context) -> concat(texts(arguments, 1, Integer.MAX_VALUE))),
        named("CONCAT_WS", Signature.of(STRING), two, three)
            .description(
                "Concatenates the non-null strings after the first with the first as the"
                    + " separator; null if the separator is null.")
            .bind((arguments, context) -> concatWithSeparator(arguments)),
        named("ELT", Signature.of(INT32, STRING), Signature.of(INT32, STRING, STRING))
            .description(
                "The string at an index, counted from 1; null if the index is out of range.")
            .bind(StringConcatFunctions::elt));
  }

  /**
   * Concatenates halves: from left to right, the first text would be copied again for each
   * following one.
   */
  private static TypedExpression concatTexts(List<TypedExpression> texts) {
    if (texts.size() == 1) {
      return texts.get(0);
    }
    int half = texts.size() == 3 ? 2 : texts.size() / 2;
    return BoundFunction.named("||")
        .failing()
        .host(HostFunction.ofRow(StringEdits::concatText))
        .device("concat_text")
        .scratch(WITHIN_TEXT.plusOperand(1, 1))
        .sql(operands -> "(" + String.join(" || ", operands) + ")")
        .call(
            List.of(
                concatTexts(texts.subList(0, half)),
                concatTexts(texts.subList(half, texts.size()))),
            STRING);
  }

  /** Concatenates the bytes of one or more texts; null if any is null. */
  public static TypedExpression concat(List<TypedExpression> texts) {
    TypedExpression joined = texts.get(0);
    for (TypedExpression text : texts.subList(1, texts.size())) {
      joined =
          BoundFunction.named("CONCAT")
              .host(HostFunction.ofRow(StringEdits::concat))
              .device("concat")
              .scratch(WITHIN_TEXT.plusOperand(1, 1))
              .call(List.of(joined, text), STRING);
    }
    return joined;
  }

  /** The text, or an empty string if it is null. */
  static TypedExpression orEmpty(TypedExpression text) {
    return text.nullable()
        ? new TypedExpression.Case(
            List.of(new TypedExpression.IsNull(text)), List.of(literal(""), text))
        : text;
  }

  // Prepends the separator to each non-null text that follows a non-null text.
  private static TypedExpression concatWithSeparator(List<TypedExpression> arguments) {
    List<TypedExpression> texts = texts(arguments, 1, Integer.MAX_VALUE);
    TypedExpression separator = texts.get(0);
    List<TypedExpression> parts = new ArrayList<>(List.of(literal("")));
    List<TypedExpression> before = new ArrayList<>();
    boolean anyBefore = false;
    for (TypedExpression text : texts.subList(1, texts.size())) {
      TypedExpression joined = concat(List.of(separator, text));
      TypedExpression part =
          anyBefore
              ? joined
              : before.isEmpty()
                  ? text
                  : new TypedExpression.Case(List.of(anyOf(before)), List.of(joined, text));
      parts.add(orEmpty(part));
      anyBefore |= !text.nullable();
      before.add(LogicalFunctions.not(new TypedExpression.IsNull(text)));
    }
    TypedExpression all = concat(parts.size() == 1 ? parts : parts.subList(1, parts.size()));
    return separator.nullable()
        ? new TypedExpression.Case(
            List.of(new TypedExpression.IsNull(separator)), List.of(Arguments.nullOf(STRING), all))
        : all;
  }

  private static TypedExpression anyOf(List<TypedExpression> conditions) {
    return conditions.size() == 1 ? conditions.get(0) : new TypedExpression.Or(conditions);
  }

  private static TypedExpression elt(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, Integer.MAX_VALUE);
    TypedExpression index = Arguments.typed(arguments, 0, TypeId.INT32);
    List<TypedExpression> conditions = new ArrayList<>();
    List<TypedExpression> results = new ArrayList<>();
    for (int i = 1; i < arguments.size(); i++) {
      TypedExpression position = new TypedExpression.Literal((long) i, index.type());
      conditions.add(Comparison.EQUAL.of(index, position, context));
      results.add(Arguments.typed(arguments, i, TypeId.STRING, TypeId.BINARY));
    }
    results.add(Arguments.nullOf(results.get(0).type()));
    return Coercion.caseOf(conditions, results, context);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.STRING;
import static io.millrace.expression.function.nested.NestedArguments.arrayElement;
import static io.millrace.expression.function.nested.NestedArguments.arrayOf;
import static io.millrace.expression.function.nested.NestedArguments.named;
import static io.millrace.expression.function.nested.NestedArguments.onHost;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.TypeId;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.List;

/** Strings to arrays and maps, and arrays of strings to strings. */
@Internal
public final class StringArrayFunctions {
  private static final DataType STRINGS = DataType.list(STRING);

  private StringArrayFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        named("SPLIT", Signature.of(STRING, STRING))
            .description(
                "The parts of a string between delimiters, which may be empty; none of an empty"
                    + " string. Without a delimiter each UTF-16 unit is a part.")
            .bind(
                (arguments, context) ->
                    onHost("SPLIT")
                        .host(HostFunction.ofRow(StringArrays::split))
                        .call(texts(arguments, 2, 2), arrayOf(STRING, true))),
        named(
                "REGEXP_EXTRACT_ALL",
                Signature.of(STRING, STRING),
                Signature.of(
                    Signature.any(STRING),
                    Signature.literal(STRING, "(a)(b?)", "[a-c]+"),
                    Signature.any(INT32)))
            .description(
                "A group of each match of a regular expression, the first group unless told; null"
                    + " if there is no such group or the expression is malformed.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 2, 3);
                  texts(arguments.subList(0, 2), 2, 2);
                  if (arguments.size() == 3 && !arguments.get(2).type().isInteger()) {
                    throw Arguments.wrongType(arguments.get(2));
                  }
                  return onHost("REGEXP_EXTRACT_ALL")
                      .nullable()
                      .host(StringArrays::extractAll)
                      .call(arguments, arrayOf(STRING, true));
                }),
        named("STR_TO_MAP", Signature.of(STRING), Signature.of(STRING, STRING, STRING))
            .description(
                "A map of the pairs in a string: regular expressions between pairs, by default a"
                    + " comma, and between key and value, by default =. A value that is missing is"
                    + " null. A malformed regular expression fails.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 3);
                  if (arguments.size() == 2) {
                    Arguments.count(arguments, 3, 3);
                  }
                  return onHost("STR_TO_MAP")
                      .failing()
                      .host(HostFunction.ofFallibleRow(StringArrays::toMap))
                      .call(
                          texts(arguments, 1, 3),
                          DataType.map(Field.of("key", STRING), Field.of("value", STRING)),
                          true);
                }),
        named("ARRAY_JOIN", Signature.of(STRINGS, STRING), Signature.of(STRINGS, STRING, STRING))
            .description(
                "The strings of an array with a delimiter between them; nulls are left out unless"
                    + " there is a string for them.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 2, 3);
                  if (arrayElement(arguments, 0).type().id() != TypeId.STRING) {
                    throw Arguments.wrongType(arguments.get(0));
                  }
                  texts(arguments.subList(1, arguments.size()), 1, 2);
                  return onHost("ARRAY_JOIN")
                      .host(HostFunction.ofRow(StringArrays::join))
                      .call(arguments, STRING);
                }));
  }

  private static List<TypedExpression> texts(List<TypedExpression> arguments, int least, int most) {
    Arguments.count(arguments, least, most);
    for (int i = 0; i < arguments.size(); i++) {
      Arguments.typed(arguments, i, TypeId.STRING);
    }
    return arguments;
  }
}

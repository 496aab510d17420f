// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.typed.TypedExpression;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The arguments of JSON functions that SQL writes as words. Each is a STRING literal with the name
 * of the constant that Calcite's {@code SqlJson...} enums have for it, such as {@code 'NULL'},
 * {@code 'EMPTY_ARRAY'} or {@code 'ABSENT_ON_NULL'}.
 */
final class JsonArguments {
  private JsonArguments() {}

  /**
   * The constant of {@code type} that the argument at {@code index} names.
   *
   * @throws ExpressionException if the argument is missing, is not a STRING literal, or names
   *     another constant
   */
  static <E extends Enum<E>> E word(List<TypedExpression> arguments, int index, Class<E> type) {
    Arguments.count(arguments, index + 1, Integer.MAX_VALUE);
    String name = Arguments.literalString(arguments, index);
    return Arrays.stream(type.getEnumConstants())
        .filter(constant -> constant.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new ExpressionException(
                    "expected "
                        + Arrays.stream(type.getEnumConstants())
                            .map(constant -> "'" + constant.name() + "'")
                            .collect(Collectors.joining(" or "))
                        + ", got '"
                        + name
                        + "'"));
  }

  /** A word as SQL writes it, given its literal: {@code EMPTY ARRAY} for {@code 'EMPTY_ARRAY'}. */
  static String words(String literal) {
    return literal.replace("'", "").replace('_', ' ');
  }
}

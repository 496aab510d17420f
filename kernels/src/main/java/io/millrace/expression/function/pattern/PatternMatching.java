// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.pattern;

import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Status;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Host implementations of LIKE and SIMILAR TO. */
final class PatternMatching {
  private PatternMatching() {}

  /** Tests a UTF-8 string. */
  @FunctionalInterface
  interface Matching {
    boolean matches(long address, int length);
  }

  private record Key(String pattern, String escape) {}

  /** Matches with a compiled literal pattern. */
  static HostFunction of(Matching matching) {
    return HostFunction.ofRow(
        (operands, result, row) ->
            result.setBoolean(
                row, matching.matches(operands[0].address(row), operands[0].length(row))));
  }

  /**
   * Matches the whole string against a Java regular expression.
   *
   * @throws ExpressionException if the expression is malformed
   */
  static HostFunction ofRegex(String regex) {
    Pattern pattern = compile(regex);
    return HostFunction.ofRow(
        (operands, result, row) ->
            result.setBoolean(row, pattern.matcher(operands[0].getString(row)).matches()));
  }

  /** LIKE with operands string, pattern and optional escape character. */
  static HostFunction like(int operands) {
    if (operands == 2) {
      return ofOperands(
          (pattern, escape) -> LikePattern.of(pattern),
          (like, vectors, row) -> like.matches(vectors[0].address(row), vectors[0].length(row)));
    }
    return ofOperands(
        (pattern, escape) -> {
          if (escape.isEmpty()) {
            throw new ExpressionException("invalid escape character ''");
          }
          return LikePattern.of(pattern, escape);
        },
        (like, vectors, row) -> like.matches(vectors[0].address(row), vectors[0].length(row)));
  }

  /** SIMILAR TO with operands string, pattern and optional escape character. */
  static HostFunction similar(int operands) {
    return ofOperands(
        (pattern, escape) ->
            compile(
                operands == 2
                    ? SimilarPattern.toRegex(pattern)
                    : SimilarPattern.toRegex(pattern, escape)),
        (regex, vectors, row) -> regex.matcher(vectors[0].getString(row)).matches());
  }

  @FunctionalInterface
  private interface RowMatching<P> {
    boolean matches(P pattern, HostVector[] operands, int row);
  }

  private static <P> HostFunction ofOperands(
      BiFunction<String, String, P> compiler, RowMatching<P> matching) {
    return (operands, result, rows) -> {
      Map<Key, Optional<P>> known = new HashMap<>();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        String escape = operands.length > 2 ? operands[2].getString(row) : "";
        Optional<P> pattern =
            known.computeIfAbsent(
                new Key(operands[1].getString(row), escape), key -> compile(key, compiler));
        if (pattern.isPresent()) {
          result.setBoolean(row, matching.matches(pattern.get(), operands, row));
        } else {
          rows.fail(row, Status.INVALID_ARGUMENT);
        }
      }
    };
  }

  private static <P> Optional<P> compile(Key key, BiFunction<String, String, P> compiler) {
    try {
      return Optional.of(compiler.apply(key.pattern(), key.escape()));
    } catch (ExpressionException e) {
      return Optional.empty();
    }
  }

  private static Pattern compile(String regex) {
    try {
      return Pattern.compile(regex);
    } catch (PatternSyntaxException e) {
      throw new ExpressionException("invalid regular expression '" + regex + "'");
    }
  }
}

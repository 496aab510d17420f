// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.pattern;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.function.logical.LogicalFunctions;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.resolve.Signature.Parameter;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.regexp.Dfa;
import io.millrace.regexp.RegexpParser;
import io.millrace.regexp.UnsupportedPatternException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** LIKE, SIMILAR TO and regular expressions. */
@Internal
public final class PatternFunctions {
  static final String DEVICE_SUBSET =
      "Runs on the device if the pattern is a literal that consists of literals,"
          + " classes, groups, alternatives, quantifiers and anchors of the string and its"
          + " automaton has at most 255 states.";

  private PatternFunctions() {}

  public static List<FunctionDefinition> definitions() {
    List<FunctionDefinition> definitions = new ArrayList<>();
    definitions.add(matching("LIKE", false));
    definitions.add(matching("NOT LIKE", false));
    definitions.add(matching("SIMILAR TO", true));
    definitions.add(matching("NOT SIMILAR TO", true));
    definitions.addAll(RegexpFunctions.definitions());
    return definitions;
  }

  private static FunctionDefinition matching(String name, boolean similar) {
    boolean negated = name.startsWith("NOT ");
    String function = negated ? name.substring("NOT ".length()) : name;
    return FunctionDefinition.named(name)
        .family(FunctionFamily.PATTERN)
        .signatures(similar ? similarSignatures() : likeSignatures())
        .description(
            similar
                ? "Whether a string matches a regular expression of SQL. " + DEVICE_SUBSET
                : "Whether a string matches a LIKE pattern: % matches any characters, _ matches"
                    + " one character that is not a line terminator.")
        .sql(arguments -> matchingSql(name, arguments))
        .bind(
            (arguments, context) -> {
              TypedExpression match = bindMatching(function, similar, arguments);
              return negated ? LogicalFunctions.not(match) : match;
            });
  }

  private static List<Signature> likeSignatures() {
    Parameter text = Signature.any(DataType.STRING);
    return List.of(
        Signature.of(DataType.STRING, DataType.STRING),
        Signature.of(
            text,
            Signature.literal(
                DataType.STRING, "a%", "%b", "%a%", "abc", "", "%", "_", "a%b%c", "%_a%", "é_%")),
        Signature.of(
            text,
            Signature.literal(DataType.STRING, "a#%%", "#_%", "%##", "_#%_"),
            Signature.literal(DataType.STRING, "#")));
  }

  private static List<Signature> similarSignatures() {
    Parameter text = Signature.any(DataType.STRING);
    return List.of(
        Signature.of(
            text,
            Signature.literal(
                DataType.STRING, "(a|b)%", "[a-c]+", "_{2,4}", "%[[:DIGIT:]]%", "a?b*[^x]", "")),
        Signature.of(
            text,
            Signature.literal(DataType.STRING, "a#%%", "#[%", "(a|#_)+"),
            Signature.literal(DataType.STRING, "#")));
  }

  private static String matchingSql(String name, List<String> arguments) {
    String escape = arguments.size() > 2 ? " ESCAPE " + arguments.get(2) : "";
    return "(" + arguments.get(0) + " " + name + " " + arguments.get(1) + escape + ")";
  }

  private static TypedExpression bindMatching(
      String name, boolean similar, List<TypedExpression> arguments) {
    checkStrings(arguments, 2, 3);
    if (arguments.stream().anyMatch(Arguments::isNullLiteral)) {
      return Arguments.nullOf(DataType.BOOL);
    }
    boolean literal =
        arguments.stream().skip(1).allMatch(TypedExpression.Literal.class::isInstance);
    if (!literal) {
      return (similar ? similarOfOperands(arguments.size()) : likeOfOperands(arguments.size()))
          .sql(operands -> matchingSql(name, operands))
          .call(arguments, DataType.BOOL);
    }
    String pattern = Arguments.literalString(arguments, 1);
    Optional<String> escape = Arguments.literal(arguments, 2).map(String.class::cast);
    List<String> rest = arguments.stream().skip(1).map(Object::toString).toList();
    return (similar ? similarOfLiteral(pattern, escape) : likeOfLiteral(pattern, escape))
        .parameters(pattern, escape)
        .sql(
            operands -> {
              List<String> all = new ArrayList<>(operands);
              all.addAll(rest);
              return matchingSql(name, all);
            })
        .call(arguments.subList(0, 1), DataType.BOOL);
  }

  private static BoundFunction.Builder likeOfLiteral(String pattern, Optional<String> escape) {
    LikePattern like =
        escape.map(e -> LikePattern.of(pattern, e)).orElseGet(() -> LikePattern.of(pattern));
    return BoundFunction.named("LIKE")
        .host(PatternMatching.of(like::matches))
        .device(DeviceFunction.call(like.deviceFunction(), like.constant()));
  }

  private static BoundFunction.Builder likeOfOperands(int operands) {
    BoundFunction.Builder like = BoundFunction.named("LIKE").host(PatternMatching.like(operands));
    return operands == 2
        ? like.failing().device("like")
        : like.failing().hostOnly("the pattern with an escape character is not a literal");
  }

  private static BoundFunction.Builder similarOfLiteral(String pattern, Optional<String> escape) {
    String regex =
        escape
            .map(e -> SimilarPattern.toRegex(pattern, e))
            .orElseGet(() -> SimilarPattern.toRegex(pattern));
    BoundFunction.Builder similar = BoundFunction.named("SIMILAR TO");
    try {
      Dfa automaton = Dfa.of(RegexpParser.parse(regex), Dfa.Search.WHOLE);
      return similar
          .host(PatternMatching.of(automaton::matches))
          .device(DeviceFunction.call("similar_to", automaton.table()));
    } catch (UnsupportedPatternException e) {
      return similar.host(PatternMatching.ofRegex(regex)).hostOnly(e.getMessage());
    }
  }

  private static BoundFunction.Builder similarOfOperands(int operands) {
    return BoundFunction.named("SIMILAR TO")
        .failing()
        .host(PatternMatching.similar(operands))
        .hostOnly("the pattern is not a literal");
  }

  static void checkStrings(List<TypedExpression> arguments, int least, int most) {
    Arguments.count(arguments, least, most);
    for (int i = 0; i < arguments.size(); i++) {
      Arguments.typed(arguments, i, TypeId.STRING);
    }
  }
}

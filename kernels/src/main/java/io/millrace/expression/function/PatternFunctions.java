package io.millrace.expression.function;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.Arguments;
import io.millrace.expression.BoundFunction;
import io.millrace.expression.ByteBound;
import io.millrace.expression.Coercion;
import io.millrace.expression.DeviceFunction;
import io.millrace.expression.FunctionDefinition;
import io.millrace.expression.FunctionFamily;
import io.millrace.expression.HostFunction;
import io.millrace.expression.Signature;
import io.millrace.expression.Signature.Parameter;
import io.millrace.expression.TypedExpression;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** LIKE, SIMILAR TO and regular expressions. */
public final class PatternFunctions {
  private static final int LONGEST_REPLACEMENT_BYTES = 16;
  private static final String DEVICE_SUBSET =
      "On the device for literal patterns of literals, classes, groups, alternatives, quantifiers and"
          + " anchors of the string whose automaton has at most 255 states.";

  private PatternFunctions() {}

  public static List<FunctionDefinition> definitions() {
    List<FunctionDefinition> definitions = new ArrayList<>();
    definitions.add(matching("LIKE", false));
    definitions.add(matching("NOT LIKE", false));
    definitions.add(matching("SIMILAR TO", true));
    definitions.add(matching("NOT SIMILAR TO", true));
    definitions.add(
        regexp(
            RegexpFunction.REGEXP,
            "Whether a Java regular expression matches anywhere; false if it is none or empty."));
    definitions.add(
        regexp(
            RegexpFunction.REGEXP_EXTRACT,
            "What a Java regular expression, or one of its groups, matches first; null if nothing."));
    definitions.add(
        regexp(
            RegexpFunction.REGEXP_SUBSTR,
            "What a Java regular expression matches first; null if nothing."));
    definitions.add(
        regexp(
            RegexpFunction.REGEXP_INSTR,
            "Where a Java regular expression matches first, in UTF-16 units and from 1; 0 if"
                + " nowhere."));
    definitions.add(
        regexp(RegexpFunction.REGEXP_COUNT, "How often a Java regular expression matches."));
    definitions.add(
        regexp(
            RegexpFunction.REGEXP_REPLACE,
            "The string with what a Java regular expression matches replaced by a string."));
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
                : "Whether a string is like a pattern: % stands for any characters, _ for one that is"
                    + " no line terminator.")
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
        .host(MatchingOfOperands.of(like::matches))
        .device(DeviceFunction.call(like.deviceFunction(), like.constant()));
  }

  private static BoundFunction.Builder likeOfOperands(int operands) {
    BoundFunction.Builder like =
        BoundFunction.named("LIKE").host(MatchingOfOperands.like(operands));
    return operands == 2
        ? like.device("like")
        : like.failing().hostOnly("the escape character applies to no literal pattern");
  }

  private static BoundFunction.Builder similarOfLiteral(String pattern, Optional<String> escape) {
    String regex =
        escape
            .map(e -> SimilarPattern.toRegex(pattern, e))
            .orElseGet(() -> SimilarPattern.toRegex(pattern));
    BoundFunction.Builder similar = BoundFunction.named("SIMILAR TO");
    try {
      RegexpAutomaton automaton =
          RegexpAutomaton.of(RegexpParser.parse(regex), RegexpAutomaton.Search.WHOLE);
      return similar
          .host(MatchingOfOperands.of(automaton::matches))
          .device(DeviceFunction.call("similar_to", automaton.table()));
    } catch (UnsupportedPatternException e) {
      return similar.host(MatchingOfOperands.ofRegex(regex)).hostOnly(e.getMessage());
    }
  }

  private static BoundFunction.Builder similarOfOperands(int operands) {
    return BoundFunction.named("SIMILAR TO")
        .failing()
        .host(MatchingOfOperands.similar(operands))
        .hostOnly("the pattern is no literal");
  }

  private static FunctionDefinition regexp(RegexpFunction function, String description) {
    return FunctionDefinition.named(function.name())
        .family(FunctionFamily.PATTERN)
        .signatures(regexpSignatures(function))
        .description(description + " " + DEVICE_SUBSET)
        .differences(
            "Patterns that overflow the stack of Java on long strings give their result where they"
                + " run on the device.")
        .bind((arguments, context) -> bindRegexp(function, arguments));
  }

  private static List<Signature> regexpSignatures(RegexpFunction function) {
    Parameter text = Signature.any(DataType.STRING);
    Parameter pattern =
        Signature.literal(
            DataType.STRING,
            "[a-c]+",
            "^a.*b",
            "(a|ab)(c|bcd)?",
            "\\d{2,4}",
            "x$",
            "\\w+?\\s",
            "[^a-z]é",
            "(a)\\1",
            "(");
    return switch (function) {
      case REGEXP_REPLACE ->
          List.of(Signature.of(text, pattern, Signature.literal(DataType.STRING, "-", "", "$1é")));
      case REGEXP_EXTRACT ->
          List.of(
              Signature.of(text, pattern),
              Signature.of(text, pattern, Signature.literal(DataType.INT32, 0L, 1L, 2L, -1L)));
      default -> List.of(Signature.of(text, pattern));
    };
  }

  private static TypedExpression bindRegexp(
      RegexpFunction function, List<TypedExpression> arguments) {
    switch (function) {
      case REGEXP_EXTRACT -> {
        Arguments.count(arguments, 2, 3);
        checkStrings(arguments.subList(0, 2), 2, 2);
        if (arguments.size() == 3 && !Coercion.isInteger(arguments.get(2).type())) {
          throw Arguments.wrongType(arguments.get(2));
        }
      }
      case REGEXP_REPLACE -> checkStrings(arguments, 3, 3);
      default -> checkStrings(arguments, 2, 2);
    }
    if (arguments.stream().anyMatch(Arguments::isNullLiteral)) {
      return Arguments.nullOf(function.type());
    }
    if (!(arguments.get(1) instanceof TypedExpression.Literal)) {
      return onHost(function, arguments, "the pattern is no literal", function.byJava());
    }
    String pattern = Arguments.literalString(arguments, 1);
    try {
      return onDevice(function, pattern, arguments);
    } catch (UnsupportedPatternException e) {
      return onHost(function, arguments, e.getMessage(), function.byJava(pattern));
    }
  }

  private static TypedExpression onHost(
      RegexpFunction function, List<TypedExpression> arguments, String reason, HostFunction host) {
    BoundFunction.Builder bound = BoundFunction.named(function.name()).host(host).hostOnly(reason);
    if (function != RegexpFunction.REGEXP) {
      bound.nullable();
    }
    return bound.call(arguments, function.type());
  }

  private static TypedExpression onDevice(
      RegexpFunction function, String pattern, List<TypedExpression> arguments)
      throws UnsupportedPatternException {
    RegexpNode node = RegexpParser.parse(pattern);
    checkDeviceArguments(function, pattern, node, arguments);
    RegexpAutomaton automaton = RegexpAutomaton.of(node, function.search());
    String third =
        function == RegexpFunction.REGEXP_REPLACE ? Arguments.literalString(arguments, 2) : "";
    BoundFunction.Builder bound = BoundFunction.named(function.name());
    switch (function) {
      case REGEXP_EXTRACT, REGEXP_SUBSTR -> bound.nullable().within(ByteBound.ofOperand(0));
      case REGEXP_REPLACE ->
          bound.scratch(ByteBound.NONE.plusOperand(0, Math.max(1, utf8Length(third))));
      default -> {}
    }
    TypedExpression text = arguments.get(0);
    List<String> rest = arguments.stream().skip(1).map(Object::toString).toList();
    return bound
        .parameters(pattern, third)
        .host(function.byAutomaton(automaton, third))
        .device(DeviceFunction.call(function.deviceFunction(), function.constant(automaton, third)))
        .sql(
            operands ->
                function.name() + "(" + operands.get(0) + ", " + String.join(", ", rest) + ")")
        .call(List.of(text), function.type(), text.nullable() || function.hasNullableType());
  }

  private static void checkDeviceArguments(
      RegexpFunction function, String pattern, RegexpNode node, List<TypedExpression> arguments)
      throws UnsupportedPatternException {
    if (pattern.isEmpty()) {
      throw new UnsupportedPatternException("the pattern is empty");
    }
    if (function.takesAllMatches() && node.matchesEmpty()) {
      throw new UnsupportedPatternException("its matches may be empty");
    }
    if (function == RegexpFunction.REGEXP_EXTRACT
        && arguments.size() == 3
        && !Arguments.literal(arguments, 2).equals(Optional.of(0L))) {
      throw new UnsupportedPatternException("a group is extracted");
    }
    if (function == RegexpFunction.REGEXP_REPLACE) {
      Optional<Object> replacement = Arguments.literal(arguments, 2);
      if (replacement.isEmpty()
          || utf8Length((String) replacement.get()) > LONGEST_REPLACEMENT_BYTES) {
        throw new UnsupportedPatternException("the replacement is no literal or long");
      }
    }
  }

  private static int utf8Length(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  private static void checkStrings(List<TypedExpression> arguments, int least, int most) {
    Arguments.count(arguments, least, most);
    for (int i = 0; i < arguments.size(); i++) {
      Arguments.typed(arguments, i, TypeId.STRING);
    }
  }
}

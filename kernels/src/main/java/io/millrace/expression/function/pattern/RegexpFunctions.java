// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.pattern;

import io.millrace.column.DataType;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.resolve.Signature.Parameter;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.regexp.Dfa;
import io.millrace.regexp.OnePassDfa;
import io.millrace.regexp.RegexpNode;
import io.millrace.regexp.RegexpParser;
import io.millrace.regexp.UnsupportedPatternException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The functions of regular expressions. */
final class RegexpFunctions {
  private static final int LONGEST_REPLACEMENT_BYTES = 16;

  private RegexpFunctions() {}

  static List<FunctionDefinition> definitions() {
    List<FunctionDefinition> definitions = new ArrayList<>();
    definitions.add(
        regexp(
            RegexpFunction.REGEXP,
            "Whether a Java regular expression matches anywhere in the string; false if"
                + " the expression is malformed or empty."));
    definitions.add(
        regexp(
            RegexpFunction.REGEXP_EXTRACT,
            "The first match of a Java regular expression or of one of its groups; null if"
                + " there is no match."));
    definitions.add(
        regexp(
            RegexpFunction.REGEXP_SUBSTR,
            "The first match of a Java regular expression; null if there is no match."));
    definitions.add(
        regexp(
            RegexpFunction.REGEXP_INSTR,
            "The position of the first match of a Java regular expression in UTF-16 units,"
                + " counted from 1; 0 if there is no match."));
    definitions.add(
        regexp(RegexpFunction.REGEXP_COUNT, "The number of matches of a Java regular expression."));
    definitions.add(
        regexp(
            RegexpFunction.REGEXP_REPLACE,
            "The string with all matches of a Java regular expression replaced."));
    return definitions;
  }

  private static FunctionDefinition regexp(RegexpFunction function, String description) {
    return FunctionDefinition.named(function.name())
        .family(FunctionFamily.PATTERN)
        .signatures(regexpSignatures(function))
        .description(description + " " + PatternFunctions.DEVICE_SUBSET)
        .differences(
            "Patterns that overflow Java's stack on long strings still give a result on"
                + " the device.")
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
        PatternFunctions.checkStrings(arguments.subList(0, 2), 2, 2);
        if (arguments.size() == 3 && !arguments.get(2).type().isInteger()) {
          throw Arguments.wrongType(arguments.get(2));
        }
      }
      case REGEXP_REPLACE -> PatternFunctions.checkStrings(arguments, 3, 3);
      default -> PatternFunctions.checkStrings(arguments, 2, 2);
    }
    if (arguments.stream().anyMatch(Arguments::isNullLiteral)) {
      return Arguments.nullOf(function.type());
    }
    if (!(arguments.get(1) instanceof TypedExpression.Literal)) {
      return onHost(function, arguments, "the pattern is not a literal", function.byJava());
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
    if (pattern.isEmpty()) {
      throw new UnsupportedPatternException("the pattern is empty");
    }
    RegexpNode node = RegexpParser.parse(pattern);
    if (function.takesAllMatches() && node.matchesEmpty()) {
      throw new UnsupportedPatternException("its matches may be empty");
    }
    List<String> rest = arguments.stream().skip(1).map(Object::toString).toList();
    BoundFunction.Builder bound =
        BoundFunction.named(function.name())
            .sql(
                operands ->
                    function.name() + "(" + operands.get(0) + ", " + String.join(", ", rest) + ")");
    if (function == RegexpFunction.REGEXP_EXTRACT && arguments.size() == 3) {
      extractGroup(node, pattern, arguments, bound);
    } else {
      byAutomaton(function, node, pattern, arguments, bound);
    }
    TypedExpression text = arguments.get(0);
    return bound.call(
        List.of(text), function.type(), text.nullable() || function.hasNullableType());
  }

  private static void byAutomaton(
      RegexpFunction function,
      RegexpNode node,
      String pattern,
      List<TypedExpression> arguments,
      BoundFunction.Builder bound)
      throws UnsupportedPatternException {
    String replacement = "";
    if (function == RegexpFunction.REGEXP_REPLACE) {
      replacement = replacement(arguments);
      bound.scratch(ResultSizeLimit.NONE.plusOperand(0, Math.max(1, utf8Length(replacement))));
    } else if (function.type().equals(DataType.STRING)) {
      bound.nullable().within(ResultSizeLimit.ofOperand(0));
    }
    Dfa automaton = Dfa.of(node, function.search());
    bound
        .parameters(pattern, replacement)
        .host(function.byAutomaton(automaton, replacement))
        .device(
            DeviceFunction.call(
                function.deviceFunction(), function.constant(automaton, replacement)));
  }

  private static String replacement(List<TypedExpression> arguments)
      throws UnsupportedPatternException {
    Optional<String> replacement = Arguments.literal(arguments, 2).map(String.class::cast);
    if (replacement.isEmpty() || utf8Length(replacement.get()) > LONGEST_REPLACEMENT_BYTES) {
      throw new UnsupportedPatternException("the replacement is not a short literal");
    }
    return replacement.get();
  }

  private static void extractGroup(
      RegexpNode node, String pattern, List<TypedExpression> arguments, BoundFunction.Builder bound)
      throws UnsupportedPatternException {
    Optional<Integer> group =
        Arguments.literal(arguments, 2).map(value -> ((Long) value).intValue());
    if (group.isEmpty()) {
      throw new UnsupportedPatternException("the group is not a literal");
    }
    if (group.get() == 0) {
      byAutomaton(RegexpFunction.REGEXP_EXTRACT, node, pattern, arguments, bound);
      return;
    }
    OnePassDfa automaton = OnePassDfa.of(node, group.get());
    bound
        .nullable()
        .parameters(pattern, group.get())
        .host(
            HostFunction.ofRow(
                (operands, result, row) -> {
                  long address = operands[0].address(row);
                  OnePassDfa.Span span = automaton.find(address, operands[0].length(row));
                  if (span.start() < 0) {
                    result.setNull(row);
                  } else {
                    result.setBytes(row, address + span.start(), span.end() - span.start());
                  }
                }))
        .device(DeviceFunction.call("regexp_extract_group", automaton.table()))
        .within(ResultSizeLimit.ofOperand(0));
  }

  private static int utf8Length(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }
}

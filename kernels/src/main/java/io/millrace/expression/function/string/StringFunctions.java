// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static io.millrace.column.DataType.BINARY;
import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.STRING;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.text.Utf8;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Length, parts and search of strings, and the builders that all string functions share. */
@Internal
public final class StringFunctions {
  static final ResultSizeLimit WITHIN_TEXT = ResultSizeLimit.ofOperand(0);

  private StringFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return Stream.of(parts(), trims(), searches(), List.of(StringFormatFunctions.printf()))
        .flatMap(List::stream)
        .toList();
  }

  /** Starts a definition of this family. */
  static FunctionDefinition.Builder named(String name, Signature... signatures) {
    return FunctionDefinition.named(name).family(FunctionFamily.STRING).signatures(signatures);
  }

  /** The argument, which must be a STRING. */
  static TypedExpression text(List<TypedExpression> arguments, int index) {
    return Arguments.typed(arguments, index, TypeId.STRING);
  }

  /** The arguments, {@code least} to {@code most} of them, each of which must be a STRING. */
  static List<TypedExpression> texts(List<TypedExpression> arguments, int least, int most) {
    Arguments.count(arguments, least, most);
    return IntStream.range(0, arguments.size()).mapToObj(i -> text(arguments, i)).toList();
  }

  /** The argument as an INTEGER. A BIGINT is rejected because Flink generates no code for it. */
  static TypedExpression integer(
      List<TypedExpression> arguments, int index, BindingContext context) {
    return Coercion.cast(
        Arguments.typed(arguments, index, TypeId.INT8, TypeId.INT16, TypeId.INT32), INT32, context);
  }

  /** The argument, of any integer type, as a BIGINT. */
  static TypedExpression bigint(
      List<TypedExpression> arguments, int index, BindingContext context) {
    return Coercion.cast(
        Arguments.typed(arguments, index, TypeId.INT8, TypeId.INT16, TypeId.INT32, TypeId.INT64),
        DataType.INT64,
        context);
  }

  static TypedExpression literal(String text) {
    return new TypedExpression.Literal(text, STRING);
  }

  private static TypedExpression literal(long number) {
    return new TypedExpression.Literal(number, INT32);
  }

  private static List<FunctionDefinition> parts() {
    return List.of(
        named("CHAR_LENGTH", Signature.of(STRING))
            .aliases("CHARACTER_LENGTH")
            .description("The number of code points.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 1);
                  return BoundFunction.named("CHAR_LENGTH")
                      .host(HostFunction.ofRow(StringFunctions::charLength))
                      .device("char_length")
                      .call(List.of(text(arguments, 0)), INT32);
                }),
        named("SUBSTRING", Signature.of(STRING, INT32), Signature.of(STRING, INT32, INT32))
            .aliases("SUBSTR")
            .description(
                "The substring from a code point position, counted from 1 or backwards from"
                    + " -1, with an optional number of code points; null if the number is negative.")
            .bind(StringFunctions::substring),
        named("LEFT", Signature.of(STRING, INT32))
            .description("The leading code points.")
            .bind((arguments, context) -> end("LEFT", StringParts::left, arguments, context)),
        named("RIGHT", Signature.of(STRING, INT32))
            .description("The trailing code points.")
            .bind((arguments, context) -> end("RIGHT", StringParts::right, arguments, context)),
        named("ASCII", Signature.of(STRING))
            .description("The first byte as a signed number; 0 for an empty string.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 1);
                  return BoundFunction.named("ASCII")
                      .host(HostFunction.ofRow(StringParts::ascii))
                      .device("ascii")
                      .call(List.of(text(arguments, 0)), INT32);
                }),
        named(
                "SPLIT_INDEX",
                Signature.of(STRING, STRING, INT32),
                Signature.of(STRING, INT32, INT32))
            .description(
                "The part at an index, counted from 0, between separators. The separator is a"
                    + " string or a character code of 1 to 255; an empty string splits at each"
                    + " whitespace character. Null if the index is out of range.")
            .bind(StringFunctions::splitIndex));
  }

  private static void charLength(HostVector[] operands, HostVector result, int row) {
    result.longs()[row] = Utf8.count(operands[0].address(row), operands[0].length(row));
  }

  private static TypedExpression substring(
      List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, 3);
    BoundFunction.Builder function =
        BoundFunction.named("SUBSTRING")
            .host(HostFunction.ofRow(StringParts::substring))
            .within(WITHIN_TEXT);
    TypedExpression start = integer(arguments, 1, context);
    if (arguments.size() == 2) {
      return function.device("substring").call(List.of(text(arguments, 0), start), STRING, true);
    }
    List<TypedExpression> operands =
        List.of(text(arguments, 0), start, integer(arguments, 2, context));
    return function.nullable().device("substring_for").call(operands, STRING);
  }

  private static TypedExpression end(
      String name,
      HostFunction.RowFunction host,
      List<TypedExpression> arguments,
      BindingContext context) {
    Arguments.count(arguments, 2, 2);
    return BoundFunction.named(name)
        .host(HostFunction.ofRow(host))
        .device(name.equals("LEFT") ? "left" : "right")
        .within(WITHIN_TEXT)
        .call(List.of(text(arguments, 0), integer(arguments, 1, context)), STRING, true);
  }

  private static TypedExpression splitIndex(
      List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 3, 3);
    boolean byCode = arguments.get(1).type().isInteger();
    return BoundFunction.named("SPLIT_INDEX")
        .nullable()
        .host(HostFunction.ofRow(byCode ? StringParts::splitIndexByCode : StringParts::splitIndex))
        .device(byCode ? "split_index_code" : "split_index")
        .within(WITHIN_TEXT)
        .call(
            List.of(
                text(arguments, 0),
                byCode ? integer(arguments, 1, context) : text(arguments, 1),
                integer(arguments, 2, context)),
            STRING);
  }

  private static List<FunctionDefinition> trims() {
    return List.of(
        trim("TRIM", "BOTH", "trim_both", StringParts::trimBoth, "both ends"),
        trim("TRIM LEADING", "LEADING", "trim_leading", StringParts::trimLeading, "the start"),
        trim("TRIM TRAILING", "TRAILING", "trim_trailing", StringParts::trimTrailing, "the end"),
        trim("BTRIM", null, "trim_both", StringParts::trimBoth, "both ends"),
        trim("LTRIM", null, "trim_leading", StringParts::trimLeading, "the start"),
        trim("RTRIM", null, "trim_trailing", StringParts::trimTrailing, "the end"));
  }

  private static FunctionDefinition trim(
      String name, String flag, String device, HostFunction.RowFunction host, String where) {
    FunctionDefinition.Builder definition =
        named(name, Signature.of(STRING), Signature.of(STRING, STRING))
            .description(
                "Removes the characters of the second string, or spaces, from " + where + ".")
            .differences(
                "If the characters are not a literal, Flink may trim only spaces if they start"
                    + " with a space, and fail if they are empty.");
    if (flag != null) {
      definition.sql(
          a ->
              "TRIM("
                  + flag
                  + " "
                  + (a.size() == 2 ? a.get(1) : "' '")
                  + " FROM "
                  + a.get(0)
                  + ")");
    }
    return definition.bind(
        (arguments, context) -> {
          Arguments.count(arguments, 1, 2);
          TypedExpression characters = arguments.size() == 2 ? text(arguments, 1) : literal(" ");
          return BoundFunction.named(name)
              .host(HostFunction.ofRow(host))
              .device(device)
              .within(WITHIN_TEXT)
              .call(List.of(text(arguments, 0), characters), STRING);
        });
  }

  private static List<FunctionDefinition> searches() {
    Signature two = Signature.of(STRING, STRING);
    Signature three = Signature.of(STRING, STRING, INT32);
    return List.of(
        named("POSITION", two, three)
            .description(
                "The position of the first string in the second, in code points counted from"
                    + " 1, at or after an optional start; 0 if it does not occur. An empty string is"
                    + " found at 1.")
            .sql(
                a ->
                    "POSITION("
                        + a.get(0)
                        + " IN "
                        + a.get(1)
                        + (a.size() == 3 ? " FROM " + a.get(2) : "")
                        + ")")
            .bind((arguments, context) -> position("POSITION", arguments, context)),
        named("LOCATE", two, three)
            .description(
                "The position of the first string in the second, in code points counted from"
                    + " 1, at or after an optional start; 0 if it does not occur. An empty string is"
                    + " found at 1.")
            .bind((arguments, context) -> position("LOCATE", arguments, context)),
        named("INSTR", two, three, Signature.of(STRING, STRING, INT32, INT32))
            .description(
                "The position of an occurrence of the second string in the first, in code"
                    + " points counted from 1; 0 if it does not occur. The search begins at an"
                    + " optional start, backwards if the start is negative. An occurrence number"
                    + " below 1 fails.")
            .differences(
                "Flink overflows its stack for a start of -2147483648; here the result is 0.")
            .bind(StringFunctions::instr),
        affix("STARTSWITH", "starts_with", StringSearch::startsWith, "starts"),
        affix("ENDSWITH", "ends_with", StringSearch::endsWith, "ends"));
  }

  private static TypedExpression position(
      String name, List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, 3);
    List<TypedExpression> operands =
        new ArrayList<>(List.of(text(arguments, 0), text(arguments, 1)));
    if (arguments.size() == 3) {
      operands.add(integer(arguments, 2, context));
    }
    return BoundFunction.named(name)
        .host(HostFunction.ofRow(StringSearch::position))
        .device(operands.size() == 2 ? "position" : "position_from")
        .call(operands, INT32);
  }

  private static TypedExpression instr(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, 4);
    return BoundFunction.named("INSTR")
        .failing()
        .host(HostFunction.ofFallibleRow(StringSearch::instr))
        .device("instr")
        .call(
            List.of(
                text(arguments, 0),
                text(arguments, 1),
                arguments.size() > 2 ? integer(arguments, 2, context) : literal(1),
                arguments.size() > 3 ? integer(arguments, 3, context) : literal(1)),
            INT32);
  }

  private static FunctionDefinition affix(
      String name, String device, HostFunction.RowFunction host, String verb) {
    return named(name, Signature.of(STRING, STRING), Signature.of(BINARY, BINARY))
        .description("Whether the first string " + verb + " with the second.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, 2);
              Arguments.typed(arguments, 0, TypeId.STRING, TypeId.BINARY);
              Arguments.typed(arguments, 1, arguments.get(0).type().id());
              return BoundFunction.named(name)
                  .host(HostFunction.ofRow(host))
                  .device(device)
                  .call(arguments, DataType.BOOL);
            });
  }
}

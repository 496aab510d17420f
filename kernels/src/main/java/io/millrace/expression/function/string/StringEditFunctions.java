// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.INT64;
import static io.millrace.column.DataType.STRING;
import static io.millrace.expression.function.string.StringFunctions.WITHIN_TEXT;
import static io.millrace.expression.function.string.StringFunctions.bigint;
import static io.millrace.expression.function.string.StringFunctions.integer;
import static io.millrace.expression.function.string.StringFunctions.named;
import static io.millrace.expression.function.string.StringFunctions.text;
import static io.millrace.expression.function.string.StringFunctions.texts;

import io.millrace.annotation.Internal;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Functions that edit strings. */
@Internal
public final class StringEditFunctions {
  // Limits of the scratch memory for a result: a multiple of the text's bytes, and constant bytes
  // per row.
  private static final long MAX_FACTOR = 64;
  private static final long MAX_BYTES = 4096;
  private static final int MAX_WIDTH = 4;
  private static final int MAX_UNIT_WIDTH = 3;

  private static final String LOCALES =
      "Case mapping is locale-independent. Flink uses the default locale of the JVM"
          + " for strings that are not ASCII or that were computed by an expression.";

  private StringEditFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        named("UPPER", Signature.of(STRING))
            .description("The string in upper case.")
            .differences(LOCALES)
            .bind(
                (arguments, context) ->
                    changeCase("UPPER", StringEdits::upper, CaseMapping.upper(), arguments)),
        named("LOWER", Signature.of(STRING))
            .description("The string in lower case.")
            .differences(LOCALES)
            .bind(
                (arguments, context) ->
                    changeCase("LOWER", StringEdits::lower, CaseMapping.lower(), arguments)),
        named("INITCAP", Signature.of(STRING))
            .description(
                "Converts the first letter of each word of ASCII letters and digits to upper"
                    + " case and the others to lower case.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("INITCAP")
                        .failing()
                        .host(HostFunction.ofRow(StringEdits::initcap))
                        .device("initcap")
                        .scratch(WITHIN_TEXT)
                        .call(texts(arguments, 1, 1), STRING)),
        named("REVERSE", Signature.of(STRING))
            .description("The code points in reverse order.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("REVERSE")
                        .host(HostFunction.ofRow(StringEdits::reverse))
                        .device("reverse")
                        .scratch(WITHIN_TEXT)
                        .call(texts(arguments, 1, 1), STRING, true)),
        named("CHR", Signature.of(INT64), Signature.of(INT32))
            .description(
                "The character whose code is the lowest byte of a number; empty for a negative"
                    + " number.")
            .bind(StringEditFunctions::chr),
        named("REPLACE", Signature.of(STRING, STRING, STRING), literals(2), literals(1, 2))
            .description(
                "Replaces each occurrence of the second string by the third. An empty second"
                    + " string matches before each character and at the end.")
            .bind((arguments, context) -> replace(arguments)),
        named("TRANSLATE", Signature.of(STRING, STRING, STRING), literals(1, 2))
            .description(
                "Replaces each code point that occurs in the second string by the code point"
                    + " at the same position of the third string, or removes it if the third string"
                    + " is shorter.")
            .bind((arguments, context) -> translate(arguments)),
        named(
                "OVERLAY",
                Signature.of(STRING, STRING, INT64),
                Signature.of(STRING, STRING, INT64, INT64))
            .description(
                "Replaces a part of the string by the second string. The part starts at a"
                    + " position in UTF-16 units, counted from 1, and is as long as the second"
                    + " string unless a length is given. A start outside of the string returns the"
                    + " string unchanged.")
            .sql(StringEditFunctions::overlaySql)
            .bind(StringEditFunctions::overlay),
        pad("LPAD", StringEdits::padLeft, "left"),
        pad("RPAD", StringEdits::padRight, "right"),
        named("REPEAT", Signature.of(STRING, INT32), repeats())
            .description(
                "Repeats the string the given number of times; empty for a negative number.")
            .bind(StringEditFunctions::repeat));
  }

  /** Three strings; the arguments at {@code indexes} are literals. */
  private static Signature literals(int... indexes) {
    Signature.Parameter[] parameters = new Signature.Parameter[3];
    for (int i = 0; i < parameters.length; i++) {
      parameters[i] = Signature.any(STRING);
    }
    for (int index : indexes) {
      parameters[index] =
          index == 1
              ? Signature.literal(STRING, "a", "ab", "\u00e9")
              : Signature.literal(STRING, "", "b", "xyz");
    }
    return Signature.of(parameters);
  }

  private static Signature repeats() {
    return Signature.of(Signature.any(STRING), Signature.literal(INT32, -1L, 0L, 1L, 3L));
  }

  private static TypedExpression changeCase(
      String name, HostFunction.RowFunction host, byte[] table, List<TypedExpression> arguments) {
    return BoundFunction.named(name)
        .failing()
        .host(HostFunction.ofRow(host))
        .device(DeviceFunction.call(name.toLowerCase(Locale.ROOT), table))
        .scratch(WITHIN_TEXT.plus(CaseMapping.GROWTH))
        .call(texts(arguments, 1, 1), STRING);
  }

  private static TypedExpression chr(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 1, 1);
    return BoundFunction.named("CHR")
        .host(HostFunction.ofRow(StringEdits::chr))
        .device("chr")
        .scratch(ResultSizeLimit.constant(2))
        .call(List.of(bigint(arguments, 0, context)), STRING, true);
  }

  private static TypedExpression replace(List<TypedExpression> arguments) {
    List<TypedExpression> operands = texts(arguments, 3, 3);
    BoundFunction.Builder function =
        BoundFunction.named("REPLACE").failing().host(HostFunction.ofRow(StringEdits::replace));
    Optional<byte[]> replacement = bytes(arguments, 2);
    if (replacement.isEmpty()) {
      function.hostOnly("the replacement is not a literal");
    } else {
      long length = replacement.get().length;
      long sought = bytes(arguments, 1).map(bytes -> bytes.length).orElse(0);
      // An empty string matches before each character and at the end.
      ResultSizeLimit bound =
          sought == 0
              ? ResultSizeLimit.constant(length).plusOperand(0, length + 1)
              : ResultSizeLimit.NONE.plusOperand(0, Math.max(1, (length + sought - 1) / sought));
      bounded(function, "replace", bound);
    }
    return function.call(operands, STRING);
  }

  private static Optional<byte[]> bytes(List<TypedExpression> arguments, int index) {
    return Arguments.literal(arguments, index)
        .map(text -> ((String) text).getBytes(StandardCharsets.UTF_8));
  }

  // Uses the device if the result needs a limited amount of memory.
  static void bounded(BoundFunction.Builder function, String device, ResultSizeLimit bound) {
    if (bound.factor(0) <= MAX_FACTOR && bound.constant() <= MAX_BYTES) {
      function.device(device).scratch(bound);
    } else {
      function.hostOnly("the result may exceed the scratch memory");
    }
  }

  private static TypedExpression translate(List<TypedExpression> arguments) {
    List<TypedExpression> texts = texts(arguments, 3, 3);
    TypedExpression text = texts.get(0);
    TypedExpression from = texts.get(1);
    TypedExpression translated =
        BoundFunction.named("TRANSLATE")
            .failing()
            .host(HostFunction.ofRow(StringEdits::translate))
            .device("translate")
            .scratch(ResultSizeLimit.NONE.plusOperand(0, translationFactor(arguments)))
            .call(
                List.of(text, from, StringConcatFunctions.orEmpty(texts.get(2))),
                STRING,
                text.nullable());
    return from.nullable()
        ? new TypedExpression.Case(
            List.of(new TypedExpression.IsNull(from)), List.of(text, translated))
        : translated;
  }

  // The greatest ratio of a replacement's UTF-8 width to the width of the code point it replaces.
  private static long translationFactor(List<TypedExpression> arguments) {
    Optional<Object> from = Arguments.literal(arguments, 1);
    Optional<Object> to = Arguments.literal(arguments, 2);
    if (from.isEmpty() || to.isEmpty()) {
      return MAX_WIDTH;
    }
    int[] points = ((String) from.get()).codePoints().toArray();
    int[] replacements = ((String) to.get()).codePoints().toArray();
    long factor = 1;
    for (int i = 0; i < Math.min(points.length, replacements.length); i++) {
      int width = width(points[i]);
      factor = Math.max(factor, (width(replacements[i]) + width - 1) / width);
    }
    return factor;
  }

  private static int width(int codePoint) {
    return Character.toString(codePoint).getBytes(StandardCharsets.UTF_8).length;
  }

  private static TypedExpression overlay(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 3, 4);
    List<TypedExpression> operands =
        new ArrayList<>(List.of(text(arguments, 0), text(arguments, 1)));
    for (int i = 2; i < arguments.size(); i++) {
      operands.add(bigint(arguments, i, context));
    }
    return BoundFunction.named("OVERLAY")
        .failing()
        .host(HostFunction.ofFallibleRow(StringEdits::overlay))
        .device(operands.size() == 3 ? "overlay" : "overlay_for")
        .scratch(WITHIN_TEXT.plusOperand(1, 1))
        .sql(StringEditFunctions::overlaySql)
        .call(operands, STRING);
  }

  private static String overlaySql(List<String> operands) {
    return "OVERLAY("
        + operands.get(0)
        + " PLACING "
        + operands.get(1)
        + " FROM "
        + operands.get(2)
        + (operands.size() == 4 ? " FOR " + operands.get(3) : "")
        + ")";
  }

  private static FunctionDefinition pad(String name, HostFunction.RowFunction host, String where) {
    Signature.Parameter units = Signature.literal(INT32, -1L, 0L, 3L, 12L);
    return named(
            name,
            Signature.of(STRING, INT32, STRING),
            Signature.of(Signature.any(STRING), units, Signature.any(STRING)))
        .description(
            "The string cut to a number of UTF-16 units or filled up to it with another string at"
                + " the "
                + where
                + "; null for a negative number and for nothing to fill with.")
        .differences("Flink declares a result that may be null as NOT NULL if the arguments are.")
        .bind((arguments, context) -> pad(name, host, arguments, context));
  }

  private static TypedExpression pad(
      String name,
      HostFunction.RowFunction host,
      List<TypedExpression> arguments,
      BindingContext context) {
    Arguments.count(arguments, 3, 3);
    BoundFunction.Builder function =
        BoundFunction.named(name).nullable().host(HostFunction.ofRow(host));
    Optional<Object> units = Arguments.literal(arguments, 1);
    List<TypedExpression> operands =
        List.of(text(arguments, 0), integer(arguments, 1, context), text(arguments, 2));
    if (units.isEmpty()) {
      function.hostOnly("the length is not a literal");
    } else {
      long bytes = Math.max((Long) units.get(), 0) * MAX_UNIT_WIDTH;
      bounded(function, name.toLowerCase(Locale.ROOT), WITHIN_TEXT.plus(bytes));
    }
    boolean isNullFree =
        units.filter(value -> (Long) value >= 0).isPresent()
            && bytes(arguments, 2).filter(filling -> filling.length > 0).isPresent();
    boolean nullable = !isNullFree || operands.stream().anyMatch(TypedExpression::nullable);
    return function.call(operands, STRING, nullable);
  }

  private static TypedExpression repeat(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, 2);
    BoundFunction.Builder function =
        BoundFunction.named("REPEAT").failing().host(HostFunction.ofRow(StringEdits::repeat));
    List<TypedExpression> operands = List.of(text(arguments, 0), integer(arguments, 1, context));
    Optional<Object> count = Arguments.literal(arguments, 1);
    if (count.isEmpty()) {
      function.hostOnly("the number is not a literal");
    } else {
      long factor = Math.max((Long) count.get(), 0);
      bounded(function, "repeat", ResultSizeLimit.NONE.plusOperand(0, factor));
    }
    return function.call(operands, STRING);
  }
}

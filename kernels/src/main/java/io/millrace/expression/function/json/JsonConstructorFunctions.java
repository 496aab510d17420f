// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import static io.millrace.column.DataType.STRING;
import static io.millrace.expression.function.json.JsonArguments.words;

import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.string.StringConcatFunctions;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * {@code JSON_OBJECT} and {@code JSON_ARRAY}. As in Calcite's calls the first argument says what
 * becomes of nulls, {@code 'NULL_ON_NULL'} or {@code 'ABSENT_ON_NULL'}, a word as in {@link
 * JsonArguments}; then follow the elements, or names and values in turn. A value that is itself a
 * call of these functions or of {@code JSON} is not quoted.
 */
final class JsonConstructorFunctions {
  private static final String OBJECT = "JSON_OBJECT";
  private static final String ARRAY = "JSON_ARRAY";
  private static final Set<String> NOT_QUOTED = Set.of(OBJECT, ARRAY, JsonTextFunctions.JSON);

  /** What becomes of nulls. */
  private enum OnNull {
    NULL_ON_NULL,
    ABSENT_ON_NULL
  }

  private JsonConstructorFunctions() {}

  static List<FunctionDefinition> definitions() {
    return List.of(
        FunctionDefinition.named("JSON_STRING")
            .family(FunctionFamily.JSON)
            .signatures(JsonText.types().map(Signature::of).toList())
            .description("A value as JSON.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 1);
                  return text(arguments.get(0), context);
                }),
        FunctionDefinition.named(OBJECT)
            .family(FunctionFamily.JSON)
            .signatures(objectSignatures())
            .description(
                "A JSON object of names and values, in the order of the names. Values that are"
                    + " null are left out if ABSENT ON NULL is said. Values that are calls of"
                    + " JSON_OBJECT, JSON_ARRAY or JSON are not quoted.")
            .differences("Refuses a name that is no literal, and a name that occurs twice.")
            .sql(JsonConstructorFunctions::objectSql)
            .bind(JsonConstructorFunctions::object),
        FunctionDefinition.named(ARRAY)
            .family(FunctionFamily.JSON)
            .signatures(arraySignatures())
            .description(
                "A JSON array of values. Values that are null are left out unless NULL ON NULL is"
                    + " said. Values that are calls of JSON_OBJECT, JSON_ARRAY or JSON are not"
                    + " quoted.")
            .sql(JsonConstructorFunctions::arraySql)
            .bind(JsonConstructorFunctions::array));
  }

  private static Signature.Parameter onNull(String word) {
    return Signature.literal(STRING, word);
  }

  private static List<Signature> objectSignatures() {
    Signature.Parameter name = Signature.literal(STRING, "b", "é\"");
    Stream<Signature> ofTypes =
        JsonText.types()
            .map(
                type ->
                    Signature.of(
                        onNull("NULL_ON_NULL"),
                        name,
                        Signature.any(type),
                        Signature.literal(STRING, "a"),
                        Signature.any(STRING)));
    Signature absent = Signature.of(onNull("ABSENT_ON_NULL"), name, Signature.any(STRING));
    return Stream.concat(ofTypes, Stream.of(absent)).toList();
  }

  private static List<Signature> arraySignatures() {
    Stream<Signature> ofTypes =
        JsonText.types()
            .map(
                type ->
                    Signature.of(
                        onNull("ABSENT_ON_NULL"), Signature.any(type), Signature.any(STRING)));
    Signature nulls = Signature.of(onNull("NULL_ON_NULL"), Signature.any(STRING));
    return Stream.concat(ofTypes, Stream.of(nulls)).toList();
  }

  private static String objectSql(List<String> arguments) {
    List<String> members = new ArrayList<>();
    for (int i = 1; i + 1 < arguments.size(); i += 2) {
      members.add("KEY " + arguments.get(i) + " VALUE " + arguments.get(i + 1));
    }
    return sql(OBJECT, members, arguments);
  }

  private static String arraySql(List<String> arguments) {
    return sql(ARRAY, arguments.stream().skip(1).toList(), arguments);
  }

  private static String sql(String function, List<String> values, List<String> arguments) {
    return values.isEmpty()
        ? function + "()"
        : function + "(" + String.join(", ", values) + " " + words(arguments.get(0)) + ")";
  }

  private static TypedExpression object(List<TypedExpression> arguments, BindingContext context) {
    OnNull onNull = JsonArguments.word(arguments, 0, OnNull.class);
    Map<String, TypedExpression> members = new TreeMap<>();
    for (int i = 1; i < arguments.size(); i += 2) {
      Arguments.count(arguments, i + 2, Integer.MAX_VALUE);
      String name = Arguments.literalString(arguments, i);
      if (members.put(name, text(arguments.get(i + 1), context)) != null) {
        throw new ExpressionException("expected each name once, got '" + name + "' twice");
      }
    }
    List<TypedExpression> parts = new ArrayList<>();
    members.forEach(
        (name, value) -> parts.add(part(JsonTree.write(name).orElseThrow() + ":", value, onNull)));
    return close(OBJECT, parts, objectSql(arguments.stream().map(Object::toString).toList()));
  }

  private static TypedExpression array(List<TypedExpression> arguments, BindingContext context) {
    OnNull onNull = JsonArguments.word(arguments, 0, OnNull.class);
    List<TypedExpression> parts =
        arguments.stream().skip(1).map(value -> part("", text(value, context), onNull)).toList();
    return close(ARRAY, parts, arraySql(arguments.stream().map(Object::toString).toList()));
  }

  /** A value as JSON; null if it is null. */
  private static TypedExpression text(TypedExpression value, BindingContext context) {
    boolean isJson =
        value.calledFunction().filter(function -> NOT_QUOTED.contains(function.name())).isPresent();
    return isJson ? value : JsonText.of(value, context);
  }

  /** A member or an element with a comma behind it, or an empty string if it is left out. */
  private static TypedExpression part(String name, TypedExpression value, OnNull onNull) {
    TypedExpression present =
        StringConcatFunctions.concat(List.of(literal(name), value, literal(",")));
    TypedExpression absent = literal(onNull == OnNull.NULL_ON_NULL ? name + "null," : "");
    return value.nullable()
        ? new TypedExpression.Case(
            List.of(new TypedExpression.IsNull(value)), List.of(absent, present), false)
        : present;
  }

  private static TypedExpression literal(String text) {
    return new TypedExpression.Literal(text, STRING);
  }

  /** Puts parts, each with a comma behind it, into braces or brackets. */
  private static TypedExpression close(String function, List<TypedExpression> parts, String sql) {
    boolean isObject = function.equals(OBJECT);
    TypedExpression all = parts.isEmpty() ? literal("") : StringConcatFunctions.concat(parts);
    return BoundFunction.named(function)
        .host(
            HostFunction.ofRow(
                (operands, result, row) -> close(isObject ? "{}" : "[]", operands[0], result, row)))
        .device(isObject ? "json_object" : "json_array")
        .scratch(ResultSizeLimit.ofOperand(0).plus("[]".length()))
        .sql(operands -> sql)
        .call(List.of(all), STRING);
  }

  private static void close(String ends, HostVector parts, HostVector result, int row) {
    byte[] text = parts.getBytes(row);
    int length = Math.max(text.length - 1, 0);
    byte[] closed = new byte[length + ends.length()];
    closed[0] = (byte) ends.charAt(0);
    System.arraycopy(text, 0, closed, 1, length);
    closed[length + 1] = (byte) ends.charAt(1);
    result.setBytes(row, closed);
  }
}

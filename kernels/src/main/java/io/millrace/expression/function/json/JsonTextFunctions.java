// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import static io.millrace.column.DataType.STRING;

import io.millrace.column.TypeId;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.util.List;
import java.util.Optional;

/** {@code JSON} and {@code JSON_UNQUOTE}, which read texts of JSON as a whole. */
final class JsonTextFunctions {
  /** The name of the function whose value is put into objects and arrays without quotes. */
  static final String JSON = "JSON";

  private static final int HEXADECIMAL = 16;
  private static final int DIGITS_OF_A_UNIT = 4;

  private JsonTextFunctions() {}

  static List<FunctionDefinition> definitions() {
    return List.of(
        FunctionDefinition.named(JSON)
            .family(FunctionFamily.JSON)
            .signatures(Signature.of(STRING))
            .description(
                "The JSON at the start of a string, without white space and with members in the"
                    + " order of their names; null if the string is blank. JSON_OBJECT and"
                    + " JSON_ARRAY do not quote it. A string that is not JSON fails.")
            .bind(
                (arguments, context) ->
                    onHost(JSON, arguments)
                        .failing()
                        .host(HostFunction.ofFallibleRow(JsonTextFunctions::rewrite))
                        .call(arguments, STRING, true)),
        FunctionDefinition.named("JSON_UNQUOTE")
            .family(FunctionFamily.JSON)
            .signatures(Signature.of(STRING))
            .description(
                "A JSON string without its quotes, and with the characters that escapes stand for;"
                    + " any other string as it is.")
            .bind(
                (arguments, context) ->
                    onHost("JSON_UNQUOTE", arguments)
                        .failing()
                        .host(HostFunction.ofFallibleRow(JsonTextFunctions::unquote))
                        .call(arguments, STRING)));
  }

  private static BoundFunction.Builder onHost(String name, List<TypedExpression> arguments) {
    Arguments.count(arguments, 1, 1);
    Arguments.typed(arguments, 0, TypeId.STRING);
    return BoundFunction.named(name).hostOnly("JSON is read by Flink's library");
  }

  private static void rewrite(HostVector[] operands, HostVector result, int row, Rows rows) {
    String text = operands[0].getString(row).trim();
    if (text.isEmpty()) {
      result.setNull(row);
      return;
    }
    Optional<String> written = JsonTree.parse(text).flatMap(tree -> JsonTree.write(tree.root()));
    written.ifPresentOrElse(
        json -> result.setString(row, json),
        () ->
            rows.refuse(
                row,
                "Invalid JSON string in JSON(value) function: \"%s\". Error: %s"
                    .formatted(text, JsonTree.failure(text))));
  }

  private static void unquote(HostVector[] operands, HostVector result, int row, Rows rows) {
    String text = operands[0].getString(row);
    if (!text.startsWith("\"") || !text.endsWith("\"") || JsonTree.parse(text).isEmpty()) {
      result.setString(row, text);
      return;
    }
    try {
      result.setString(row, unescape(text.substring(1, text.length() - 1)));
    } catch (IllegalArgumentException e) {
      result.setString(row, text);
    } catch (IndexOutOfBoundsException e) {
      rows.fail(row, Status.INVALID_ARGUMENT);
    }
  }

  // Behind the JSON string may be anything up to the last quote.
  private static String unescape(String quoted) {
    StringBuilder text = new StringBuilder();
    int i = 0;
    while (i < quoted.length()) {
      char character = quoted.charAt(i++);
      if (character != '\\' || i == quoted.length()) {
        text.append(character);
        continue;
      }
      char escaped = quoted.charAt(i++);
      if (escaped == 'u') {
        String digits = quoted.substring(i, i + DIGITS_OF_A_UNIT);
        text.append((char) Integer.parseInt(digits, HEXADECIMAL));
        i += DIGITS_OF_A_UNIT;
      } else {
        text.append(unescape(escaped));
      }
    }
    return text.toString();
  }

  private static char unescape(char escaped) {
    return switch (escaped) {
      case '"', '\\', '/' -> escaped;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      default -> throw new IllegalArgumentException("an escape of " + escaped);
    };
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static io.millrace.column.DataType.BINARY;
import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.INT64;
import static io.millrace.column.DataType.STRING;
import static io.millrace.expression.function.string.StringFunctions.WITHIN_TEXT;
import static io.millrace.expression.function.string.StringFunctions.bigint;
import static io.millrace.expression.function.string.StringFunctions.named;
import static io.millrace.expression.function.string.StringFunctions.text;
import static io.millrace.expression.function.string.StringFunctions.texts;

import io.millrace.annotation.Internal;
import io.millrace.column.TypeId;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.List;
import java.util.stream.Stream;

/** Base64, character sets, URLs, JSON strings and IPv4 addresses. */
@Internal
public final class StringEncodingFunctions {
  private static final String CHARACTER_SETS = "Java's character sets";

  private StringEncodingFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return Stream.of(encodings(), characterSetsAndUrls(), addresses())
        .flatMap(List::stream)
        .toList();
  }

  private static List<FunctionDefinition> encodings() {
    Signature one = Signature.of(STRING);
    return List.of(
        named("TO_BASE64", one, Signature.of(BINARY))
            .description("Encodes bytes in Base64.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("TO_BASE64")
                        .host(HostFunction.ofRow(StringEncodings::toBase64))
                        .device("to_base64")
                        .scratch(ResultSizeLimit.constant(2).plusOperand(0, 2))
                        .call(bytes(arguments), STRING)),
        named("FROM_BASE64", one, Signature.of(BINARY))
            .description("Decodes Base64 to bytes; malformed input fails.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("FROM_BASE64")
                        .failing()
                        .host(HostFunction.ofFallibleRow(StringEncodings::fromBase64))
                        .device("from_base64")
                        .scratch(WITHIN_TEXT)
                        .call(bytes(arguments), STRING)),
        named("URL_ENCODE", one)
            .description("Encodes a string as application/x-www-form-urlencoded.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("URL_ENCODE")
                        .nullable()
                        .host(HostFunction.ofRow(StringEncodings::urlEncode))
                        .device("url_encode")
                        .scratch(ResultSizeLimit.NONE.plusOperand(0, 3))
                        .call(texts(arguments, 1, 1), STRING)),
        named("URL_DECODE", one)
            .description(
                "Decodes application/x-www-form-urlencoded; null if the value is malformed.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("URL_DECODE")
                        .nullable()
                        .host(HostFunction.ofRow(StringEncodings::urlDecode))
                        .device("url_decode")
                        .scratch(WITHIN_TEXT)
                        .call(texts(arguments, 1, 1), STRING)),
        named("JSON_QUOTE", one)
            .description(
                "Encodes a string as a JSON string in double quotes, with escapes for quotes,"
                    + " backslashes, slashes, \\b, \\t, \\n, \\f, \\r and all that is not ASCII."
                    + " A code point above U+FFFF becomes an escape of its five or six digits and"
                    + " one of its low surrogate.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("JSON_QUOTE")
                        .failing()
                        .host(HostFunction.ofRow(StringEncodings::jsonQuote))
                        .device("json_quote")
                        .scratch(ResultSizeLimit.constant(2).plusOperand(0, 4))
                        .call(texts(arguments, 1, 1), STRING)));
  }

  private static List<FunctionDefinition> characterSetsAndUrls() {
    return List.of(
        named("ENCODE", Signature.of(Signature.any(STRING), Signature.literal(STRING, "UTF-8")))
            .description("Encodes a string in a character set; an unknown character set fails.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("ENCODE")
                        .failing()
                        .host(HostFunction.ofFallibleRow(StringEncodings::encode))
                        .hostOnly(CHARACTER_SETS)
                        .call(texts(arguments, 2, 2), BINARY)),
        named("DECODE", Signature.of(Signature.any(BINARY), Signature.literal(STRING, "UTF-8")))
            .description("Decodes bytes in a character set; an unknown character set fails.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 2, 2);
                  return BoundFunction.named("DECODE")
                      .failing()
                      .host(HostFunction.ofFallibleRow(StringEncodings::decode))
                      .hostOnly(CHARACTER_SETS)
                      .call(
                          List.of(Arguments.typed(arguments, 0, TypeId.BINARY), text(arguments, 1)),
                          STRING);
                }),
        named("PARSE_URL", Signature.of(STRING, STRING), Signature.of(STRING, STRING, STRING))
            .description(
                "A part of a URL: HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY or"
                    + " USERINFO, or a parameter of its QUERY; null if the URL does not have the"
                    + " part.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("PARSE_URL")
                        .nullable()
                        .host(HostFunction.ofRow(StringEncodings::parseUrl))
                        .hostOnly("Java's URL parser")
                        .call(texts(arguments, 2, 3), STRING)));
  }

  private static List<FunctionDefinition> addresses() {
    return List.of(
        named("INET_ATON", Signature.of(STRING))
            .description(
                "The number of an IPv4 address, which may omit parts before the last of two or"
                    + " three; null if the address is malformed.")
            .bind(
                (arguments, context) ->
                    BoundFunction.named("INET_ATON")
                        .nullable()
                        .host(HostFunction.ofRow(StringEncodings::inetAton))
                        .device("inet_aton")
                        .call(texts(arguments, 1, 1), INT64)),
        named("INET_NTOA", Signature.of(INT64), Signature.of(INT32))
            .description("The IPv4 address of a number; null if the number is out of range.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 1);
                  return BoundFunction.named("INET_NTOA")
                      .nullable()
                      .host(HostFunction.ofRow(StringEncodings::inetNtoa))
                      .device("inet_ntoa")
                      .scratch(ResultSizeLimit.constant(15))
                      .call(List.of(bigint(arguments, 0, context)), STRING);
                }));
  }

  private static List<TypedExpression> bytes(List<TypedExpression> arguments) {
    Arguments.count(arguments, 1, 1);
    return List.of(Arguments.typed(arguments, 0, TypeId.STRING, TypeId.BINARY));
  }
}

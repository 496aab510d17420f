// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import static io.millrace.expression.function.json.JsonArguments.words;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.resolve.Signature.Parameter;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.util.List;

/**
 * {@code JSON_EXISTS(text, path)}. An optional third argument is the word for its value if there is
 * an error, as {@link JsonArguments}: {@code 'TRUE'}, {@code 'FALSE'}, {@code 'UNKNOWN'} or {@code
 * 'ERROR'}.
 */
final class JsonPathFunctions {
  static final String LONG_PATH = "a path of more than " + JsonPath.MAX_DEVICE_STEPS + " steps";

  /** What JSON_EXISTS gives for an error. */
  private enum OnError {
    FALSE(0),
    TRUE(1),
    UNKNOWN(2),
    ERROR(3);

    private final int deviceCode;

    OnError(int deviceCode) {
      this.deviceCode = deviceCode;
    }
  }

  private JsonPathFunctions() {}

  /** A path as an argument. */
  static Parameter paths() {
    return Signature.literal(
        DataType.STRING,
        "lax $.key",
        "strict $.key",
        "$",
        "lax $",
        "lax $.a.b",
        "$.a[0]",
        "lax $[-1].b",
        "$['a b'][\"c\"][ 1 ]",
        "LAX  $.a-1:@$.é");
  }

  static FunctionDefinition exists() {
    return FunctionDefinition.named("JSON_EXISTS")
        .family(FunctionFamily.JSON)
        .signatures(
            Signature.of(Signature.any(DataType.STRING), paths()),
            Signature.of(
                Signature.any(DataType.STRING),
                paths(),
                Signature.literal(DataType.STRING, "TRUE", "FALSE", "UNKNOWN", "ERROR")))
        .description(
            "Whether there is a value other than null at a path of members and indices. In strict"
                + " mode it is an error if there is none or the text is not JSON; ON ERROR says"
                + " what to give then, false if it is absent.")
        .differences(
            "Refuses paths with wildcards, filters, functions, slices or several names in one"
                + " step, and paths that are no literal.")
        .sql(JsonPathFunctions::existsSql)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, 3);
              Arguments.typed(arguments, 0, TypeId.STRING);
              return exists(arguments);
            });
  }

  private static String existsSql(List<String> arguments) {
    return arguments.size() < 3
        ? "JSON_EXISTS(" + String.join(", ", arguments) + ")"
        : "JSON_EXISTS("
            + String.join(", ", arguments.subList(0, 2))
            + " "
            + words(arguments.get(2))
            + " ON ERROR)";
  }

  private static TypedExpression exists(List<TypedExpression> arguments) {
    JsonPath path = JsonPath.parse(Arguments.literalString(arguments, 1));
    OnError onError =
        arguments.size() == 2 ? OnError.FALSE : JsonArguments.word(arguments, 2, OnError.class);
    BoundFunction.Builder function =
        BoundFunction.named("JSON_EXISTS")
            .parameters(path, onError)
            .failing()
            .host(
                HostFunction.ofFallibleRow(
                    (operands, result, row, rows) ->
                        exists(path, onError, operands[0], result, row, rows)))
            .sql(
                operands ->
                    existsSql(
                        List.of(operands.get(0), arguments.get(1).toString(), onError.toString())));
    if (path.steps().size() > JsonPath.MAX_DEVICE_STEPS) {
      function.hostOnly(LONG_PATH);
    } else {
      function.device(DeviceFunction.call("json_exists", path.constant(0, onError.deviceCode)));
    }
    return function.call(arguments.subList(0, 1), DataType.BOOL, true);
  }

  private static void exists(
      JsonPath path, OnError onError, HostVector text, HostVector result, int row, Rows rows) {
    JsonPath.Outcome outcome = path.evaluate(text.getString(row)).outcome();
    if (outcome != JsonPath.Outcome.ERROR) {
      result.setBoolean(row, outcome == JsonPath.Outcome.VALUE);
      return;
    }
    switch (onError) {
      case FALSE, TRUE -> result.setBoolean(row, onError == OnError.TRUE);
      case UNKNOWN -> result.setNull(row);
      case ERROR -> rows.refuse(row, path.noResults());
    }
  }
}

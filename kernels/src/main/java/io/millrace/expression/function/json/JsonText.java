// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import static io.millrace.column.DataType.STRING;

import io.millrace.column.DataType;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import java.math.BigDecimal;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;

/** Values of SQL as JSON. */
final class JsonText {
  // A decimal of no more digits behind the point is never written with an exponent.
  private static final int MAX_PLAIN_SCALE = 6;

  /** The text of a row's value. */
  @FunctionalInterface
  private interface Text {
    String of(HostVector values, int row);
  }

  private JsonText() {}

  /** The types that have JSON. */
  static Stream<DataType> types() {
    return Stream.of(
        STRING,
        DataType.BOOL,
        DataType.INT8,
        DataType.INT16,
        DataType.INT32,
        DataType.INT64,
        DataType.FLOAT32,
        DataType.FLOAT64,
        DataType.decimal(9, 2),
        DataType.decimal(18, 4),
        DataType.decimal(38, 10),
        DataType.timestamp(3),
        DataType.timestamp(6),
        DataType.timestamp(9),
        DataType.timestamp(3, true),
        DataType.BINARY);
  }

  /**
   * The value as JSON; null if it is null.
   *
   * @throws io.millrace.expression.error.ExpressionException if its type is a DATE, a TIME or
   *     nested
   */
  static TypedExpression of(TypedExpression value, BindingContext context) {
    DataType type = value.type();
    return switch (type.id()) {
      case STRING -> ofString(value);
      case BOOL -> ofBoolean(value);
      case INT8, INT16, INT32, INT64 -> Coercion.cast(value, STRING, context);
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          type.scale() <= MAX_PLAIN_SCALE
              ? Coercion.cast(value, STRING, context)
              : onHost(
                  value,
                  (values, row) -> values.getDecimal(row).toString(),
                  "decimals of more than " + MAX_PLAIN_SCALE + " digits behind the point");
      case FLOAT32, FLOAT64 ->
          onHost(value, JsonText::floating, "Java's digits of a floating-point number");
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
          onHost(value, JsonText::timestamp, "Java's text of a timestamp");
      case BINARY -> onHost(value, JsonText::base64, "Base64 in quotes");
      default -> throw Arguments.wrongType(value);
    };
  }

  private static TypedExpression ofString(TypedExpression value) {
    return BoundFunction.named("JSON_STRING")
        .failing()
        .host(
            HostFunction.ofRow(
                (operands, result, row) ->
                    result.setString(
                        row, JsonTree.write(operands[0].getString(row)).orElseThrow())))
        .device("json_string")
        .scratch(ResultSizeLimit.constant(2).plusOperand(0, 6))
        .call(List.of(value), STRING);
  }

  private static TypedExpression ofBoolean(TypedExpression value) {
    return new TypedExpression.Case(
        List.of(new TypedExpression.IsNull(value), value),
        List.of(
            Arguments.nullOf(STRING),
            new TypedExpression.Literal("true", STRING),
            new TypedExpression.Literal("false", STRING)),
        value.nullable());
  }

  private static TypedExpression onHost(TypedExpression value, Text text, String reason) {
    return BoundFunction.named("JSON_STRING")
        .host(
            HostFunction.ofRow(
                (operands, result, row) -> result.setString(row, text.of(operands[0], row))))
        .hostOnly(reason)
        .call(List.of(value), STRING);
  }

  private static String floating(HostVector values, int row) {
    double number = values.doubles()[row];
    return Double.isFinite(number) ? BigDecimal.valueOf(number).toString() : "\"" + number + "\"";
  }

  private static String base64(HostVector values, int row) {
    return "\"" + Base64.getEncoder().encodeToString(values.getBytes(row)) + "\"";
  }

  private static String timestamp(HostVector values, int row) {
    String text = DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(values.getDateTime(row));
    return "\"" + text + (values.type().withTimeZone() ? "Z\"" : "\"");
  }
}

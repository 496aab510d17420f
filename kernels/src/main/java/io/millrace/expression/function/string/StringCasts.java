// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.function.numeric.NumberText;
import io.millrace.expression.function.numeric.NumericCasts;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.CastRule;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Status;
import java.util.List;
import java.util.Optional;

/**
 * Casts between STRING and BOOLEAN, numbers and BINARY, and to strings of a given length. The
 * device leaves rows that it cannot compute exactly to the host: non-ASCII text, and DOUBLEs with
 * more than 15 digits or large exponents.
 */
@Internal
public final class StringCasts implements CastRule {
  private static final ResultSizeLimit BOOLEAN_BYTES = ResultSizeLimit.constant(5);
  private static final ResultSizeLimit INTEGER_BYTES = ResultSizeLimit.constant(20);
  // 38 digits, a sign, a decimal point and a leading zero.
  private static final ResultSizeLimit DECIMAL_BYTES = ResultSizeLimit.constant(41);

  @Override
  public boolean supports(DataType from, DataType to) {
    return (to.id() == TypeId.STRING && isCast(from)) || (from.id() == TypeId.STRING && isCast(to));
  }

  private static boolean isCast(DataType type) {
    return type.id() == TypeId.BOOL || type.id() == TypeId.BINARY || type.isNumeric();
  }

  @Override
  public TypedExpression.Call bind(TypedExpression operand, DataType to, BindingContext context) {
    BoundFunction.Builder function = NumericCasts.function(to);
    if (to.id() == TypeId.STRING) {
      function = toString(function, operand.type());
    } else if (to.id() == TypeId.BINARY) {
      function = toBinary(function);
    } else {
      function = fromString(function.failing(), to);
    }
    return function.call(List.of(operand), to);
  }

  private static BoundFunction.Builder toString(BoundFunction.Builder function, DataType from) {
    return switch (from.id()) {
      case BOOL ->
          function
              .host(ofText((values, row) -> values.getBoolean(row) ? "TRUE" : "FALSE"))
              .device("cast_boolean_to_string")
              .scratch(BOOLEAN_BYTES);
      case INT8, INT16, INT32, INT64 ->
          function
              .host(ofText((values, row) -> Long.toString(values.longs()[row])))
              .device(from.id() == TypeId.INT64 ? "cast_int64_to_string" : "cast_int32_to_string")
              .scratch(INTEGER_BYTES);
      case FLOAT32 ->
          function
              .host(ofText((values, row) -> Float.toString((float) values.doubles()[row])))
              .hostOnly("Java's digits of a floating-point number");
      case FLOAT64 ->
          function
              .host(ofText((values, row) -> Double.toString(values.doubles()[row])))
              .hostOnly("Java's digits of a floating-point number");
      case BINARY ->
          function
              .failing()
              .host(ofText(HostVector::getString))
              .device("cast_binary_to_string")
              .within(ResultSizeLimit.ofOperand(0));
      default ->
          function
              .host(ofText((values, row) -> values.getDecimal(row).toPlainString()))
              .device(
                  DeviceFunction.call(
                      "cast_" + decimalName(from) + "_to_string", precisionAndScale(from)))
              .scratch(DECIMAL_BYTES);
    };
  }

  @FunctionalInterface
  private interface Text {
    String of(HostVector values, int row);
  }

  private static HostFunction ofText(Text text) {
    return HostFunction.ofRow(
        (operands, result, row) -> result.setString(row, text.of(operands[0], row)));
  }

  private static BoundFunction.Builder fromString(BoundFunction.Builder function, DataType to) {
    return switch (to.id()) {
      case BOOL ->
          function
              .host(
                  parsing(
                      (text, row) -> NumberText.parseBoolean(text.getBytes(row)),
                      HostVector::setBoolean))
              .device("cast_string_to_boolean");
      case INT8 -> integer(function, Byte.MIN_VALUE, Byte.MAX_VALUE, "cast_string_to_int8");
      case INT16 -> integer(function, Short.MIN_VALUE, Short.MAX_VALUE, "cast_string_to_int16");
      case INT32 -> integer(function, Integer.MIN_VALUE, Integer.MAX_VALUE, "cast_string_to_int32");
      case INT64 -> integer(function, Long.MIN_VALUE, Long.MAX_VALUE, "cast_string_to_int64");
      case FLOAT32 ->
          function
              .host(
                  parsing(
                      (text, row) -> floating(text.getString(row), true),
                      (result, row, value) -> result.doubles()[row] = value))
              .device("cast_string_to_float32");
      case FLOAT64 ->
          function
              .host(
                  parsing(
                      (text, row) -> floating(text.getString(row), false),
                      (result, row, value) -> result.doubles()[row] = value))
              .device("cast_string_to_float64");
      default ->
          function
              .host(
                  parsing(
                      (text, row) ->
                          NumberText.parseDecimal(text.getBytes(row), to.precision(), to.scale()),
                      HostVector::setDecimal))
              .device(
                  DeviceFunction.call("cast_string_to_" + decimalName(to), precisionAndScale(to)));
    };
  }

  private static BoundFunction.Builder integer(
      BoundFunction.Builder function, long least, long most, String device) {
    return function
        .host(
            parsing(
                (text, row) ->
                    NumberText.parseInteger(text.address(row), text.length(row), least, most),
                (result, row, value) -> result.longs()[row] = value))
        .device(device);
  }

  @FunctionalInterface
  private interface Parser<V> {
    Optional<V> parse(HostVector text, int row);
  }

  @FunctionalInterface
  private interface Setter<V> {
    void set(HostVector result, int row, V value);
  }

  private static <V> HostFunction parsing(Parser<V> parser, Setter<V> setter) {
    return HostFunction.ofFallibleRow(
        (operands, result, row, rows) -> {
          Optional<V> value = parser.parse(operands[0], row);
          if (value.isPresent()) {
            setter.set(result, row, value.get());
          } else {
            rows.fail(row, Status.INVALID_CAST);
          }
        });
  }

  private static Optional<Double> floating(String text, boolean isFloat) {
    try {
      return Optional.of(isFloat ? (double) Float.parseFloat(text) : Double.parseDouble(text));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static BoundFunction.Builder toBinary(BoundFunction.Builder function) {
    return function
        .host(
            HostFunction.ofRow(
                (operands, result, row) ->
                    result.setBytes(row, operands[0].address(row), operands[0].length(row))))
        .device("cast_string_to_binary")
        .within(ResultSizeLimit.ofOperand(0));
  }

  private static String decimalName(DataType type) {
    return switch (type.id()) {
      case DECIMAL32 -> "decimal32";
      case DECIMAL64 -> "decimal64";
      default -> "decimal128";
    };
  }

  private static byte[] precisionAndScale(DataType type) {
    return new byte[] {(byte) type.precision(), (byte) type.scale()};
  }
}

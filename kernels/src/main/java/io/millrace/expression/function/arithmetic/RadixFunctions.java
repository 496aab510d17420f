// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

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
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Binary and hexadecimal digits of numbers and of the bytes of strings. */
@Internal
public final class RadixFunctions {
  private static final int HEXADECIMAL = 16;

  private RadixFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        FunctionDefinition.named("BIN")
            .family(FunctionFamily.ARITHMETIC)
            .signatures(Signature.of(DataType.INT64))
            .description("The binary digits of an integer; a negative integer has 64.")
            .bind(RadixFunctions::binary),
        FunctionDefinition.named("HEX")
            .family(FunctionFamily.ARITHMETIC)
            .signatures(Signature.of(DataType.INT64), Signature.of(DataType.STRING))
            .description(
                "The hexadecimal digits, upper case, of an integer or of the UTF-8 bytes of a"
                    + " string.")
            .bind(RadixFunctions::hexadecimal),
        FunctionDefinition.named("UNHEX")
            .family(FunctionFamily.STRING)
            .signatures(Signature.of(DataType.STRING))
            .description(
                "The bytes that hexadecimal digits stand for; null if the string contains"
                    + " another character. An odd number of digits gives a first byte of zero.")
            .bind((arguments, context) -> bytes(arguments)));
  }

  private static TypedExpression binary(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 1, 1);
    return BoundFunction.named("BIN")
        .host(
            HostFunction.ofRow(
                (operands, result, row) ->
                    result.setString(row, Long.toBinaryString(operands[0].longs()[row]))))
        .device("long_bin")
        .scratch(ResultSizeLimit.constant(Long.SIZE))
        .call(List.of(asLong(arguments.get(0), context)), DataType.STRING);
  }

  private static TypedExpression hexadecimal(
      List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 1, 1);
    BoundFunction.Builder function = BoundFunction.named("HEX");
    if (arguments.get(0).type().id() == TypeId.STRING) {
      return function
          .failing()
          .host(HostFunction.ofRow(RadixFunctions::encode))
          .device("bytes_hex")
          .scratch(ResultSizeLimit.NONE.plusOperand(0, 2))
          .call(arguments, DataType.STRING);
    }
    return function
        .host(
            HostFunction.ofRow(
                (operands, result, row) ->
                    result.setString(
                        row, Long.toHexString(operands[0].longs()[row]).toUpperCase(Locale.ROOT))))
        .device("long_hex")
        .scratch(ResultSizeLimit.constant(Long.BYTES * 2))
        .call(List.of(asLong(arguments.get(0), context)), DataType.STRING);
  }

  // Converts through String like Flink, which replaces malformed UTF-8.
  private static void encode(HostVector[] operands, HostVector result, int row) {
    byte[] bytes = operands[0].getString(row).getBytes(StandardCharsets.UTF_8);
    result.setString(row, HexFormat.of().withUpperCase().formatHex(bytes));
  }

  private static TypedExpression asLong(TypedExpression argument, BindingContext context) {
    if (!argument.type().isInteger()) {
      throw Arguments.wrongType(argument);
    }
    return Coercion.cast(argument, DataType.INT64, context);
  }

  private static TypedExpression bytes(List<TypedExpression> arguments) {
    Arguments.count(arguments, 1, 1);
    Arguments.typed(arguments, 0, TypeId.STRING);
    return BoundFunction.named("UNHEX")
        .nullable()
        .host(HostFunction.ofRow(RadixFunctions::decode))
        .device("bytes_unhex")
        .scratch(ResultSizeLimit.ofOperand(0))
        .call(arguments, DataType.BINARY);
  }

  private static void decode(HostVector[] operands, HostVector result, int row) {
    Optional<byte[]> bytes = decode(operands[0].getBytes(row));
    if (bytes.isPresent()) {
      result.setBytes(row, bytes.get());
    } else {
      result.setNull(row);
    }
  }

  // Like Flink: with an odd number of digits the first digit is validated, but its byte is zero.
  private static Optional<byte[]> decode(byte[] digits) {
    int odd = digits.length % 2;
    if (odd == 1 && Character.digit(digits[0], HEXADECIMAL) < 0) {
      return Optional.empty();
    }
    byte[] bytes = new byte[(digits.length + 1) / 2];
    for (int i = odd; i < digits.length; i += 2) {
      int high = Character.digit(digits[i], HEXADECIMAL);
      int low = Character.digit(digits[i + 1], HEXADECIMAL);
      if (high < 0 || low < 0) {
        return Optional.empty();
      }
      bytes[(i + odd) / 2] = (byte) (high * HEXADECIMAL + low);
    }
    return Optional.of(bytes);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.device.HostMemory;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.text.Utf8;
import java.util.List;
import java.util.Locale;

/**
 * Casts to types with a length, which columns do not have, written {@code CAST_CHAR(s, n)}, {@code
 * CAST_VARCHAR(s, n)}, {@code CAST_BINARY(b, n)} and {@code CAST_VARBINARY(b, n)}. Lengths of
 * strings count code points, others bytes.
 */
@Internal
public final class StringLengthFunctions {
  private StringLengthFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        definition("VARCHAR", "The first n characters; written CAST(s AS VARCHAR(n))."),
        definition(
            "CHAR", "The first n characters, padded with spaces to n; written CAST(s AS CHAR(n))."),
        definition("VARBINARY", "The first n bytes; written CAST(b AS VARBINARY(n))."),
        definition(
            "BINARY", "The first n bytes, padded with zeros to n; written CAST(b AS BINARY(n))."));
  }

  private static FunctionDefinition definition(String type, String description) {
    return FunctionDefinition.named("CAST_" + type)
        .family(FunctionFamily.CAST)
        .signatures(
            Signature.of(
                Signature.any(operandType(type)), Signature.literal(DataType.INT32, 1L, 3L, 10L)))
        .description(description)
        .sql(arguments -> sql(type, arguments))
        .bind((arguments, context) -> bind(type, arguments));
  }

  private static DataType operandType(String type) {
    return type.endsWith("BINARY") ? DataType.BINARY : DataType.STRING;
  }

  private static String sql(String type, List<String> arguments) {
    return "CAST(" + arguments.get(0) + " AS " + type + "(" + arguments.get(1) + "))";
  }

  private static TypedExpression bind(String type, List<TypedExpression> arguments) {
    Arguments.count(arguments, 2, 2);
    Arguments.typed(arguments, 0, operandType(type).id());
    long length = Arguments.literalInteger(arguments, 1);
    if (length < 1 || length > Integer.MAX_VALUE) {
      throw new ExpressionException(
          "expected a length of 1 or more for " + type + ", got " + length);
    }
    BoundFunction.Builder function =
        BoundFunction.named("CAST_" + type).sql(operands -> sql(type, operands));
    String deviceFunction = "cast_" + type.toLowerCase(Locale.ROOT);
    boolean isBinary = type.endsWith("BINARY");
    if (type.startsWith("VAR")) {
      function
          .host(
              HostFunction.ofRow(
                  isBinary ? StringLengthFunctions::firstBytes : StringLengthFunctions::truncate))
          .device(deviceFunction)
          .within(ResultSizeLimit.ofOperand(0));
    } else {
      function.host(
          HostFunction.ofRow(
              isBinary ? StringLengthFunctions::padBytes : StringLengthFunctions::pad));
      StringEditFunctions.bounded(
          function, deviceFunction, ResultSizeLimit.ofOperand(0).plus(length));
    }
    TypedExpression count = new TypedExpression.Literal(length, DataType.INT32);
    return function.call(List.of(arguments.get(0), count), operandType(type));
  }

  private static void firstBytes(HostVector[] operands, HostVector result, int row) {
    int most = (int) operands[1].longs()[row];
    result.setBytes(row, operands[0].address(row), Math.min(operands[0].length(row), most));
  }

  private static void padBytes(HostVector[] operands, HostVector result, int row) {
    int length = operands[0].length(row);
    int count = (int) operands[1].longs()[row];
    if (length >= count) {
      firstBytes(operands, result, row);
    } else {
      setPadded(operands[0].address(row), length, count - length, (byte) 0, result, row);
    }
  }

  private static void setPadded(
      long address, int length, int missing, byte padding, HostVector result, int row) {
    long padded = result.allocate(length + missing);
    HostMemory.copy(padded, address, length);
    HostMemory.fill(padded + length, missing, padding);
    result.setBytes(row, padded, length + missing);
  }

  private static void truncate(HostVector[] operands, HostVector result, int row) {
    long address = operands[0].address(row);
    int most = (int) operands[1].longs()[row];
    result.setBytes(row, address, Utf8.offsetOf(address, operands[0].length(row), most));
  }

  private static void pad(HostVector[] operands, HostVector result, int row) {
    long address = operands[0].address(row);
    int length = operands[0].length(row);
    int count = (int) operands[1].longs()[row];
    int missing = count - Utf8.count(address, length);
    if (missing <= 0) {
      truncate(operands, result, row);
    } else {
      setPadded(address, length, missing, (byte) ' ', result, row);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static io.millrace.column.DataType.STRING;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.util.Arrays;
import java.util.IllegalFormatException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** {@code PRINTF}, by Java's {@link java.util.Formatter}. */
final class StringFormatFunctions {
  private StringFormatFunctions() {}

  static FunctionDefinition printf() {
    return FunctionDefinition.named("PRINTF")
        .family(FunctionFamily.STRING)
        .signatures(signatures())
        .description(
            "A format of java.util.Formatter, in the locale of the United States, with values for"
                + " its specifiers. A date is a number of days, a time one of milliseconds, and a"
                + " decimal or a timestamp is a text. Null if the format does not fit the values.")
        .differences("%h of a string, decimal or timestamp gives another number.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, Integer.MAX_VALUE);
              Arguments.typed(arguments, 0, TypeId.STRING);
              arguments.forEach(StringFormatFunctions::check);
              return BoundFunction.named("PRINTF")
                  .nullable()
                  .takesNulls()
                  .host(StringFormatFunctions::format)
                  .hostOnly("Java's formats")
                  .call(arguments, STRING);
            });
  }

  private static List<Signature> signatures() {
    Signature.Parameter format = Signature.literal(STRING, "%s", "<%8s>", "%S|%<b", "no %% value");
    Stream<Signature> ofTypes =
        Stream.of(
                STRING,
                DataType.BOOL,
                DataType.INT8,
                DataType.INT32,
                DataType.FLOAT64,
                DataType.decimal(18, 4),
                DataType.DATE,
                DataType.timestamp(6))
            .map(type -> Signature.of(format, Signature.any(type)));
    Signature numbers =
        Signature.of(
            Signature.literal(STRING, "%d %x", "%2$05d %1$,d"),
            Signature.any(DataType.INT64),
            Signature.any(DataType.INT16));
    return Stream.concat(
            Stream.of(Signature.of(STRING), Signature.of(STRING, STRING, DataType.INT32), numbers),
            ofTypes)
        .toList();
  }

  private static void check(TypedExpression argument) {
    switch (argument.type().id()) {
      case BINARY, LIST, STRUCT, DICTIONARY -> throw Arguments.wrongType(argument);
      default -> {}
    }
  }

  private static void format(HostVector[] operands, HostVector result, Rows rows) {
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      if (operands[0].isNull(row)) {
        result.setNull(row);
        continue;
      }
      Object[] values =
          Arrays.stream(operands).skip(1).map(operand -> value(operand, row)).toArray();
      try {
        result.setString(row, String.format(Locale.US, operands[0].getString(row), values));
      } catch (IllegalFormatException e) {
        result.setNull(row);
      }
    }
  }

  // What Flink hands to the formatter: the objects of its rows.
  private static Object value(HostVector values, int row) {
    if (values.isNull(row)) {
      return null;
    }
    return switch (values.type().id()) {
      case INT8 -> (byte) values.longs()[row];
      case INT16 -> (short) values.longs()[row];
      case INT32, DATE, TIME -> (int) values.longs()[row];
      case DECIMAL32, DECIMAL64, DECIMAL128 -> values.getDecimal(row).toPlainString();
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
          values.getDateTime(row).toString();
      default -> values.getLiteral(row);
    };
  }
}

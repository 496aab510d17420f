// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BatchValue.Property;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.List;

/** Functions of the clock and of the watermark: one value for all rows of a batch. */
@Internal
public final class CurrentTimeFunctions {
  private static final DataType INSTANT = DataType.timestamp(3, true);
  private static final long MILLIS_PER_SECOND = 1_000;
  private static final String OF_BATCH = "one value for all rows of a batch";
  private static final String DIFFERENCES =
      "Flink reads the clock for each row, Millrace for each batch.";

  private CurrentTimeFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        instant("CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP"),
        instant("NOW", "NOW()"),
        instant("CURRENT_ROW_TIMESTAMP", "CURRENT_ROW_TIMESTAMP()"),
        instant("PROCTIME", "PROCTIME()"),
        materialize(),
        local("LOCALTIMESTAMP", "date and time", DataType.timestamp(3)),
        local("LOCALTIME", "time of day", DataType.TIME),
        local("CURRENT_TIME", "time of day", DataType.TIME),
        local("CURRENT_DATE", "date", DataType.DATE),
        currentWatermark());
  }

  private static TypedExpression now(BindingContext context) {
    return context.batchValue(Property.PROCESSING_TIME, INSTANT, false);
  }

  /** The seconds since the epoch, for UNIX_TIMESTAMP without arguments. */
  static TypedExpression unixTimestamp(BindingContext context) {
    return BoundFunction.named("UNIX_TIMESTAMP")
        .host(HostFunction.ofLong(millis -> millis / MILLIS_PER_SECOND))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) ->
                    ptx.write(
                        "div.s64 %s, %s, %d",
                        result.register(), operands.get(0).register(), MILLIS_PER_SECOND)))
        .sql(operands -> "UNIX_TIMESTAMP()")
        .call(List.of(now(context)), DataType.INT64);
  }

  private static FunctionDefinition.Builder named(String name, String sql) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.TEMPORAL)
        .signatures(Signature.none())
        .differences(DIFFERENCES)
        .sql(arguments -> sql);
  }

  private static FunctionDefinition instant(String name, String sql) {
    return named(name, sql)
        .description("The current time: " + OF_BATCH + ".")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 0, 0);
              return now(context);
            });
  }

  /** A part of the local time, in a type that timestamps can be cast to. */
  private static FunctionDefinition local(String name, String what, DataType type) {
    return named(name, name)
        .description("The local " + what + " in the session time zone: " + OF_BATCH + ".")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 0, 0);
              TypedExpression local =
                  Timestamps.toLegacyLocalTime(now(context), SessionZone.of(context.zone()));
              return Coercion.cast(local, type, context);
            });
  }

  private static FunctionDefinition materialize() {
    return FunctionDefinition.named("PROCTIME_MATERIALIZE")
        .family(FunctionFamily.TEMPORAL)
        .signatures(Signature.of(INSTANT))
        .description(
            "The current time, whatever the argument: Flink's planner puts it where the value of"
                + " a processing-time attribute is read.")
        .differences(DIFFERENCES)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 1);
              return now(context);
            });
  }

  private static FunctionDefinition currentWatermark() {
    return FunctionDefinition.named("CURRENT_WATERMARK")
        .family(FunctionFamily.TEMPORAL)
        .signatures(Signature.of(DataType.timestamp(3)), Signature.of(INSTANT))
        .description(
            "The watermark that the operator has received before the batch, in the type of the"
                + " argument, which is otherwise not used; null before the first watermark.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 1);
              DataType type = arguments.get(0).type();
              if (!type.isTimestamp()) {
                throw Arguments.wrongType(arguments.get(0));
              }
              return context.batchValue(
                  Property.WATERMARK, DataType.timestamp(3, type.withTimeZone()), true);
            });
  }
}

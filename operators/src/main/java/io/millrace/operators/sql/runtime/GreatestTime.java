// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.vector.BatchContext;
import io.millrace.kernel.slice.TimeSlices;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TableTransform;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.flink.api.common.functions.RuntimeContext;

/** Finds the greatest watermark of the rows of a table, on its device. */
final class GreatestTime implements AutoCloseable {
  private static final int WATERMARK = 0;
  private static final int EVENT_TIME = 1;

  private final DeviceContext context;
  private final TableTransform times;

  /**
   * @param times gives a table's watermarks and event times
   * @param context stays the caller's
   */
  GreatestTime(CalcPlan times, DeviceContext context) {
    this.context = context;
    this.times = withoutNullWatermarks(times).transforms().create(context);
  }

  /** Opens the functions of users; called once, before the first table. */
  void open(RuntimeContext runtime) throws Exception {
    times.open(runtime);
  }

  // The least result is the epoch, so a row without a watermark may have that.
  private static CalcPlan withoutNullWatermarks(CalcPlan times) {
    Schema schema = times.outputSchema();
    Field watermark = schema.field(WATERMARK);
    Object epoch =
        watermark.type().withTimeZone()
            ? Instant.EPOCH
            : LocalDateTime.ofInstant(Instant.EPOCH, ZoneOffset.UTC);
    Expression known =
        Expressions.col(watermark.name())
            .coalesce(Expressions.lit(epoch, watermark.type()))
            .as(watermark.name());
    return times.select(List.of(known, Expressions.col(schema.field(EVENT_TIME).name())));
  }

  /**
   * The greatest watermark in milliseconds; 0, as Flink SQL's first watermark, if none is greater.
   * Waits.
   *
   * @param batch what the batch is computed with
   * @throws IllegalStateException if a row has no event time
   */
  long of(Table table, BatchContext batch) {
    try (Table computed = times.apply(table, batch)) {
      if (computed.column(EVENT_TIME).nullCount(context.stream()) > 0) {
        throw new IllegalStateException(
            "the event time of a row is null; a time attribute cannot be null");
      }
      if (computed.rowCount() == 0) {
        return 0;
      }
      long last =
          TimeSlices.range(computed.column(WATERMARK), context.stream(), context.resource()).last();
      return Math.max(0, last);
    }
  }

  @Override
  public void close() {
    times.close();
  }
}

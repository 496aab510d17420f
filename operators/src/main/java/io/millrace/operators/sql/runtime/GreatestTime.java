// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.column.ColumnReader;
import io.millrace.column.Table;
import io.millrace.expression.vector.BatchContext;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transform.TableTransform;

/** Finds the greatest watermark of the rows of a table, on the host. */
final class GreatestTime implements AutoCloseable {
  private static final int WATERMARK = 0;
  private static final int EVENT_TIME = 1;

  private final DeviceContext context;
  private final TableTransform times;

  /**
   * @param times gives a table's watermarks and event times
   * @param context stays the caller's
   */
  GreatestTime(TableTransform.Factory times, DeviceContext context) {
    this.context = context;
    this.times = times.create(context);
  }

  /**
   * The greatest watermark in milliseconds; 0, as Flink SQL's first watermark, if none is greater.
   *
   * @param batch what the batch is computed with
   * @throws IllegalStateException if a row has no event time
   */
  long of(Table table, BatchContext batch) {
    try (Table computed = times.apply(table, batch);
        Table host =
            computed.copyTo(HostMemoryResource.INSTANCE, context.hostStream(), context.stream())) {
      context.stream().synchronize();
      try (AccessScope scope = AccessScope.on(context.hostStream())) {
        return greatest(
            new ColumnReader(host.column(WATERMARK), scope),
            new ColumnReader(host.column(EVENT_TIME), scope));
      }
    }
  }

  private static long greatest(ColumnReader watermarks, ColumnReader eventTimes) {
    long greatest = 0;
    for (int row = 0; row < watermarks.size(); row++) {
      if (eventTimes.isNull(row)) {
        throw new IllegalStateException(
            "the event time of a row is null; a time attribute cannot be null");
      }
      if (!watermarks.isNull(row)) {
        greatest = Math.max(greatest, watermarks.getLong(row));
      }
    }
    return greatest;
  }

  @Override
  public void close() {
    times.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.ColumnReader;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.IntToLongFunction;

/** The greatest time of a table's rows, which is found on the host. Used by one thread. */
final class GreatestTime implements AutoCloseable {
  private static final long MICROS_PER_MILLI = 1_000;

  private final DeviceContext context;
  private final HostTransfer transfer;
  private final String column;

  /**
   * @param column one that {@link EventTimeWatermarks#check} allows
   */
  GreatestTime(DeviceContext context, String column) {
    this.context = context;
    this.transfer = new HostTransfer(context);
    this.column = column;
  }

  /**
   * Makes one attempt. Waits for the copy of the column.
   *
   * @param table stays the caller's
   * @return milliseconds; empty if no row has a time
   */
  OptionalLong of(Table table) {
    try (Table times = table.select(List.of(column));
        Table host = transfer.toHost(times);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      ColumnReader reader = new ColumnReader(host.column(0), scope);
      IntToLongFunction millis = millis(reader);
      boolean found = false;
      long greatest = Long.MIN_VALUE;
      for (int row = 0; row < host.rowCount(); row++) {
        if (!reader.isNull(row)) {
          found = true;
          greatest = Math.max(greatest, millis.applyAsLong(row));
        }
      }
      return found ? OptionalLong.of(greatest) : OptionalLong.empty();
    }
  }

  private static IntToLongFunction millis(ColumnReader column) {
    return switch (column.type().id()) {
      case TIMESTAMP_MICROS -> row -> Math.floorDiv(column.getLong(row), MICROS_PER_MILLI);
      case TIMESTAMP_NANOS -> column::getTimestampMillis;
      default -> column::getLong;
    };
  }

  @Override
  public void close() {
    transfer.close();
  }
}

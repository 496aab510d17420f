// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.EventTimeColumn;
import java.util.function.IntToLongFunction;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * The event time of each row of a batch: its time column's value or, if none is named, that of its
 * {@link EventTimeColumn}, else the batch's timestamp.
 */
final class RowTimestamps {
  private static final long MICROS_PER_MILLI = 1_000;

  private final StreamRecord<?> batch;
  private final ColumnReader column;
  private final IntToLongFunction millis;

  private RowTimestamps(StreamRecord<?> batch, ColumnReader column, IntToLongFunction millis) {
    this.batch = batch;
    this.column = column;
    this.millis = millis;
  }

  /**
   * The timestamps of the rows of {@code table}.
   *
   * @param table may have an {@link EventTimeColumn}
   * @param timeColumn null if none is named
   * @throws IllegalArgumentException if there is no such column or it holds no time
   */
  static RowTimestamps of(
      StreamRecord<?> batch, Table table, String timeColumn, AccessScope scope) {
    String name = timeColumn;
    if (timeColumn == null) {
      if (!EventTimeColumn.isIn(table.schema())) {
        return new RowTimestamps(batch, null, null);
      }
      name = EventTimeColumn.NAME;
    }
    ColumnReader reader = new ColumnReader(table.column(name), scope);
    return new RowTimestamps(batch, reader, millis(name, reader));
  }

  /**
   * Checks that tables of {@code schema} have such a column.
   *
   * @throws IllegalArgumentException if there is no such column or it holds no time
   */
  static void check(Schema schema, String timeColumn) {
    DataType type = schema.type(schema.indexOf(timeColumn));
    switch (type.id()) {
      case INT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> {}
      default -> throw notATime(timeColumn, type);
    }
  }

  private static IllegalArgumentException notATime(String name, DataType type) {
    return new IllegalArgumentException(
        "time column '" + name + "' is " + type + ", not TIMESTAMP or BIGINT");
  }

  private static IntToLongFunction millis(String name, ColumnReader column) {
    return switch (column.type().id()) {
      case INT64, TIMESTAMP_MILLIS -> column::getLong;
      case TIMESTAMP_MICROS -> row -> Math.floorDiv(column.getLong(row), MICROS_PER_MILLI);
      case TIMESTAMP_NANOS -> column::getTimestampMillis;
      default -> throw notATime(name, column.type());
    };
  }

  /** Gives {@code record} the timestamp of {@code row}. */
  void set(StreamRecord<?> record, int row) {
    if (column != null && !column.isNull(row)) {
      setOwn(record, millis.applyAsLong(row));
    } else if (batch.hasTimestamp()) {
      record.setTimestamp(batch.getTimestamp());
    } else {
      record.eraseTimestamp();
    }
  }

  private static void setOwn(StreamRecord<?> record, long time) {
    if (time == EventTimeColumn.NONE) {
      record.eraseTimestamp();
    } else {
      record.setTimestamp(time);
    }
  }
}

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
 * The event time of each row of a batch: the row's value in the time column or, if no time column
 * is named, in the batch's {@link EventTimeColumn}. If the batch has no such column or the value is
 * null, it is the batch's timestamp.
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
   * @param timeColumn the name of the time column; null if none is named
   * @throws IllegalArgumentException if there is no column {@code timeColumn}, or its type is
   *     neither TIMESTAMP nor BIGINT
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
   * Checks that {@code timeColumn} can be the time column of tables of {@code schema}.
   *
   * @throws IllegalArgumentException if there is no column {@code timeColumn}, or its type is
   *     neither TIMESTAMP nor BIGINT
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
        "expected TIMESTAMP or BIGINT for time column '" + name + "', got " + type);
  }

  private static IntToLongFunction millis(String name, ColumnReader column) {
    return switch (column.type().id()) {
      case INT64, TIMESTAMP_MILLIS -> column::getLong;
      case TIMESTAMP_MICROS -> row -> Math.floorDiv(column.getLong(row), MICROS_PER_MILLI);
      case TIMESTAMP_NANOS -> column::getTimestampMillis;
      default -> throw notATime(name, column.type());
    };
  }

  /** Sets the timestamp of {@code record} to the event time of {@code row}, or erases it. */
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

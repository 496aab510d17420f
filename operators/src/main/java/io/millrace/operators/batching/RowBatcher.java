// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.column.Column;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.batch.EventTimes;
import io.millrace.operators.row.RowAppender;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Collects rows into the table of the next batch and says when the batch is full. Depends on rows,
 * bytes and time, not on Flink. Used by one thread.
 *
 * @param <T> the type of the rows
 */
final class RowBatcher<T> implements AutoCloseable {
  private final RowTableBuilder table;
  private final RowAppender<T> appender;
  private final EventTimes eventTimes;
  private final long maxBytes;
  private final AdaptiveBatchSize size;
  private final LongSupplier clockMillis;
  private int rows;
  private long openedMillis;

  /**
   * Takes ownership of {@code table}.
   *
   * @param appender appends to {@code table}
   * @param clockMillis the processing time in milliseconds
   */
  RowBatcher(
      RowTableBuilder table,
      RowAppender<T> appender,
      EventTimes eventTimes,
      BatchOptions options,
      LongSupplier clockMillis) {
    this.table = table;
    this.appender = appender;
    this.eventTimes = eventTimes;
    this.maxBytes = options.maxBytes();
    this.size =
        new AdaptiveBatchSize(options.minRows(), options.maxRows(), options.latency().toMillis());
    this.clockMillis = clockMillis;
  }

  /**
   * Appends one row.
   *
   * @param eventTime the event time to keep, or {@link EventTimeColumn#NONE}
   * @throws GpuOutOfMemoryException if there is no memory for the row; the batch has not changed
   *     then
   */
  void append(T row, long eventTime) {
    try {
      appender.append(row);
    } catch (GpuOutOfMemoryException e) {
      table.truncate(rows);
      throw e;
    }
    if (rows == 0) {
      openedMillis = clockMillis.getAsLong();
    }
    eventTimes.set(rows, eventTime);
    rows++;
  }

  /** Rows of the open batch. */
  int rows() {
    return rows;
  }

  /** The number of rows that closes a batch at the current rate. */
  int rowLimit() {
    return size.rowLimit();
  }

  boolean isFull() {
    return rows >= size.rowLimit() || table.sizeInBytes(rows) >= maxBytes;
  }

  /** Which limit a full batch reached. */
  FlushCause fullCause() {
    return rows >= size.rowLimit() ? FlushCause.ROWS : FlushCause.BYTES;
  }

  /** The processing time at which the first row of the open batch was appended. */
  long openedMillis() {
    return openedMillis;
  }

  /** The processing time by which the open batch must be closed. */
  long deadlineMillis() {
    return openedMillis + size.waitMillis();
  }

  /** How long the oldest row of the open batch has waited, in milliseconds; 0 if it has no rows. */
  long ageMillis() {
    return rows == 0 ? 0 : Math.max(0, clockMillis.getAsLong() - openedMillis);
  }

  /**
   * Closes the open batch. Returns the table of its rows, which the caller owns, or nothing if
   * there are no rows.
   *
   * @param cause why the batch is closed
   * @throws GpuOutOfMemoryException if there is no memory for the table; the batch has not changed
   *     then
   */
  Optional<Table> close(FlushCause cause) {
    if (rows == 0) {
      return Optional.empty();
    }
    Table closed = finish();
    if (cause == FlushCause.ROWS || cause == FlushCause.DEADLINE) {
      size.closed(rows, ageMillis());
    }
    rows = 0;
    eventTimes.clear();
    return Optional.of(closed);
  }

  private Table finish() {
    Optional<Column> times = eventTimes.column(rows);
    if (times.isEmpty()) {
      return table.finish(rows);
    }
    try (Column column = times.orElseThrow();
        Table closed = table.finish(rows)) {
      return EventTimeColumn.addTo(closed, column.share());
    }
  }

  /** Adapts the size of batches to the time, in milliseconds, that sending a batch took. */
  void sent(long millis) {
    size.sent(millis);
  }

  /** Drops the rows of the open batch and frees their memory. */
  @Override
  public void close() {
    rows = 0;
    table.close();
  }
}

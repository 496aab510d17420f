// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import java.io.Serializable;
import java.time.Duration;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How watermarks are made of a column of the rows: the watermark of a partition is behind the
 * greatest time that was read of it, and that of a subtask is the least of its partitions. Rows
 * without a time move no watermark. A block's rows come before the watermark that they cause.
 *
 * @param column its times: BIGINT, in milliseconds since 1970-01-01T00:00Z, TIMESTAMP or
 *     TIMESTAMP_LTZ
 * @param delay how far the watermark is behind
 * @param idleTimeout after how long without records a partition no longer holds the watermark back;
 *     null if it always does
 */
@PublicEvolving
public record EventTimeWatermarks(String column, Duration delay, Duration idleTimeout)
    implements Serializable {

  /** Watermarks without a delay, for which each partition counts, idle or not. */
  public static EventTimeWatermarks of(String column) {
    return new EventTimeWatermarks(column, Duration.ZERO, null);
  }

  public EventTimeWatermarks withDelay(Duration newDelay) {
    return new EventTimeWatermarks(column, newDelay, idleTimeout);
  }

  public EventTimeWatermarks withIdleTimeout(Duration newIdleTimeout) {
    return new EventTimeWatermarks(column, delay, newIdleTimeout);
  }

  /**
   * Checks that rows of {@code schema} have the column.
   *
   * @throws IllegalArgumentException if there is no such column, or its type is another
   */
  public void check(Schema schema) {
    DataType type = schema.type(schema.indexOf(column));
    switch (type.id()) {
      case INT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> {}
      default ->
          throw new IllegalArgumentException(
              "expected BIGINT, TIMESTAMP or TIMESTAMP_LTZ for the time column '"
                  + column
                  + "', got "
                  + type);
    }
  }
}

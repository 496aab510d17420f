// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.io.Serializable;
import java.util.concurrent.TimeUnit;

/**
 * The rows of the compared jobs: a BIGINT key, a BIGINT value and a time. Each key comes once at
 * first, in {@link #fillBatches} batches; the keys of the other rows are uniformly distributed.
 *
 * @param keys a multiple of {@link #BATCH_ROWS}
 * @param rowsPerSecond how many rows have their time within the same second
 */
record ComparedRows(long keys, long rowsPerSecond) implements Serializable {
  static final int BATCH_ROWS = 1 << 16;

  static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          new Field("v", DataType.INT64, false),
          new Field("ts", DataType.timestamp(3), false));

  /** How many batches have each key once. */
  long fillBatches() {
    return keys / BATCH_ROWS;
  }

  /** The key of a row, by its number from 0 on. */
  long key(long row) {
    long number = row < keys ? row : Long.remainderUnsigned(mixed(row), keys);
    return mixed(number);
  }

  static long value(long row) {
    return mixed(row) & 0xffff;
  }

  /** The time of a row in milliseconds; never less than the time of the row before. */
  long millis(long row) {
    return row * TimeUnit.SECONDS.toMillis(1) / rowsPerSecond;
  }

  // The finalizer of SplitMix64: a bijection.
  private static long mixed(long number) {
    long mixed = (number ^ (number >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.session;

import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.StateAccess;
import java.util.List;

/** The operations on sessions, on the host or by the kernels of session.cu, with the same bits. */
interface SessionKernels {
  PerDevice<SessionKernels> KERNELS =
      new PerDevice<>(host -> new HostSessionKernels(), CudaSessionKernels::new);

  /**
   * Rows of a table that are looked at, within a chunk.
   *
   * @param address of the first row
   * @param count at least 1
   * @param lastTime the word of a time: rows with the word of a later last time are in open
   *     sessions, rows without any are in none
   */
  record Rows(SessionSchema schema, long address, int count, long lastTime, DeviceStream stream) {}

  /**
   * A selection of rows whose last time is not after {@code rows.lastTime()}.
   *
   * @param key of the rows, as {@link KeyWord#ofRows} gives it; with {@code starts}, these are the
   *     word of the start
   * @param next the table of the next slice, or the one table of all slices; null if it has no rows
   * @param continued whether the sessions are selected that go on in {@code next}, or the others
   * @param starts address of an INT64 for each row, if there is one table; otherwise 0
   * @param target where the rows are copied to, one behind the other, in their order
   * @param scratch {@link #scratchBytes} bytes
   */
  record Selection(
      Rows rows,
      List<KeyWord> key,
      StateAccess next,
      boolean continued,
      long starts,
      long target,
      long scratch) {}

  /** Bytes of scratch memory of a selection. */
  static long scratchBytes(int rows) {
    return CudaSessionKernels.scratchBytes(rows);
  }

  /** Selects rows. Waits for the work. Allocates nothing but staging memory, and that first. */
  SessionCounts select(Selection selection);

  /**
   * Makes rows whose last time is not after {@code rows.lastTime()} rows of no session: all their
   * accumulators are zero. Enqueued.
   *
   * @param access of the table, for writing
   * @param firstRow the number of the first row
   */
  void clear(Rows rows, StateAccess access, long firstRow);

  /**
   * Rows of a batch and the sessions that they may touch.
   *
   * @param key of the rows
   * @param hasNullWord whether state rows have a null word behind the words of the key
   * @param table with a row at least
   * @param times address of an INT64 for each row
   * @param numbers address of an INT32 for each row
   * @param rows at least 1
   */
  record Touches(
      SessionSchema schema,
      List<KeyWord> key,
      boolean hasNullWord,
      StateAccess table,
      long times,
      long numbers,
      int number,
      int rows,
      DeviceStream stream) {}

  /**
   * Writes {@code number} for each row with a zero in {@code numbers} and a time at most the gap
   * before the first time of its key's session. Enqueued.
   */
  void touch(Touches touches);
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.session;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateTable;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.StateAccess;
import io.millrace.state.session.SessionKernels.Rows;
import io.millrace.state.session.SessionKernels.Selection;
import io.millrace.state.session.SessionKernels.Touches;
import java.util.ArrayList;
import java.util.List;

/**
 * Sessions of keys in state tables: one for each slice of time, which is as wide as the gap, or one
 * for all slices, with the start of a row's slice in its key. A row of a table is the part of a
 * session of a key whose last time is in the slice, so that parts of one session are in
 * neighbouring slices. Used by one thread.
 */
@PublicEvolving
public final class Sessions {
  private final SessionSchema schema;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final SessionKernels kernels;

  /**
   * A slice in which rows look for sessions.
   *
   * @param rows of the input of the table's schema; of one table, with the start of the slice. Stay
   *     the caller's
   * @param table with the sessions; null if the slice has none
   */
  public record Slice(Table rows, StateTable table) {}

  /**
   * @param stream of the tables
   * @param memory of copies and results
   */
  public Sessions(SessionSchema schema, DeviceStream stream, MemoryResource memory) {
    this.schema = schema;
    this.stream = stream;
    this.memory = memory;
    this.kernels = SessionKernels.KERNELS.of(stream.device());
  }

  /**
   * Adds rows of a slice to another table if their last time is not after {@code lastTime}: makes
   * one attempt, which changes nothing if it fails. Waits for the work.
   *
   * @param target of the schema of the slices; may be {@code next}
   * @param firstRow the first row of {@code slice} that is looked at
   * @param count of rows that are looked at: at least 1, and at most up to the end of a chunk
   * @param next the table of the slice behind {@code slice}; null if there is none. Of one table,
   *     {@code slice} itself
   * @param continued whether those are added that touch the session of their key in {@code next},
   *     or those that do not. In one table a session goes on from row to row: those are added to
   *     the first row whose last time is after {@code lastTime}, if the session has one; the others
   *     are added to the last row of their session
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public SessionCounts add(
      StateTable target,
      StateTable slice,
      long firstRow,
      int count,
      long lastTime,
      StateTable next,
      boolean continued) {
    long rowBytes = (long) count * schema.state().rowBytes();
    long startBytes = schema.hasStarts() ? (long) count * Long.BYTES : 0;
    long bytes = rowBytes + startBytes + SessionKernels.scratchBytes(count);
    try (Buffer copies = Buffer.allocate(bytes, stream, memory)) {
      SessionCounts counts;
      try (AccessScope scope = AccessScope.on(stream)) {
        StateAccess from = slice.access(AccessMode.READ, scope);
        boolean hasNext = next != null && next.rowCount() > 0;
        StateAccess to = hasNext ? next.access(AccessMode.READ, scope) : null;
        long copy = copies.access(AccessMode.WRITE, scope);
        Rows rows = rows(from, firstRow, count, lastTime);
        long starts = schema.hasStarts() ? copy + rowBytes : 0;
        counts =
            kernels.select(
                new Selection(
                    rows,
                    key(rows, from, starts),
                    to,
                    continued,
                    starts,
                    copy,
                    copy + rowBytes + startBytes));
      }
      target.merge(slice, copies, counts.selected(), Expiry.NEVER);
      return counts;
    }
  }

  private List<KeyWord> key(Rows rows, StateAccess from, long starts) {
    List<KeyWord> key =
        new ArrayList<>(KeyWord.ofRows(schema.state(), rows.address(), from.keyStrings()));
    if (schema.hasStarts()) {
      KeyWord start = key.get(schema.startWord());
      key.set(schema.startWord(), start.fixed(starts, 0, Long.BYTES, Long.BYTES, KeyWord.BITS));
    }
    return key;
  }

  private Rows rows(StateAccess access, long firstRow, int count, long lastTime) {
    return new Rows(
        schema, access.rowAddress(firstRow), count, SessionSchema.lastWord(lastTime), stream);
  }

  /**
   * Ends the sessions of rows whose last time is not after {@code lastTime}: a key begins again
   * with its next row. Makes one attempt. Enqueued.
   *
   * @param firstRow and {@code count} as in {@link #add}
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public void clear(StateTable slice, long firstRow, int count, long lastTime) {
    try (AccessScope scope = AccessScope.on(stream)) {
      StateAccess access = slice.access(AccessMode.WRITE, scope);
      kernels.clear(rows(access, firstRow, count, lastTime), access, firstRow);
    }
  }

  /**
   * Finds the sessions that rows touch whose times are before the last times of all sessions: makes
   * one attempt. Enqueued.
   *
   * @param times of the rows, TIMESTAMPs with 3 digits without nulls
   * @param slices in which the rows look for sessions, one after the other
   * @return for each row an INT without nulls: 1 and the position of the first slice with a session
   *     that it touches, or 0 if there is none; the caller closes the column
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public Column touched(Column times, List<Slice> slices) {
    int count = times.size();
    Buffer numbers = Buffer.allocate((long) count * Integer.BYTES, stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = numbers.access(AccessMode.WRITE, scope);
      stream.fill(address, (byte) 0, numbers.size());
      for (int i = 0; i < slices.size(); i++) {
        StateTable slice = slices.get(i).table();
        if (count > 0 && slice != null && slice.rowCount() > 0) {
          kernels.touch(
              new Touches(
                  schema,
                  StateTable.keyWords(slice.schema(), slices.get(i).rows(), scope),
                  schema.state().hasNullWord(),
                  slice.access(AccessMode.READ, scope),
                  times.dataAddress(scope),
                  address,
                  i + 1,
                  count,
                  stream));
        }
      }
    } catch (RuntimeException | Error e) {
      numbers.close();
      throw e;
    }
    return new Column(DataType.INT32, count, 0, numbers, null, List.of());
  }
}

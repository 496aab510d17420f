// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import io.millrace.memory.retry.Splittable;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateCompaction;
import io.millrace.state.StateTable;
import io.millrace.state.row.ConstantColumn;
import io.millrace.state.row.UpdateTime;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/** Reads all entries of a map, some rows of the state at a time. Used by one thread. */
final class EntryScan {
  private final MapSteps steps;
  private final DeviceContext context;
  private final Limits limits;

  EntryScan(MapSteps steps, DeviceContext context, Limits limits) {
    this.steps = steps;
    this.context = context;
    this.limits = limits;
  }

  /**
   * How much is read at a time, and how small a map is left alone.
   *
   * @param scanRows the most rows of the state that are read at a time
   * @param scanBytes the memory of these rows in the state, about: fewer rows are read if they are
   *     larger
   * @param compactionRows the fewest rows of a map that are worth a look for removed entries
   * @param firstPosition of elements of lists that expire
   */
  record Limits(int scanRows, long scanBytes, long compactionRows, int firstPosition)
      implements Serializable {
    private static final long serialVersionUID = 1L;

    static final Limits DEFAULT = new Limits(1 << 18, 64L << 20, StateCompaction.MIN_ROWS, 0);
  }

  /** Rows of a state table, one behind the other. */
  record Rows(long first, int count) implements Splittable<Rows> {
    @Override
    public List<Rows> halves() {
      if (count < 2) {
        return List.of();
      }
      int half = count / 2;
      return List.of(new Rows(first, half), new Rows(first + half, count - half));
    }

    @Override
    public void close() {}
  }

  /** All rows of a table of the map, in parts that are small enough by the mean size of a row. */
  List<Rows> parts(StateTable table) {
    List<Rows> parts = new ArrayList<>();
    long rowCount = table.rowCount();
    long fitting = (long) ((double) rowCount * limits.scanBytes() / table.reservedBytes());
    long most = Math.max(1, Math.min(limits.scanRows(), fitting));
    for (long first = 0; first < rowCount; first += most) {
      parts.add(new Rows(first, (int) Math.min(most, rowCount - first)));
    }
    return parts;
  }

  /**
   * The entries of rows: makes one attempt.
   *
   * @param time null if entries do not expire
   * @return the keys and the values of each entry, which the caller closes
   */
  Table entries(StateTable table, Rows rows, UpdateTime time) {
    List<ConstantColumn> constants =
        time == null ? List.of() : List.of(new ConstantColumn(MapSteps.OLDEST, time.oldest()));
    try (Table columns = table.values(rows.first(), rows.count(), constants)) {
      return steps.entries().apply(columns, context.stream(), context.resource());
    }
  }
}

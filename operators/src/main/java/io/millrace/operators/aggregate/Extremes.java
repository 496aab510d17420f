// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.kernel.concatenate.Concatenate;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.state.StateTable;
import io.millrace.state.lookup.StateLookup;
import io.millrace.state.row.ConstantColumn;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The smallest and the largest value of each key, derived of the values in the state. After a batch
 * the largest value is the largest of those that came and of the one before, if that is still
 * there. Where it is not, all values of the key are looked at, and so are those of all other keys.
 */
final class Extremes implements AutoCloseable {
  private static final int BLOCK_ROWS = 1 << 18;

  private final ExtremesStep step;
  private final DeviceContext device;
  private final StateLookup lookup;
  private StateTable table;

  /**
   * Of an empty state.
   *
   * @param step stays the caller's, open as long as this
   */
  Extremes(ExtremesStep step, DeviceContext device) {
    this.step = step;
    this.device = device;
    this.lookup = new StateLookup(device.stream(), device.resource());
    this.table = newTable(step.extremes());
  }

  private StateTable newTable(StateSchema schema) {
    return new StateTable(schema, device.stream(), device.resource());
  }

  private Table apply(Calc calc, Table rows) {
    return calc.apply(rows, device.stream(), device.resource());
  }

  /**
   * Finds the extremes of the keys of changes: makes one attempt, which changes nothing.
   *
   * @param values the state behind the changes
   * @param changes any of them, in any parts
   * @param time values that have expired then do not count; null if they do not expire
   * @return what {@link #update} takes, without keys whose extremes stay, unless values expire; the
   *     caller closes the table
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  Table find(StateTable values, Table changes, UpdateTime time) {
    try (Table candidates = candidates(values, changes, time);
        Table stayed = apply(step.stayed(), candidates);
        Table gone = apply(step.gone(), candidates)) {
      if (gone.rowCount() == 0) {
        return stayed.share();
      }
      try (Table found = findAmongAll(values, gone, time)) {
        return Concatenate.concatenate(
            step.extremes().input(), List.of(stayed, found), device.stream(), device.resource());
      }
    }
  }

  // Of the values that came, and of those that were the extremes; with the rows that these have.
  private Table candidates(StateTable values, Table changes, UpdateTime time) {
    List<Column> columns = new ArrayList<>();
    try (StateTable candidates = newTable(step.chosen())) {
      accumulate(candidates, step.came(), changes);
      try (Table before = lookup.values(table, candidates, time)) {
        accumulate(candidates, step.current(), before);
        try (Table rows = block(candidates, 0, candidates.rowCount())) {
          rows.columns().forEach(column -> columns.add(column.share()));
          step.results().forEach(result -> columns.add(rowsWith(result, rows, values, time)));
          before.columns().forEach(column -> columns.add(column.share()));
          return new Table(step.candidates(), columns, rows.rowCount());
        }
      }
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      columns.forEach(column -> failure.run(column::close));
      throw e;
    }
  }

  // The keys are different, so their values with them are too, and come in the same order.
  private Column rowsWith(String result, Table candidates, StateTable values, UpdateTime time) {
    List<String> names = new ArrayList<>(step.wanted().input().names());
    names.add(result);
    try (StateTable counted = newTable(step.counted());
        Table keysAndValues = candidates.select(names)) {
      counted.accumulate(keysAndValues);
      try (Table counts = lookup.values(values, counted, time)) {
        return counts.column(AddedRows.ROWS).share();
      }
    }
  }

  // Looks at all values: keys have no list of theirs.
  private Table findAmongAll(StateTable values, Table gone, UpdateTime time) {
    List<ConstantColumn> oldest =
        time == null
            ? List.of()
            : List.of(new ConstantColumn(ExtremesStepBuilder.OLDEST, time.oldest()));
    try (StateTable wanted = newTable(step.wanted());
        StateTable chosen = newTable(step.chosen())) {
      wanted.accumulate(gone);
      chosen.accumulate(gone);
      for (long first = 0; first < values.rowCount(); first += BLOCK_ROWS) {
        device.checkNotCanceled();
        try (Table block = block(values, first, BLOCK_ROWS, oldest);
            Column numbers = lookup.rows(wanted, block, DataType.INT32);
            Table rows = withColumn(block, numbers)) {
          accumulate(chosen, step.found(), rows);
        }
      }
      try (Table found = block(chosen, 0, chosen.rowCount())) {
        return apply(step.updates(), found);
      }
    }
  }

  private void accumulate(StateTable target, Calc calc, Table rows) {
    try (Table columns = apply(calc, rows)) {
      target.accumulate(columns);
    }
  }

  private static Table block(StateTable table, long first, long mostRows) {
    return block(table, first, mostRows, List.of());
  }

  private static Table block(
      StateTable table, long first, long mostRows, List<ConstantColumn> constants) {
    return table.values(first, (int) Math.min(mostRows, table.rowCount() - first), constants);
  }

  private static Table withColumn(Table rows, Column numbers) {
    List<Column> columns = new ArrayList<>();
    rows.columns().forEach(column -> columns.add(column.share()));
    columns.add(numbers.share());
    return new Table(rows.schema().with(ExtremesStepBuilder.ROW), columns, rows.rowCount());
  }

  /**
   * Takes extremes that were found in the place of those before. This changes the extremes once, so
   * it is an attempt of its own; rows that do not fit the device are taken in parts.
   *
   * @param found of {@link #find}; stays the caller's
   * @param time as that of {@link #find}
   * @param changes takes the changes of each part, which are closed behind it
   */
  void update(Table found, UpdateTime time, Consumer<Table> changes) {
    device
        .retry()
        .withSplitAndRetry(
            found,
            part -> table.update(part, time),
            part -> {
              try (part) {
                changes.accept(part);
              }
            });
  }

  /**
   * Finds the extremes of all values, in the place of those that are known. A value that has
   * expired may be one of them: {@link #find} looks whether an extreme is still there.
   *
   * @param values stays the caller's
   * @param time not before the last update of any value; null if they do not expire
   * @throws GpuOutOfMemoryException if there is too little memory; then nothing changes
   */
  void findAll(StateTable values, UpdateTime time) {
    StateTable found = newTable(step.extremes());
    try (StateTable chosen = newTable(step.chosen())) {
      for (long first = 0; first < values.rowCount(); first += BLOCK_ROWS) {
        add(values, first, step.present(), columns -> chosen.accumulate(columns));
      }
      for (long first = 0; first < chosen.rowCount(); first += BLOCK_ROWS) {
        add(chosen, first, step.updates(), columns -> found.update(columns, time).close());
      }
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      failure.run(found::close);
      throw e;
    }
    table.close();
    table = found;
  }

  private void add(StateTable source, long first, Calc calc, Consumer<Table> target) {
    device.checkNotCanceled();
    device
        .retry()
        .withRetry(
            () -> {
              try (Table block = block(source, first, BLOCK_ROWS);
                  Table columns = apply(calc, block)) {
                target.accept(columns);
                return null;
              }
            });
  }

  /** The number of keys whose extremes are known. */
  long rowCount() {
    return table.rowCount();
  }

  @Override
  public void close() {
    table.close();
  }
}

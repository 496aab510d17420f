// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.ColumnReader;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.state.StateTable;
import io.millrace.state.row.UpdateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The maps and the lists in the state of a subtask. Used by one thread. */
final class KeyedEntries {
  private final Map<String, KeyedMap> maps = new LinkedHashMap<>();
  private final Map<String, KeyedList> lists = new LinkedHashMap<>();
  // Also the maps that lists are kept as.
  private final Map<String, KeyedMap> states = new LinkedHashMap<>();
  private final HostTransfer transfer;
  private final HostNumbers numbers;
  private final DeviceContext context;

  /**
   * @param steps of {@link EntrySchemas#states}, by name
   * @param tables the state of each name
   */
  KeyedEntries(
      EntrySchemas schemas,
      Map<String, MapSteps> steps,
      Function<String, StateTables> tables,
      DeviceContext context,
      HostTransfer transfer,
      EntryScan.Limits limits) {
    this.context = context;
    this.transfer = transfer;
    this.numbers = new HostNumbers(transfer);
    steps.forEach(
        (name, map) -> states.put(name, new KeyedMap(map, tables.apply(name), context, limits)));
    schemas.maps().forEach(map -> maps.put(map.name(), states.get(map.name())));
    for (ListStateSchema list : schemas.lists()) {
      KeyedMap elements = states.get(list.elementsByIndex().name());
      KeyedMap lengths = states.get(list.lengthsName());
      boolean expires = lengths.expires();
      lists.put(
          list.name(),
          new KeyedList(
              list, elements, lengths, context, transfer, expires ? limits.firstPosition() : 0));
    }
  }

  /**
   * Reads what keys have.
   *
   * @param keys their key columns; stays the caller's
   * @param batchKeys numbers the keys; stays the caller's
   * @param time null if entries do not expire
   */
  EntryReader reader(Table keys, StateTable batchKeys, UpdateTime time) {
    return new Reader(keys, batchKeys, time);
  }

  private final class Reader implements EntryReader {
    private final Table keys;
    private final StateTable batchKeys;
    private final UpdateTime time;

    Reader(Table keys, StateTable batchKeys, UpdateTime time) {
      this.keys = keys;
      this.batchKeys = batchKeys;
      this.time = time;
    }

    @Override
    public Table find(String map, Table requests) {
      KeyedMap found = get("maps", maps, map);
      keyNumbers(map, found.schema().requests(), requests, keys);
      return found.find(requests, keys, time);
    }

    @Override
    public Table entries(String map, Table requests) {
      KeyedMap found = get("maps", maps, map);
      int[] requested = keyNumbers(map, found.schema().keyRequests(), requests, keys);
      try (Table isRequested = isRequested(requested, keys.rowCount())) {
        return found.entries(batchKeys, isRequested, time);
      }
    }

    @Override
    public Table elements(String list, Table requests) {
      return get("lists", lists, list).read(requests, keys, time);
    }
  }

  private static <T> T get(String what, Map<String, T> states, String name) {
    T state = states.get(name);
    if (state == null) {
      throw new IllegalArgumentException(
          "expected one of the " + what + " " + states.keySet() + ", got '" + name + "'");
    }
    return state;
  }

  /**
   * Removes rows that are not needed any more, if that pays; behind an update of {@code state}.
   *
   * @param state of {@link EntrySchemas#states}
   */
  void compact(String state) {
    states.get(state).compact();
  }

  // Of rows for a map, which are checked.
  private int[] keyNumbers(String map, Schema expected, Table rows, Table keys) {
    checkSchema(map, expected, rows.schema());
    try (Table host = numbers.toHost(rows.column(MapStateSchema.KEY));
        AccessScope scope = AccessScope.on(context.hostStream())) {
      return keyNumbers(map, new ColumnReader(host.column(0), scope), keys.rowCount());
    }
  }

  /**
   * The numbers of keys that were given for a map or a list.
   *
   * @param column of the numbers, in host memory
   * @throws IllegalStateException if there is no such key
   */
  static int[] keyNumbers(String name, ColumnReader column, int keys) {
    int[] numbers = new int[column.size()];
    for (int row = 0; row < numbers.length; row++) {
      int key = column.getInt(row);
      if (key < 0 || key >= keys) {
        throw new IllegalStateException(
            "expected the number of one of the " + keys + " keys for '" + name + "', got " + key);
      }
      numbers[row] = key;
    }
    return numbers;
  }

  // A row of the device for each key.
  private Table isRequested(int[] requested, int keys) {
    boolean[] isRequested = new boolean[keys];
    for (int key : requested) {
      isRequested[key] = true;
    }
    try (RowTableBuilder builder =
        transfer.tableBuilder(new Schema(List.of(MapSteps.IS_REQUESTED)))) {
      FixedWidthColumnBuilder column = (FixedWidthColumnBuilder) builder.column(0);
      for (boolean value : isRequested) {
        column.appendBoolean(value);
      }
      return transfer.upload(builder.finish(keys));
    }
  }

  /**
   * Checks the columns of rows for a map or a list.
   *
   * @throws IllegalStateException if they differ
   */
  static void checkSchema(String name, Schema expected, Schema actual) {
    if (!expected.equals(actual)) {
      throw new IllegalStateException(
          "expected the columns " + expected + " for '" + name + "', got " + actual);
    }
  }

  /**
   * What states are updated with, by name: makes one attempt. The caller closes the tables.
   *
   * @param changes of {@link KeyedResult#entries}; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @param time null if entries do not expire
   */
  Map<String, Table> updates(Map<String, Table> changes, Table keys, UpdateTime time) {
    Map<String, Table> updates = new LinkedHashMap<>();
    try {
      changes.forEach(
          (name, rows) -> {
            if (lists.containsKey(name)) {
              lists.get(name).addUpdates(rows, keys, time, updates);
            } else {
              KeyedMap map = get("maps", maps, name);
              keyNumbers(name, map.schema().changes(), rows, keys);
              updates.put(name, map.updates(rows, keys));
            }
          });
      return updates;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      updates.values().forEach(table -> failure.run(table::close));
      throw e;
    }
  }
}

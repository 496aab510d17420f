// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateTable;
import io.millrace.state.row.UpdateTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The maps in the state of a subtask. Used by one thread. */
final class KeyedEntries {
  private final Map<String, KeyedMap> maps = new LinkedHashMap<>();

  /**
   * @param steps of the maps by name
   * @param states the state of each name
   */
  KeyedEntries(
      Map<String, MapSteps> steps,
      Function<String, StateTables> states,
      DeviceContext context,
      HostNumbers numbers) {
    steps.forEach(
        (name, map) -> maps.put(name, new KeyedMap(map, states.apply(name), context, numbers)));
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
      return map(map).find(requests, keys, time);
    }

    @Override
    public Table entries(String map) {
      return map(map).entries(batchKeys, time);
    }
  }

  private KeyedMap map(String name) {
    KeyedMap map = maps.get(name);
    if (map == null) {
      throw new IllegalArgumentException(
          "expected one of the maps " + maps.keySet() + ", got '" + name + "'");
    }
    return map;
  }

  /**
   * What states are updated with, by name: makes one attempt. The caller closes the tables.
   *
   * @param changes of {@link KeyedResult#entries}; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   */
  Map<String, Table> updates(Map<String, Table> changes, Table keys) {
    Map<String, Table> updates = new LinkedHashMap<>();
    try {
      changes.forEach((name, rows) -> updates.put(name, map(name).updates(rows, keys)));
      return updates;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      updates.values().forEach(table -> failure.run(table::close));
      throw e;
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.state.StateTable;
import io.millrace.state.row.UpdateTime;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The maps and the lists in the state of a subtask. Used by one thread. */
final class KeyedEntries {
  private final Map<String, KeyedMap> maps = new LinkedHashMap<>();
  private final Map<String, KeyedList> lists = new LinkedHashMap<>();

  /**
   * @param steps of {@link EntrySchemas#states}, by name
   * @param states the state of each name
   */
  KeyedEntries(
      EntrySchemas schemas,
      Map<String, MapSteps> steps,
      Function<String, StateTables> states,
      DeviceContext context,
      HostTransfer transfer,
      EntryLimits limits) {
    HostNumbers numbers = new HostNumbers(transfer);
    Function<String, KeyedMap> map =
        name -> new KeyedMap(steps.get(name), states.apply(name), context, numbers, limits);
    schemas.maps().forEach(schema -> maps.put(schema.name(), map.apply(schema.name())));
    for (ListStateSchema list : schemas.lists()) {
      KeyedMap elements = map.apply(list.elementsByIndex().name());
      KeyedMap lengths = map.apply(list.lengths().name());
      lists.put(list.name(), new KeyedList(list, elements, lengths, context, transfer));
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
      return get("maps", maps, map).find(requests, keys, time);
    }

    @Override
    public Table entries(String map) {
      return get("maps", maps, map).entries(batchKeys, time);
    }

    @Override
    public Table elements(String list, Table requests) {
      return get("lists", lists, list).read(requests, keys);
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
   * Removes rows that maps do not need any more, if that pays; behind an update of {@code state}.
   */
  void compact(String state) {
    KeyedMap map = maps.get(state);
    if (map != null) {
      map.compact();
    }
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
      changes.forEach(
          (name, rows) -> {
            if (lists.containsKey(name)) {
              lists.get(name).addUpdates(rows, keys, updates);
            } else {
              updates.put(name, get("maps", maps, name).updates(rows, keys));
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

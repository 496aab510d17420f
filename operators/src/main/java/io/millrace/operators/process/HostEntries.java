// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The maps and the lists of a {@link HostKeyedBatch}. */
final class HostEntries {
  private final Map<String, HostMapState> maps = new LinkedHashMap<>();
  private final Map<String, HostListState> lists = new LinkedHashMap<>();

  /** What all batches of a function have in common. */
  static final class Rows {
    private final List<MapRows> maps = new ArrayList<>();
    private final List<ListRows> lists = new ArrayList<>();

    private record MapRows(MapStateSchema schema, ExternalRows keys, ExternalRows values) {}

    private record ListRows(ListStateSchema schema, ExternalRows elements) {}

    Rows(EntrySchemas schemas) {
      for (MapStateSchema map : schemas.maps()) {
        maps.add(new MapRows(map, new ExternalRows(map.keys()), new ExternalRows(map.values())));
      }
      for (ListStateSchema list : schemas.lists()) {
        lists.add(new ListRows(list, new ExternalRows(list.elements())));
      }
    }

    HostEntries of(KeyedBatch batch, HostTransfer transfer) {
      HostEntries entries = new HostEntries();
      for (MapRows map : maps) {
        entries.maps.put(
            map.schema.name(), new HostMapState(map.schema, map.keys, map.values, batch, transfer));
      }
      for (ListRows list : lists) {
        entries.lists.put(
            list.schema.name(), new HostListState(list.schema, list.elements, batch, transfer));
      }
      return entries;
    }
  }

  private HostEntries() {}

  HostMapState map(String name) {
    return get("maps", maps, name);
  }

  HostListState list(String name) {
    return get("lists", lists, name);
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
   * Copies what changed to the device.
   *
   * @param changes takes the tables by name, which the caller closes, also if this fails
   */
  void upload(Map<String, Table> changes) {
    maps.forEach((name, map) -> put(name, map.upload(), changes));
    lists.forEach((name, list) -> put(name, list.upload(), changes));
  }

  private static void put(String name, Table rows, Map<String, Table> changes) {
    if (rows != null) {
      changes.put(name, rows);
    }
  }
}

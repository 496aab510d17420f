// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The maps and the lists of a function. */
record EntrySchemas(List<MapStateSchema> maps, List<ListStateSchema> lists) {
  // What DataOutput.writeUTF takes, with which checkpoints have the names.
  private static final int MAX_NAME_BYTES = 65_535;

  static EntrySchemas of(KeyedBatchFunction function, Schema input) {
    return new EntrySchemas(function.mapStates(input), function.listStates(input));
  }

  /**
   * What is kept for them, each with a name of its own.
   *
   * @param expires whether there is a time-to-live
   */
  List<MapStateSchema> states(boolean expires) {
    List<MapStateSchema> states = new ArrayList<>(maps);
    for (ListStateSchema list : lists) {
      states.add(list.elementsByIndex());
      states.add(list.lengths(expires));
    }
    return states;
  }

  /**
   * Checks what does not depend on the types of columns.
   *
   * @throws ExpressionException if a name is empty, too long or there twice, a map has no key, or a
   *     column has the name of another or of a column that reads and changes have
   */
  void check() {
    Set<String> names = new HashSet<>();
    for (MapStateSchema state : states(false)) {
      if (state.name().isEmpty() || !names.add(state.name())) {
        throw new ExpressionException(
            "expected a name of its own for each map and list, got '" + state.name() + "'");
      }
      checkLength(state.name());
    }
    for (MapStateSchema map : maps) {
      if (map.keys().size() == 0) {
        throw new ExpressionException(
            "expected a column of the map key of '" + map.name() + "', got none");
      }
    }
    maps.forEach(map -> checkTables(map.name(), List.of(map::found, map::changes)));
    lists.forEach(list -> checkTables(list.name(), List.of(list::changes)));
  }

  private static void checkLength(String name) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_NAME_BYTES) {
      throw new ExpressionException(
          "expected a name of at most %d bytes for a map or list, got %d: '%.40s...'"
              .formatted(MAX_NAME_BYTES, bytes, name));
    }
  }

  private static void checkTables(String name, List<Runnable> tables) {
    try {
      tables.forEach(Runnable::run);
    } catch (IllegalArgumentException e) {
      throw new ExpressionException("'" + name + "': " + e.getMessage());
    }
  }

  /** Such as {@code , maps=[visits], lists=[bids]}: the names. */
  @Override
  public String toString() {
    return text("maps", maps.stream().map(MapStateSchema::name).toList())
        + text("lists", lists.stream().map(ListStateSchema::name).toList());
  }

  private static String text(String what, List<String> names) {
    return names.isEmpty() ? "" : ", " + what + "=" + names;
  }
}

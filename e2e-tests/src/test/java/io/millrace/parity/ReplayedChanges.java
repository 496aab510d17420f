// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.flink.types.Row;

/**
 * The rows that a changelog with a key leaves. For each key an insertion comes first, each update
 * is the row as it was directly before the row as it is, and a deletion names the row as it was.
 */
public final class ReplayedChanges {
  private final int keyColumns;
  private final Map<List<Object>, List<Object>> present = new LinkedHashMap<>();
  private final Map<List<Object>, List<Object>> withoutUpdateAfter = new LinkedHashMap<>();
  private final List<String> errors = new ArrayList<>();

  /**
   * @param changes in the order of each key
   * @param keyColumns how many columns from the first on are the key
   */
  public ReplayedChanges(List<Row> changes, int keyColumns) {
    this.keyColumns = keyColumns;
    changes.forEach(this::replay);
    withoutUpdateAfter.forEach((key, row) -> errors.add("no +U behind -U" + row));
  }

  private void replay(Row change) {
    List<Object> row =
        IntStream.range(0, change.getArity())
            .mapToObj(change::getField)
            .map(ReplayedChanges::comparable)
            .toList();
    List<Object> key = new ArrayList<>(row.subList(0, keyColumns));
    boolean isLegal =
        switch (change.getKind()) {
          case INSERT ->
              !withoutUpdateAfter.containsKey(key) && present.putIfAbsent(key, row) == null;
          case UPDATE_BEFORE ->
              present.remove(key, row) && withoutUpdateAfter.putIfAbsent(key, row) == null;
          case UPDATE_AFTER ->
              withoutUpdateAfter.remove(key) != null && present.putIfAbsent(key, row) == null;
          case DELETE -> present.remove(key, row);
        };
    if (!isLegal) {
      errors.add(change + " where the row is " + present.get(key));
    }
  }

  private static Object comparable(Object value) {
    return value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value;
  }

  /** The present row of each key. */
  public Map<List<Object>, List<Object>> rows() {
    return present;
  }

  /** The changes that could not follow the changes before them. */
  public List<String> errors() {
    return errors;
  }
}

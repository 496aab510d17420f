// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.state.Accumulator.Function;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a state table must hold and report, with Java's own maps and numbers. */
final class StateModel {
  private final StateSchema schema;
  private final Map<List<Object>, Object[]> state = new LinkedHashMap<>();

  StateModel(StateSchema schema) {
    this.schema = schema;
  }

  int rowCount() {
    return state.size();
  }

  /** The expected rows of {@link StateSchema#changes}; null where a value is unspecified. */
  List<List<Object>> update(List<List<Object>> rows) {
    Map<List<Object>, Object[]> before = new LinkedHashMap<>();
    for (List<Object> row : rows) {
      List<Object> key = new ArrayList<>();
      schema.keys().forEach(column -> key.add(row.get(column)));
      if (!before.containsKey(key)) {
        before.put(key, state.containsKey(key) ? state.get(key).clone() : null);
      }
      accumulate(state.computeIfAbsent(key, k -> initial()), row);
    }
    List<List<Object>> changes = new ArrayList<>();
    before.forEach((key, old) -> changes.add(change(key, old, state.get(key))));
    return changes;
  }

  private List<Object> change(List<Object> key, Object[] old, Object[] now) {
    List<Object> change = new ArrayList<>(key);
    for (int i = 0; i < now.length; i++) {
      change.add(old == null ? initial()[i] : old[i]);
      change.add(now[i]);
    }
    change.add(old == null);
    return change;
  }

  private Object[] initial() {
    return schema.accumulators().stream()
        .map(a -> a.function() == Function.COUNT || a.function() == Function.SUM ? 0L : null)
        .toArray();
  }

  private void accumulate(Object[] values, List<Object> row) {
    for (int i = 0; i < values.length; i++) {
      Accumulator accumulator = schema.accumulators().get(i);
      Object value =
          accumulator.column() == Accumulator.ALL_ROWS ? 1 : row.get(accumulator.column());
      if (value != null) {
        values[i] = combine(accumulator.function(), values[i], value);
      }
    }
  }

  @SuppressWarnings("unchecked") // values of one column
  private static Object combine(Function function, Object left, Object right) {
    Comparator<Object> order = (a, b) -> ((Comparable<Object>) a).compareTo(b);
    return switch (function) {
      case COUNT -> (Long) left + 1;
      case SUM -> (Long) left + ((Number) right).longValue();
      case MIN -> left == null || order.compare(right, left) < 0 ? right : left;
      case MAX -> left == null || order.compare(right, left) > 0 ? right : left;
    };
  }

  /** {@code rows} with null where {@code expected} has an unspecified value. */
  static List<List<Object>> specified(
      List<List<Object>> rows, List<List<Object>> expected, int keys) {
    List<List<Object>> specified = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      Object[] row = rows.get(i).toArray();
      for (int c = keys; c < row.length && i < expected.size(); c++) {
        row[c] = expected.get(i).get(c) == null ? null : row[c];
      }
      specified.add(Arrays.asList(row));
    }
    return specified;
  }
}

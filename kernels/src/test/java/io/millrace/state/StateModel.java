// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a state table must hold and report, with Java's own maps and numbers. */
final class StateModel {
  private static final int MAX_DIGITS = 38;
  // Stands for the null of a sum that has more digits, where null stands for anything.
  private static final Object OVERFLOW = "more than 38 digits";

  /** The sum of squared differences from the mean; equal if the sum is. */
  private record M2(double sum, double mean, long count) {
    static final M2 NONE = new M2(0, 0, 0);

    M2 with(double number, int sign) {
      long newCount = count + sign;
      if (newCount <= 0) {
        return new M2(0, 0, newCount);
      }
      double delta = number - mean;
      double newMean = mean + sign * (delta / newCount);
      return new M2(sum + sign * (delta * (number - newMean)), newMean, newCount);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof M2 m2 && Double.compare(sum, m2.sum) == 0;
    }

    @Override
    public int hashCode() {
      return Double.hashCode(sum);
    }
  }

  private final StateSchema schema;
  private final Map<List<Object>, Object[]> state = new LinkedHashMap<>();

  StateModel(StateSchema schema) {
    this.schema = schema;
  }

  int rowCount() {
    return state.size();
  }

  /** Updates a table and this, and compares what they report. */
  void assertUpdate(StateTable table, List<List<Object>> rows, DeviceExtension device) {
    assertUpdate(table, rows, null, device);
  }

  /**
   * The same.
   *
   * @param time of the update; null if rows do not expire
   */
  void assertUpdate(
      StateTable table, List<List<Object>> rows, UpdateTime time, DeviceExtension device) {
    List<List<Object>> expected = update(rows, time);
    try (Table batch = TableBuilder.ofRows(schema.input(), rows).build(device);
        Table changes = table.update(batch, time)) {
      assertThat(changes.schema()).isEqualTo(schema.changes());
      assertThat(specified(device.rows(changes), expected)).isEqualTo(expected);
    }
    if (time == null) {
      assertThat(table.rowCount()).isEqualTo(rowCount());
    }
  }

  /** The rows of {@link StateSchema#changes} that there are; null where a value is unspecified. */
  List<List<Object>> update(List<List<Object>> rows) {
    return update(rows, null);
  }

  private List<List<Object>> update(List<List<Object>> rows, UpdateTime time) {
    if (time != null) {
      removeExpired(time.oldest());
    }
    Map<List<Object>, Object[]> before = new LinkedHashMap<>();
    for (List<Object> row : rows) {
      List<Object> key = new ArrayList<>();
      schema.keys().forEach(column -> key.add(row.get(column)));
      if (!before.containsKey(key)) {
        before.put(key, state.containsKey(key) ? state.get(key).clone() : null);
      }
      accumulate(state.computeIfAbsent(key, k -> initial()), row, time);
    }
    List<List<Object>> changes = new ArrayList<>();
    before.forEach((key, old) -> addChanges(changes, key, old, state.get(key)));
    return changes;
  }

  boolean contains(List<Object> key) {
    return state.containsKey(key);
  }

  /** Forgets keys, whose time is the first accumulator. */
  void removeExpired(long oldest) {
    state.values().removeIf(values -> (Long) values[0] < oldest);
  }

  private void addChanges(
      List<List<Object>> changes, List<Object> key, Object[] old, Object[] now) {
    boolean wasPresent = old != null && isPresent(old);
    boolean isPresent = isPresent(now);
    if (wasPresent && isPresent && !schema.hasTime() && Arrays.equals(old, now)) {
      return;
    }
    if (wasPresent) {
      changes.add(change(key, old, isPresent ? ChangeKind.UPDATE_BEFORE : ChangeKind.DELETE));
    }
    if (isPresent) {
      changes.add(change(key, now, wasPresent ? ChangeKind.UPDATE_AFTER : ChangeKind.INSERT));
    }
  }

  private boolean isPresent(Object[] values) {
    for (int i = 0; i < values.length && schema.kindColumn() != StateSchema.NO_KINDS; i++) {
      if (schema.accumulators().get(i).isRowCount()) {
        return !values[i].equals(0L);
      }
    }
    return true;
  }

  private static List<Object> change(List<Object> key, Object[] values, ChangeKind kind) {
    List<Object> change = new ArrayList<>(key);
    for (Object value : values) {
      boolean overflows = value instanceof BigDecimal sum && sum.precision() > MAX_DIGITS;
      change.add(overflows ? OVERFLOW : value instanceof M2 m2 ? (Object) m2.sum : value);
    }
    change.add(kind.value());
    return change;
  }

  private Object[] initial() {
    return schema.accumulators().stream().map(this::initial).toArray();
  }

  private Object initial(Accumulator accumulator) {
    return switch (accumulator.function()) {
      case COUNT, COUNT_ROWS -> 0L;
      case SUM -> zero(schema.input().type(accumulator.column()));
      case MIN, MAX -> null;
      case M2 -> M2.NONE;
      case FIRST, LAST, LISTAGG -> null;
    };
  }

  private static Object zero(DataType type) {
    return switch (type.id()) {
      case FLOAT32 -> -0.0f;
      case FLOAT64 -> -0.0;
      default -> type.isDecimal() ? BigDecimal.ZERO.setScale(type.scale()) : (Object) 0L;
    };
  }

  private void accumulate(Object[] values, List<Object> row, UpdateTime time) {
    boolean retracts =
        schema.kindColumn() != StateSchema.NO_KINDS
            && ChangeKind.isRetraction((Byte) row.get(schema.kindColumn()));
    for (int i = 0; i < values.length; i++) {
      Accumulator accumulator = schema.accumulators().get(i);
      Object value =
          switch (accumulator.column()) {
            case Accumulator.ALL_ROWS -> (Object) 1;
            case Accumulator.TIME -> time.now();
            default -> row.get(accumulator.column());
          };
      if (value != null) {
        values[i] = combine(accumulator.function(), values[i], value, retracts ? -1 : 1);
      }
    }
    for (int i = 0; i < values.length && !isPresent(values); i++) {
      Accumulator accumulator = schema.accumulators().get(i);
      values[i] = accumulator.isOrdered(schema.input()) ? initial(accumulator) : values[i];
    }
  }

  @SuppressWarnings("unchecked") // values of one column
  private static Object combine(Function function, Object left, Object right, int sign) {
    Comparator<Object> order =
        (a, b) ->
            a instanceof String || a instanceof ByteBuffer
                ? Arrays.compareUnsigned(bytes(a), bytes(b))
                : ((Comparable<Object>) a).compareTo(b);
    return switch (function) {
      case COUNT, COUNT_ROWS -> (Long) left + sign;
      case SUM -> sum(left, right, sign);
      case MIN -> left == null || order.compare(right, left) < 0 ? right : left;
      case MAX -> left == null || order.compare(right, left) > 0 ? right : left;
      case M2 -> ((M2) left).with((Double) right, sign);
      case FIRST -> left == null ? right : left;
      case LAST -> right;
      case LISTAGG -> left == null ? right : (String) left + right;
    };
  }

  private static byte[] bytes(Object value) {
    if (value instanceof String string) {
      return string.getBytes(StandardCharsets.UTF_8);
    }
    ByteBuffer buffer = ((ByteBuffer) value).duplicate();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  private static Object sum(Object left, Object right, int sign) {
    if (right instanceof BigDecimal decimal) {
      return ((BigDecimal) left).add(sign < 0 ? decimal.negate() : decimal);
    }
    if (right instanceof Double number) {
      return sign < 0 ? (Double) left - number : (Double) left + number;
    }
    if (right instanceof Float number) {
      return sign < 0 ? (Float) left - number : (Float) left + number;
    }
    return (Long) left + sign * ((Number) right).longValue();
  }

  /** {@code rows} that there are, with null where {@code expected} has an unspecified value. */
  static List<List<Object>> specified(List<List<Object>> rows, List<List<Object>> expected) {
    List<List<Object>> specified = new ArrayList<>();
    for (List<Object> row : rows) {
      int kind = row.size() - 1;
      if (row.get(kind).equals(ChangeKind.NONE.value())) {
        continue;
      }
      Object[] values = row.toArray();
      int position = specified.size();
      for (int c = 0; c < values.length && position < expected.size(); c++) {
        Object value = expected.get(position).get(c);
        if (value == null) {
          values[c] = null;
        } else if (value == OVERFLOW && values[c] == null) {
          values[c] = OVERFLOW;
        }
      }
      specified.add(Arrays.asList(values));
    }
    return specified;
  }
}

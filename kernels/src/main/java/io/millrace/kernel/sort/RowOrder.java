// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.sort;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.expression.SortKey;
import io.millrace.memory.AccessScope;
import java.util.List;
import java.util.stream.IntStream;

/** The order of rows by key columns in host memory: a stable merge sort. */
@PublicEvolving
public final class RowOrder {
  /** Compares two rows; negative if the first row comes first. */
  @FunctionalInterface
  private interface Comparison {
    int compare(int left, int right);
  }

  private final Comparison[] comparisons;

  private RowOrder(Comparison[] comparisons) {
    this.comparisons = comparisons;
  }

  /** Whether values of this type have an order. */
  public static boolean supports(DataType type) {
    return type.id().isScalar();
  }

  /**
   * The row numbers in the order of {@code keys}; rows with equal keys keep their order.
   *
   * @param table has the key columns, in host memory
   * @param keys the most significant key first
   * @param scope on a host stream
   * @throws IllegalArgumentException if a key column does not exist or its type has no order
   */
  public static int[] of(Table table, List<SortKey> keys, AccessScope scope) {
    RowOrder order =
        new RowOrder(
            keys.stream()
                .map(key -> comparison(new ColumnReader(table.column(key.column()), scope), key))
                .toArray(Comparison[]::new));
    int[] rows = IntStream.range(0, table.rowCount()).toArray();
    order.sort(rows.clone(), rows, 0, rows.length);
    return rows;
  }

  /** Sorts a range of {@code target}; {@code source} has the same numbers there. */
  private void sort(int[] source, int[] target, int from, int to) {
    if (to - from < 2) {
      return;
    }
    int middle = (from + to) >>> 1;
    sort(target, source, from, middle);
    sort(target, source, middle, to);
    if (compare(source[middle - 1], source[middle]) <= 0) {
      System.arraycopy(source, from, target, from, to - from);
      return;
    }
    int left = from;
    int right = middle;
    for (int i = from; i < to; i++) {
      boolean takeLeft =
          right == to || (left < middle && compare(source[left], source[right]) <= 0);
      target[i] = takeLeft ? source[left++] : source[right++];
    }
  }

  private int compare(int left, int right) {
    for (Comparison comparison : comparisons) {
      int result = comparison.compare(left, right);
      if (result != 0) {
        return result;
      }
    }
    return 0;
  }

  private static Comparison comparison(ColumnReader reader, SortKey key) {
    Comparison ascending = ascending(reader);
    Comparison values =
        key.descending() ? (left, right) -> ascending.compare(right, left) : ascending;
    if (!reader.isNullable()) {
      return values;
    }
    int nullBefore = key.nullsFirst() ? -1 : 1;
    return (left, right) -> {
      boolean leftIsNull = reader.isNull(left);
      boolean rightIsNull = reader.isNull(right);
      if (leftIsNull || rightIsNull) {
        return leftIsNull == rightIsNull ? 0 : leftIsNull ? nullBefore : -nullBefore;
      }
      return values.compare(left, right);
    };
  }

  private static Comparison ascending(ColumnReader reader) {
    return switch (reader.type().id()) {
      case BOOL, INT8 -> (left, right) -> Byte.compare(reader.getByte(left), reader.getByte(right));
      case INT16 -> (left, right) -> Short.compare(reader.getShort(left), reader.getShort(right));
      case INT32, DATE, TIME, DECIMAL32 ->
          (left, right) -> Integer.compare(reader.getInt(left), reader.getInt(right));
      case INT64, DECIMAL64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS ->
          (left, right) -> Long.compare(reader.getLong(left), reader.getLong(right));
      case FLOAT32 -> (left, right) -> Float.compare(reader.getFloat(left), reader.getFloat(right));
      case FLOAT64 ->
          (left, right) -> Double.compare(reader.getDouble(left), reader.getDouble(right));
      case DECIMAL128 -> (left, right) -> compareDecimals(reader, left, right);
      case TIMESTAMP_NANOS -> (left, right) -> compareTimestamps(reader, left, right);
      case STRING, BINARY -> (left, right) -> compareBytes(reader, left, right);
      case LIST, STRUCT, DICTIONARY ->
          throw new IllegalArgumentException(reader.type() + " has no order");
    };
  }

  private static int compareDecimals(ColumnReader reader, int left, int right) {
    int high = Long.compare(reader.getDecimal128High(left), reader.getDecimal128High(right));
    return high != 0
        ? high
        : Long.compareUnsigned(reader.getDecimal128Low(left), reader.getDecimal128Low(right));
  }

  private static int compareTimestamps(ColumnReader reader, int left, int right) {
    int millis = Long.compare(reader.getTimestampMillis(left), reader.getTimestampMillis(right));
    return millis != 0
        ? millis
        : Integer.compare(
            reader.getTimestampNanosOfMilli(left), reader.getTimestampNanosOfMilli(right));
  }

  private static int compareBytes(ColumnReader reader, int left, int right) {
    long leftAddress = reader.getBytesAddress(left);
    long rightAddress = reader.getBytesAddress(right);
    int leftLength = reader.getLength(left);
    int rightLength = reader.getLength(right);
    int common = Math.min(leftLength, rightLength);
    for (int i = 0; i < common; i++) {
      int difference =
          Byte.compareUnsigned(
              HostMemory.getByte(leftAddress + i), HostMemory.getByte(rightAddress + i));
      if (difference != 0) {
        return difference;
      }
    }
    return Integer.compare(leftLength, rightLength);
  }
}

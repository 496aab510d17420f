// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import io.millrace.expression.vector.HostVector;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Arrays made of arrays, on the host: each chooses the elements of its result for a row. */
final class ArrayEdits {
  private ArrayEdits() {}

  static void constructor(HostVector[] operands, int row, ChosenElements chosen) {
    for (HostVector operand : operands) {
      chosen.add(operand, row);
    }
  }

  static void append(HostVector[] operands, int row, ChosenElements chosen) {
    chosen.addAll(operands[0], row);
    chosen.add(operands[1], row);
  }

  static void prepend(HostVector[] operands, int row, ChosenElements chosen) {
    chosen.add(operands[1], row);
    chosen.addAll(operands[0], row);
  }

  static void concat(HostVector[] operands, int row, ChosenElements chosen) {
    for (HostVector operand : operands) {
      chosen.addAll(operand, row);
    }
  }

  static void reverse(HostVector[] operands, int row, ChosenElements chosen) {
    HostVector array = operands[0];
    for (int i = array.length(row) - 1; i >= 0; i--) {
      chosen.add(array.elements(), array.firstElement(row) + i);
    }
  }

  static void remove(HostVector[] operands, int row, ChosenElements chosen) {
    HostVector array = operands[0];
    for (int i = 0; i < array.length(row); i++) {
      int position = array.firstElement(row) + i;
      if (!ChosenElements.equal(array.elements(), position, operands[1], row, Elements::equal)) {
        chosen.add(array.elements(), position);
      }
    }
  }

  /** Positions count from 1, and negative ones from the end; the end is included. */
  static void slice(HostVector[] operands, int row, ChosenElements chosen) {
    HostVector array = operands[0];
    int length = array.length(row);
    int begin = (int) operands[1].longs()[row];
    int end = operands.length == 2 ? length : (int) operands[2].longs()[row];
    begin = Math.max(1, begin < 0 ? begin + length + 1 : begin);
    end = end < 0 ? end + length + 1 : end;
    end = end == 0 ? 1 : Math.min(end, length);
    if (length > 0 && begin <= end) {
      chosen.addRange(array, row, begin - 1, end);
    }
  }

  /** The different elements of all arrays, in the order in which they come first. */
  static void union(HostVector[] operands, int row, ChosenElements chosen) {
    for (HostVector array : operands) {
      for (int i = 0; i < array.length(row); i++) {
        int position = array.firstElement(row) + i;
        if (!chosen.contains(array.elements(), position, Elements::equal)) {
          chosen.add(array.elements(), position);
        }
      }
    }
  }

  static void except(HostVector[] operands, int row, ChosenElements chosen) {
    chooseIf(false, operands, row, chosen);
  }

  static void intersect(HostVector[] operands, int row, ChosenElements chosen) {
    chooseIf(true, operands, row, chosen);
  }

  private static void chooseIf(
      boolean isInBoth, HostVector[] operands, int row, ChosenElements chosen) {
    HostVector array = operands[0];
    for (int i = 0; i < array.length(row); i++) {
      int position = array.firstElement(row) + i;
      boolean isInOther =
          ChosenElements.contains(operands[1], row, array.elements(), position, Elements::same);
      if (isInOther == isInBoth && !chosen.contains(array.elements(), position, Elements::same)) {
        chosen.add(array.elements(), position);
      }
    }
  }

  /** Operands after the array: whether to sort ascending, and whether nulls are first. */
  static void sort(HostVector[] operands, int row, ChosenElements chosen) {
    HostVector array = operands[0];
    HostVector elements = array.elements();
    boolean ascending = operands.length < 2 || operands[1].getBoolean(row);
    boolean nullsFirst = operands.length < 3 ? ascending : operands[2].getBoolean(row);
    // Flink's comparator, which takes equal elements for less and NaN for anything: the same steps
    // of Java's sort then give the same order.
    Comparator<Integer> order =
        (left, right) -> Elements.isGreater(elements, left, elements, right) == ascending ? 1 : -1;
    Integer[] positions =
        IntStream.range(0, array.length(row))
            .map(i -> array.firstElement(row) + i)
            .boxed()
            .toArray(Integer[]::new);
    Arrays.sort(positions, nulls(elements, nullsFirst, order));
    for (int position : positions) {
      chosen.add(elements, position);
    }
  }

  private static Comparator<Integer> nulls(
      HostVector elements, boolean first, Comparator<Integer> order) {
    return (left, right) -> {
      boolean leftIsNull = elements.isNull(left);
      boolean rightIsNull = elements.isNull(right);
      if (leftIsNull || rightIsNull) {
        return leftIsNull == rightIsNull ? 0 : leftIsNull == first ? -1 : 1;
      }
      return order.compare(left, right);
    };
  }
}

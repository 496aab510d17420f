// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import java.util.Arrays;

/** Elements of vectors, in the order in which they become those of a list. Reused for many rows. */
final class ChosenElements {
  private HostVector[] vectors = new HostVector[16];
  private int[] positions = new int[16];
  private int count;

  /** Chooses the elements of the list that a function returns for a row. */
  @FunctionalInterface
  interface Choice {
    void choose(HostVector[] operands, int row, ChosenElements chosen);
  }

  /** A function that returns the list of the chosen elements, and null if an operand is null. */
  static HostFunction listOf(Choice choice) {
    return (operands, result, rows) -> {
      ChosenElements chosen = new ChosenElements();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        chosen.count = 0;
        choice.choose(operands, row, chosen);
        int first = result.appendElements(row, chosen.count);
        chosen.copyTo(result.elements(), first);
      }
    };
  }

  /** As {@link #listOf}, for an operand 0 that is not null and others that may be. */
  static HostFunction listOfNullable(Choice choice) {
    HostFunction list = listOf(choice);
    return (operands, result, rows) -> {
      int[] present = new int[rows.count()];
      int count = 0;
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        if (operands[0].isNull(row)) {
          result.setNull(row);
        } else {
          present[count++] = row;
        }
      }
      list.evaluate(operands, result, count == rows.count() ? rows : rows.of(present, count));
    };
  }

  /** Chooses a value, which may be null. */
  void add(HostVector vector, int position) {
    if (count == positions.length) {
      vectors = Arrays.copyOf(vectors, 2 * count);
      positions = Arrays.copyOf(positions, 2 * count);
    }
    vectors[count] = vector;
    positions[count++] = position;
  }

  /** Chooses elements of the list in a row, from {@code begin} to before {@code end}. */
  void addRange(HostVector list, int row, int begin, int end) {
    for (int i = begin; i < end; i++) {
      add(list.elements(), list.firstElement(row) + i);
    }
  }

  /** Chooses all elements of the list in a row. */
  void addAll(HostVector list, int row) {
    addRange(list, row, 0, list.length(row));
  }

  /** Whether a value that is equal, or a null if the value is null, was chosen. */
  boolean contains(HostVector vector, int position, Equality equality) {
    return containsWithin(count, vector, position, equality);
  }

  /** As {@link #contains}, among the first values that were chosen. */
  boolean containsWithin(int first, HostVector vector, int position, Equality equality) {
    for (int i = 0; i < first; i++) {
      if (equal(vectors[i], positions[i], vector, position, equality)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the list in a row has a value that is equal, or a null if the value is null. */
  static boolean contains(
      HostVector list, int row, HostVector vector, int position, Equality equality) {
    for (int i = 0; i < list.length(row); i++) {
      if (equal(list.elements(), list.firstElement(row) + i, vector, position, equality)) {
        return true;
      }
    }
    return false;
  }

  /** Tests two values that are not null. */
  @FunctionalInterface
  interface Equality {
    boolean test(HostVector left, int i, HostVector right, int j);
  }

  static boolean equal(HostVector left, int i, HostVector right, int j, Equality equality) {
    if (left.isNull(i)) {
      return right.isNull(j);
    }
    return !right.isNull(j) && equality.test(left, i, right, j);
  }

  int count() {
    return count;
  }

  void clear() {
    count = 0;
  }

  /** Copies the chosen values to a vector, from {@code first} on. */
  void copyTo(HostVector target, int first) {
    for (int i = 0; i < count; i++) {
      target.copy(first + i, vectors[i], positions[i]);
    }
  }
}

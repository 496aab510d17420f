// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import io.millrace.expression.vector.HostVector;

/** Elements and positions that are found in arrays, on the host. */
final class ArraySearch {
  private ArraySearch() {}

  static void contains(HostVector[] operands, HostVector result, int row) {
    if (operands[0].isNull(row)) {
      result.setNull(row);
    } else {
      boolean found = ChosenElements.contains(operands[0], row, operands[1], row, Elements::equal);
      result.setBoolean(row, found);
    }
  }

  static void position(HostVector[] operands, HostVector result, int row) {
    result.longs()[row] = 1L + indexOf(operands[0], row, operands[1], row);
  }

  /** The index of the first element that is equal to a value other than null; -1 if none is. */
  static int indexOf(HostVector array, int row, HostVector value, int position) {
    HostVector elements = array.elements();
    for (int i = 0; i < array.length(row); i++) {
      int element = array.firstElement(row) + i;
      if (!elements.isNull(element) && Elements.equal(elements, element, value, position)) {
        return i;
      }
    }
    return -1;
  }

  static void length(HostVector[] operands, HostVector result, int row) {
    result.longs()[row] = operands[0].length(row);
  }

  /** The element at a position that counts from 1; null if there is none. */
  static void item(HostVector[] operands, HostVector result, int row) {
    long index = operands[1].longs()[row] - 1;
    if (index < 0 || index >= operands[0].length(row)) {
      result.setNull(row);
    } else {
      result.copy(row, operands[0].elements(), operands[0].firstElement(row) + (int) index);
    }
  }

  /** The greatest or the least element. */
  record Extreme(boolean greatest) {
    void evaluate(HostVector[] operands, HostVector result, int row) {
      HostVector elements = operands[0].elements();
      int best = -1;
      for (int i = 0; i < operands[0].length(row); i++) {
        int element = operands[0].firstElement(row) + i;
        if (!elements.isNull(element)
            && (best < 0
                || (greatest
                    ? Elements.isGreater(elements, element, elements, best)
                    : Elements.isGreater(elements, best, elements, element)))) {
          best = element;
        }
      }
      if (best < 0) {
        result.setNull(row);
      } else {
        result.copy(row, elements, best);
      }
    }
  }
}

package io.millrace.operators.api;

import io.millrace.column.Schema;

/** What streams need that are to become one. */
final class EqualColumns {
  private EqualColumns() {}

  /**
   * Checks that two schemas are equal.
   *
   * @throws IllegalArgumentException with the first difference, in name, type or nullability
   */
  static void check(Schema left, Schema right) {
    for (int i = 0; i < Math.max(left.size(), right.size()); i++) {
      Object leftField = i < left.size() ? left.field(i) : "none";
      Object rightField = i < right.size() ? right.field(i) : "none";
      if (!leftField.equals(rightField)) {
        throw new IllegalArgumentException(
            "a union needs equal columns, but column "
                + (i + 1)
                + " is "
                + leftField
                + " and "
                + rightField);
      }
    }
  }
}

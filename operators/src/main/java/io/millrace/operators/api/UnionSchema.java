// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.util.ArrayList;
import java.util.List;

/** The columns of streams that become one. */
final class UnionSchema {
  private UnionSchema() {}

  /**
   * The columns of all; each may be null if it may be in one.
   *
   * @throws IllegalArgumentException with the first column that differs in name or type
   */
  static Schema of(List<Schema> schemas) {
    Schema first = schemas.get(0);
    List<Field> fields = new ArrayList<>(first.fields());
    for (int stream = 1; stream < schemas.size(); stream++) {
      Schema other = schemas.get(stream);
      for (int i = 0; i < Math.max(fields.size(), other.size()); i++) {
        Field left = i < fields.size() ? fields.get(i) : null;
        Field right = i < other.size() ? other.field(i) : null;
        if (!equalButNullability(left, right)) {
          throw new IllegalArgumentException(message(i + 1, left, right, stream + 1));
        }
        fields.set(i, new Field(left.name(), left.type(), left.nullable() || right.nullable()));
      }
    }
    return new Schema(fields);
  }

  private static boolean equalButNullability(Field left, Field right) {
    return left != null
        && right != null
        && left.name().equals(right.name())
        && left.type().equals(right.type());
  }

  private static String message(int column, Field left, Field right, int stream) {
    return "a union needs columns of the same names and types in the same order, but column "
        + column
        + " is "
        + text(left)
        + " in the first stream and "
        + text(right)
        + " in stream "
        + stream
        + "; select(...) gives streams the same columns";
  }

  private static String text(Field field) {
    return field == null ? "missing" : field.name() + " " + field.type();
  }
}

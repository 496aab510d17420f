// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import io.millrace.column.TypeId;
import java.util.ArrayList;
import java.util.List;

/** The dictionaries of columns. */
@Internal
public final class ArrowDictionaries {
  private ArrowDictionaries() {}

  /**
   * The values of the dictionaries of {@code columns} in the order of the numbers that {@link
   * ArrowSchemaConverter} gives them. Still owned by the columns.
   */
  public static List<Column> of(List<Column> columns) {
    List<Column> values = new ArrayList<>();
    collect(columns, values);
    return values;
  }

  private static void collect(List<Column> columns, List<Column> values) {
    for (Column column : columns) {
      if (column.type().id() == TypeId.DICTIONARY) {
        values.add(column.child(0));
        collect(column.child(0).children(), values);
      } else {
        collect(column.children(), values);
      }
    }
  }
}

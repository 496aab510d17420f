// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.column.DataType;
import io.millrace.column.NotNullCheck;
import io.millrace.column.TypeId;
import java.util.List;

/**
 * Decides from the null counts of checked ArrowArray structs whether NOT NULL fields have nulls.
 */
final class NullCounts {
  private NullCounts() {}

  /**
   * @throws ArrowFormatException if the column is NOT NULL and its array announces nulls
   */
  static void checkAnnounced(DataType.Field field, CArray array) throws ArrowFormatException {
    if (!field.nullable() && array.nullCount() > 0) {
      throw new ArrowFormatException(
          "column '" + field.name() + "' is NOT NULL and has " + array.nullCount() + " nulls");
    }
  }

  /** As {@link #checkAnnounced}, of the columns that have no more elements than the table rows. */
  static void checkAnnouncedInRows(DataType rows, CArray array) throws ArrowFormatException {
    List<DataType.Field> fields = rows.fields();
    for (int i = 0; i < fields.size(); i++) {
      boolean isWhole = array.offset() == 0 && array.child(i).length() == array.length();
      if (isWhole && !mayHaveNulls(array)) {
        checkAnnounced(fields.get(i), array.child(i));
      }
    }
  }

  /** Whether the masks must be read to know if this field or the fields in it violate NOT NULL. */
  static boolean leaveOpen(DataType.Field field, CArray array) {
    if (!field.nullable() && mayHaveNulls(array)) {
      return true;
    }
    if (field.type().id() == TypeId.DICTIONARY) {
      CArray values = array.dictionary();
      return (!field.nullable() && mayHaveNulls(values))
          || leaveOpen(field.type().fields().get(0), values);
    }
    List<DataType.Field> fields = NotNullCheck.childFields(field.type());
    for (int i = 0; i < array.childCount(); i++) {
      if (leaveOpen(fields.get(i), array.child(i))) {
        return true;
      }
    }
    return false;
  }

  private static boolean mayHaveNulls(CArray array) {
    return array.buffer(0) != 0 && array.nullCount() != 0;
  }
}

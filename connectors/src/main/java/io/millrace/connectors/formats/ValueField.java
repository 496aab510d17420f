// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A column or a nested field with all that parsing looks up, computed once.
 *
 * @param path the names that lead to the field, joined with dots
 * @param type of its values; a dictionary's value type
 * @param children fields of a STRUCT, or the one element of a LIST
 * @param positions of the children by name
 */
record ValueField(
    String path,
    DataType type,
    boolean nullable,
    List<ValueField> children,
    Map<String, Integer> positions) {

  /** The root: a struct of the columns. */
  static ValueField of(Schema schema) {
    DataType struct = DataType.struct(schema.fields().toArray(Field[]::new));
    return of(new Field("", struct, false), "");
  }

  private static ValueField of(Field field, String path) {
    if (field.type().id() == TypeId.DICTIONARY) {
      DataType values = field.type().fields().get(0).type();
      return of(new Field(field.name(), values, field.nullable()), path);
    }
    String prefix = path.isEmpty() ? "" : path + ".";
    List<ValueField> children =
        field.type().fields().stream().map(child -> of(child, prefix + child.name())).toList();
    Map<String, Integer> positions = new HashMap<>();
    for (int i = 0; i < children.size(); i++) {
      positions.put(field.type().fields().get(i).name(), i);
    }
    return new ValueField(path, field.type(), field.nullable(), children, positions);
  }

  ValueField child(int index) {
    return children.get(index);
  }
}

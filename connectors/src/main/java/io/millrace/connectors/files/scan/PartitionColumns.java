// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.scan;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.InputException;
import io.millrace.operators.row.SchemaConverter;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.annotation.Internal;
import org.apache.flink.core.fs.Path;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.utils.PartitionPathUtils;

/**
 * Columns that files do not have: the keys of partitions, whose values are the names of the folders
 * that a file is in, {@code key=value}. Immutable.
 *
 * @param schema of the columns; may have none
 * @param defaultName the value in names of folders that stands for NULL
 */
@Internal
public record PartitionColumns(Schema schema, String defaultName) implements Serializable {
  /** No columns. */
  public static final PartitionColumns NONE = new PartitionColumns(new Schema(List.of()), "");

  /** Whether there are no columns. */
  public boolean isEmpty() {
    return schema.size() == 0;
  }

  /** The columns of files, and these. */
  public Schema appendedTo(Schema files) {
    return files.with(schema.fields().toArray(Field[]::new));
  }

  /**
   * The values for the rows of a file, in Flink's internal form.
   *
   * @param path of the file
   * @throws InputException if the path lacks a column, or its value is not of the column's type
   */
  GenericRowData values(String path) throws InputException {
    Map<String, String> names = PartitionPathUtils.extractPartitionSpecFromPath(new Path(path));
    GenericRowData row = new GenericRowData(schema.size());
    for (int i = 0; i < schema.size(); i++) {
      String name = names.get(schema.field(i).name());
      if (name == null) {
        throw new InputException(
            "%s: no folder '%s=...'".formatted(path, schema.field(i).name()), null);
      }
      row.setField(i, name.equals(defaultName) ? null : value(path, schema.field(i), name));
    }
    return row;
  }

  private static Object value(String path, Field field, String name) throws InputException {
    try {
      return PartitionPathUtils.convertStringToInternalValue(
          name, SchemaConverter.toDataType(Schema.of(field)).getChildren().get(0));
    } catch (RuntimeException e) {
      throw new InputException("%s: '%s' is not a valid %s".formatted(path, name, field.type()), e);
    }
  }

  @Override
  public String toString() {
    return schema.names().stream().collect(Collectors.joining(", ", "[", "]"));
  }
}

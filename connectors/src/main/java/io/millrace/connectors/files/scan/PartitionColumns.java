// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.scan;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.connectors.files.InputException;
import io.millrace.operators.row.SchemaConverter;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.annotation.Internal;
import org.apache.flink.core.fs.Path;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.binary.BinaryStringData;
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

  private static final Pattern DAY_NUMBER = Pattern.compile("[+-]?\\d{1,9}");

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
      row.setField(i, value(path, schema.field(i), name));
    }
    return row;
  }

  /**
   * The value that a text in the name of a folder stands for, in Flink's internal form; null for
   * NULL. A DATE is written as {@code 2026-11-26} or, as by Flink's connector, as the number of the
   * day since 1970-01-01.
   *
   * @param path of the folder, or of a file in it
   * @param key one of the columns
   * @throws InputException if the text is none of a value of the column
   */
  public Object value(String path, String key, String text) throws InputException {
    return value(path, schema.field(schema.indexOf(key)), text);
  }

  private Object value(String path, Field field, String text) throws InputException {
    boolean isDefault = text.equals(defaultName);
    if (isDefault && field.nullable()) {
      return null;
    }
    try {
      // Sinks write empty strings as they write NULL.
      return isDefault && field.type().id() == TypeId.STRING
          ? BinaryStringData.EMPTY_UTF8
          : value(field, text);
    } catch (RuntimeException e) {
      throw new InputException(
          "%s: '%s' is not a valid %s%s"
              .formatted(path, text, field.type(), field.nullable() ? "" : " NOT NULL"),
          e);
    }
  }

  private static Object value(Field field, String text) {
    return switch (field.type().id()) {
      case BOOL -> bool(text);
      case DATE ->
          DAY_NUMBER.matcher(text).matches() ? Integer.valueOf(text) : converted(field, text);
      default -> converted(field, text);
    };
  }

  // Java takes any other text for false.
  private static boolean bool(String text) {
    if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
      throw new IllegalArgumentException(text);
    }
    return Boolean.parseBoolean(text);
  }

  private static Object converted(Field field, String text) {
    Object value =
        PartitionPathUtils.convertStringToInternalValue(
            text, SchemaConverter.toDataType(Schema.of(field)).getChildren().get(0));
    return Objects.requireNonNull(value);
  }

  @Override
  public String toString() {
    return schema.names().stream().collect(Collectors.joining(", ", "[", "]"));
  }
}

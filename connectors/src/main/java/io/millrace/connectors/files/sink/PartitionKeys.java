// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import io.millrace.column.Schema;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * The columns whose values become the names of folders that a row is written to, {@code key=value}.
 * Files do not have these columns. Immutable.
 *
 * @param names of the columns, in the order of folders; none if all files are in one folder
 * @param defaultName the value in names of folders for NULL and for empty strings
 */
@PublicEvolving
public record PartitionKeys(List<String> names, String defaultName) implements Serializable {
  /** All files are in one folder. */
  public static final PartitionKeys NONE = of();

  public PartitionKeys {
    names = List.copyOf(names);
    Objects.requireNonNull(defaultName, "defaultName is null");
    if (defaultName.isEmpty()) {
      throw new IllegalArgumentException("the name for NULL is empty");
    }
  }

  /** Keys, with the name that Flink has for NULL. */
  public static PartitionKeys of(String... names) {
    return new PartitionKeys(List.of(names), "__DEFAULT_PARTITION__");
  }

  /** Whether all files are in one folder. */
  public boolean isEmpty() {
    return names.isEmpty();
  }

  /**
   * The columns of files.
   *
   * @param rows the columns of the rows
   * @throws IllegalArgumentException if {@code rows} lacks a key, has no other column, or a key is
   *     of another type than STRING, BOOLEAN, integers and DATE, or its name begins with '_' or
   *     '.', as those of hidden folders do
   */
  public Schema columnsOfFiles(Schema rows) {
    for (String name : names) {
      if (name.startsWith("_") || name.startsWith(".")) {
        throw new IllegalArgumentException(
            "folders of the partition key '%s' would be hidden: its name begins with '%c'"
                .formatted(name, name.charAt(0)));
      }
      int column = rows.indexOf(name);
      switch (rows.type(column).id()) {
        case STRING, BOOL, INT8, INT16, INT32, INT64, DATE -> {}
        default ->
            throw new IllegalArgumentException(
                "expected STRING, BOOLEAN, an integer or DATE for the partition key '%s', got %s"
                    .formatted(name, rows.type(column)));
      }
    }
    Schema files =
        new Schema(rows.fields().stream().filter(field -> !names.contains(field.name())).toList());
    if (files.size() == 0) {
      throw new IllegalArgumentException("files need a column that is not a partition key");
    }
    return files;
  }
}

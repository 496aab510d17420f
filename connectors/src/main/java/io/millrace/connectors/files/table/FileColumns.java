// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.table;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.connectors.files.scan.PartitionColumns;
import io.millrace.connectors.files.sink.PartitionKeys;
import io.millrace.connectors.table.ReadColumns;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import org.apache.flink.table.api.ValidationException;

/**
 * The columns of a table of files. Immutable.
 *
 * @param declared all columns
 * @param inFiles the columns that files have: those that are not keys of partitions
 */
record FileColumns(Schema declared, Schema inFiles, PartitionKeys partitionKeys) {
  /**
   * The columns of a table.
   *
   * @param keys names of the keys of partitions
   * @param defaultName the value in names of folders for NULL
   * @throws ValidationException as {@link PartitionKeys} and its method {@code columnsOfFiles}
   *     throw
   */
  static FileColumns of(Schema declared, List<String> keys, String defaultName) {
    try {
      PartitionKeys partitionKeys = new PartitionKeys(keys, defaultName);
      return new FileColumns(declared, partitionKeys.columnsOfFiles(declared), partitionKeys);
    } catch (IllegalArgumentException e) {
      throw new ValidationException(e.getMessage(), e);
    }
  }

  /** The columns of {@code columns} that files have; the first one of all if there are none. */
  Schema inFiles(Schema columns) {
    Schema selected = select(columns, field -> !partitionKeys.names().contains(field.name()));
    return selected.size() == 0 ? ReadColumns.first(inFiles) : selected;
  }

  /**
   * Whether the planner leaves out partitions by their keys. Flink 2.3 cannot evaluate a condition
   * over a BOOLEAN key.
   */
  boolean arePruned() {
    return !partitionKeys.isEmpty()
        && partitionColumns(partitionKeys.names()).schema().fields().stream()
            .noneMatch(field -> field.type().id() == TypeId.BOOL);
  }

  /** The keys of partitions among {@code names}. */
  PartitionColumns partitionColumns(Collection<String> names) {
    return new PartitionColumns(
        select(
            declared,
            field -> partitionKeys.names().contains(field.name()) && names.contains(field.name())),
        partitionKeys.defaultName());
  }

  private static Schema select(Schema columns, Predicate<Field> condition) {
    return new Schema(columns.fields().stream().filter(condition).toList());
  }
}

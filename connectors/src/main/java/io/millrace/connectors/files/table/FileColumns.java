// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.table;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.scan.PartitionColumns;
import io.millrace.connectors.files.sink.PartitionKeys;
import io.millrace.connectors.table.ReadColumns;
import java.util.Collection;
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
   * @throws ValidationException as {@link PartitionKeys#columnsOfFiles} throws
   */
  static FileColumns of(Schema declared, PartitionKeys partitionKeys) {
    try {
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

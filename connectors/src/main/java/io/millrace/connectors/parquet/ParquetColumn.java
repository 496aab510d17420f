// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.DataType.Field;
import java.util.List;
import java.util.stream.Stream;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.format.SchemaElement;

/**
 * A column of a Parquet file, or a part of one, as a column of a table.
 *
 * @param definitionLevel of its values that are not null
 * @param repetitionLevel of the elements of a LIST behind the first one; else of the column
 * @param children the element of a LIST, the fields of a STRUCT, else empty
 * @param element the declaration of its values; null for LIST and STRUCT
 * @param descriptor where its values lie; null for LIST and STRUCT
 */
record ParquetColumn(
    Field field,
    int definitionLevel,
    int repetitionLevel,
    List<ParquetColumn> children,
    SchemaElement element,
    ColumnDescriptor descriptor) {

  boolean isLeaf() {
    return descriptor != null;
  }

  /** The column itself, or the leaves of its parts, in the order of the file. */
  Stream<ParquetColumn> leaves() {
    return isLeaf() ? Stream.of(this) : children.stream().flatMap(ParquetColumn::leaves);
  }

  /** The names from the file's root to a leaf. */
  List<String> path() {
    return List.of(descriptor.getPath());
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.row.SchemaConverter;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.types.Row;

/** Rows of a user with the Java types of Flink's Table API, which are equal if their values are. */
final class ExternalRows {
  private final Schema schema;
  private final DataStructureConverter<Object, Object> converter;
  private final ExternalRowDecoder decoder;

  ExternalRows(Schema schema) {
    this.schema = schema;
    this.converter = DataStructureConverters.getConverter(SchemaConverter.toDataType(schema));
    converter.open(Thread.currentThread().getContextClassLoader());
    this.decoder = new ExternalRowDecoder(schema);
  }

  /**
   * A copy with the values that columns keep: a decimal, such as 1.0, has the scale of its column.
   *
   * @throws IllegalArgumentException if the row does not fit the columns
   */
  Row copy(Row row) {
    if (row.getArity() != schema.size()) {
      throw new IllegalArgumentException(
          "expected a row of " + schema.size() + " fields, got " + row.getArity() + ": " + row);
    }
    try {
      return (Row) converter.toExternal(converter.toInternal(row));
    } catch (ClassCastException e) {
      throw new IllegalArgumentException(
          "a value of the row does not have the type of its column: " + row, e);
    }
  }

  /** Makes rows of {@code table}, each of which is a new object. */
  RowDecoder<Row> decoder(Table table, AccessScope scope) {
    return decoder.decoder(table, scope);
  }
}

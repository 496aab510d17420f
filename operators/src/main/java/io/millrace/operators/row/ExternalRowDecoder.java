// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.runtime.typeutils.ExternalTypeInfo;
import org.apache.flink.types.Row;

/**
 * Makes {@link Row}s with the Java types of Flink's Table API. Fields can be read by position and
 * by name. Each row is a new object.
 */
@PublicEvolving
public final class ExternalRowDecoder implements RowDecoder.OfTables<Row> {
  private final DataStructureConverter<Object, Object> converter;

  public ExternalRowDecoder(Schema schema) {
    this.converter = DataStructureConverters.getConverter(SchemaConverter.toDataType(schema));
    converter.open(Thread.currentThread().getContextClassLoader());
  }

  /** The type of the rows of {@code schema}. */
  @SuppressWarnings("unchecked") // the conversion class of a ROW is Row
  public static TypeInformation<Row> typeInformation(Schema schema) {
    return (TypeInformation<Row>)
        (TypeInformation<?>) ExternalTypeInfo.of(SchemaConverter.toDataType(schema));
  }

  @Override
  public RowDecoder<Row> decoder(Table table, AccessScope scope) {
    RowDataDecoder rows = new RowDataDecoder(table, scope);
    return row -> (Row) converter.toExternal(rows.decode(row));
  }
}

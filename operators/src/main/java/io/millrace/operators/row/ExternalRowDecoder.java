package io.millrace.operators.row;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.runtime.typeutils.ExternalTypeInfo;
import org.apache.flink.types.Row;

/**
 * Makes {@link Row}s, by position and by name, with the Java types of Flink's Table API. Each row
 * is a new object.
 */
public final class ExternalRowDecoder implements RowDecoder<Row> {
  private final RowDataDecoder decoder;
  private final DataStructureConverter<Object, Object> converter;

  /**
   * A decoder of {@code table}.
   *
   * @param table in host memory
   * @param scope on a host stream; waits for pending copies into the table
   */
  public ExternalRowDecoder(Table table, AccessScope scope) {
    this.decoder = new RowDataDecoder(table, scope);
    this.converter =
        DataStructureConverters.getConverter(SchemaConverter.toDataType(table.schema()));
    converter.open(Thread.currentThread().getContextClassLoader());
  }

  /** The type of the rows of {@code schema}. */
  @SuppressWarnings("unchecked") // the conversion class of a ROW is Row
  public static TypeInformation<Row> typeInformation(Schema schema) {
    return (TypeInformation<Row>)
        (TypeInformation<?>) ExternalTypeInfo.of(SchemaConverter.toDataType(schema));
  }

  @Override
  public Row decode(int row) {
    return (Row) converter.toExternal(decoder.decode(row));
  }
}

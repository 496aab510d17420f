// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnReader;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.util.Arrays;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;

/**
 * Writes rows of a table as {@link BinaryRowData}, with the same bytes as Flink's {@code
 * RowDataSerializer.toBinaryRow}. One row object and its memory are reused for all rows, as in
 * those of Flink's operators that make rows: a consumer that keeps a row copies it.
 */
@Internal
public final class RowDataDecoder implements RowDecoder<RowData> {
  // Null if some column has nested values.
  private final RowBlockEncoder block;
  private final BinaryRowEncoder fields;
  private final ColumnReader rowKinds;
  private final BinaryBuffer buffer = new BinaryBuffer();
  private final BinaryRowData row;

  /**
   * @param table in host memory
   * @param scope on a host stream; waits for pending copies into the table
   */
  public RowDataDecoder(Table table, AccessScope scope) {
    int arity = RowKindColumn.rowFields(table.schema()).size();
    ColumnReader[] columns = new ColumnReader[arity];
    for (int i = 0; i < arity; i++) {
      columns[i] = new ColumnReader(table.column(i), scope);
    }
    this.fields = new BinaryRowEncoder(columns);
    this.rowKinds =
        arity < table.columnCount() ? new ColumnReader(table.column(arity), scope) : null;
    this.block =
        Arrays.stream(columns).map(ColumnReader::type).allMatch(RowBlockEncoder::supports)
            ? new RowBlockEncoder(columns, rowKinds, table.rowCount())
            : null;
    this.row = new BinaryRowData(arity);
  }

  /** A factory of decoders; the decoders of different tables share nothing. */
  public static Factory<RowData> factory() {
    return schema -> RowDataDecoder::new;
  }

  /**
   * A factory of decoders that give each row an object and memory of its own, as rows have that
   * come through the network.
   */
  public static Factory<RowData> copyingFactory() {
    return schema ->
        (table, scope) -> {
          RowDataDecoder decoder = new RowDataDecoder(table, scope);
          return row -> decoder.decode(row).copy();
        };
  }

  /** The type of the rows of {@code schema}. */
  public static InternalTypeInfo<RowData> typeInformation(Schema schema) {
    return InternalTypeInfo.of(SchemaConverter.toRowType(schema));
  }

  @Override
  public BinaryRowData decode(int index) {
    if (block != null) {
      block.read(index, row);
      return row;
    }
    buffer.clear();
    fields.encode(index, buffer);
    if (rowKinds != null) {
      buffer.bytes()[0] = rowKinds.getByte(index);
    }
    row.pointTo(buffer.segment(), 0, buffer.size());
    return row;
  }
}

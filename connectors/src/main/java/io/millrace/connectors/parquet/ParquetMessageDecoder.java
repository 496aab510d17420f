// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.InputException;
import io.millrace.connectors.files.message.MessageDecoder;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import io.millrace.operators.context.DeviceContext;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.parquet.ParquetRuntimeException;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;

/** Decodes Parquet files in memory that have one row group, as {@link RowGroupFile} makes them. */
final class ParquetMessageDecoder implements MessageDecoder {
  private static final long serialVersionUID = 1L;

  private final Schema schema;

  /**
   * @param schema of the columns of the files, in their order
   */
  ParquetMessageDecoder(Schema schema) {
    this.schema = schema;
  }

  @Override
  public Table decode(byte[] file, DeviceContext context) throws IOException {
    return decode(file, context.hostStream(), context.pinnedResource());
  }

  /**
   * Makes one attempt to decode a file.
   *
   * @param stream a host stream, which orders the table's memory
   * @param resource host memory
   * @throws IOException naming the file and the column if the file is corrupt
   */
  Table decode(byte[] file, DeviceStream stream, MemoryResource resource) throws IOException {
    FileMetaData metadata = ParquetFooter.read("a row group in memory", file);
    RowGroup rowGroup = metadata.getRow_groups().get(0);
    int rows = Math.toIntExact(rowGroup.getNum_rows());
    Map<List<String>, ColumnMetaData> chunks =
        rowGroup.getColumns().stream()
            .map(chunk -> chunk.getMeta_data())
            .collect(Collectors.toMap(ColumnMetaData::getPath_in_schema, Function.identity()));
    List<ParquetColumn> columns = ParquetSchema.of(metadata.getSchema()).tableColumns();
    try (RowTableBuilder builder = new RowTableBuilder(schema, stream, resource)) {
      for (int i = 0; i < columns.size(); i++) {
        ParquetColumn column = columns.get(i);
        try {
          ColumnAssembler assembler =
              ColumnAssembler.of(
                  column,
                  builder.column(i),
                  leaf ->
                      new LeafReader(
                          leaf.descriptor(),
                          new ColumnChunkPages(file, chunks.get(leaf.path()), leaf.descriptor())));
          for (int row = 0; row < rows; row++) {
            assembler.append();
          }
        } catch (IOException
            | ParquetRuntimeException
            | IllegalArgumentException
            | IndexOutOfBoundsException
            | UnsupportedOperationException e) {
          throw new InputException(
              RowGroupFile.path(metadata)
                  + ": column '"
                  + column.field().name()
                  + "' cannot be read: "
                  + e.getMessage(),
              e);
        }
      }
      return builder.finish(rows);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Column;
import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.InputException;
import io.millrace.device.DeviceStream;
import io.millrace.format.parquet.PageDecoder;
import io.millrace.format.parquet.RowGroupPages;
import io.millrace.memory.MemoryResource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.parquet.ParquetRuntimeException;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;

/**
 * One attempt to decode a Parquet file in memory that has one row group, as {@link RowGroupFile}
 * makes them.
 */
final class RowGroupDecoder {
  private final Schema schema;
  private final byte[] file;
  private final String path;
  private final int rows;
  private final List<ParquetColumn> columns;
  private final Map<List<String>, ColumnMetaData> chunks;

  /**
   * @param schema of the columns of the file, in their order
   * @throws IOException if the footer is corrupt
   */
  RowGroupDecoder(Schema schema, byte[] file) throws IOException {
    FileMetaData metadata = ParquetFooter.read("a row group in memory", file);
    RowGroup rowGroup = metadata.getRow_groups().get(0);
    this.schema = schema;
    this.file = file;
    this.path = RowGroupFile.path(metadata);
    this.rows = Math.toIntExact(rowGroup.getNum_rows());
    this.chunks =
        rowGroup.getColumns().stream()
            .map(chunk -> chunk.getMeta_data())
            .collect(Collectors.toMap(ColumnMetaData::getPath_in_schema, Function.identity()));
    this.columns = ParquetSchema.of(metadata.getSchema()).tableColumns();
  }

  /** Work on a column, which fails if its pages are corrupt. */
  private interface ColumnWork<T> {
    T run() throws IOException;
  }

  private <T> T work(ParquetColumn column, ColumnWork<T> work) throws IOException {
    try {
      return work.run();
    } catch (IOException
        | ParquetRuntimeException
        | IllegalArgumentException
        | IndexOutOfBoundsException
        | UnsupportedOperationException e) {
      String name = column.field().name();
      throw new InputException(
          path + ": column '" + name + "' cannot be read: " + e.getMessage(), e);
    }
  }

  /**
   * Decodes columns by the library for pages.
   *
   * @param selected the schema of the columns
   * @param indexes their positions
   * @param stream a host stream, which orders the table's memory
   * @param memory host memory
   * @throws IOException naming the file and the column if the file is corrupt
   */
  Table decodeByLibrary(
      Schema selected, List<Integer> indexes, DeviceStream stream, MemoryResource memory)
      throws IOException {
    try (RowTableBuilder builder = new RowTableBuilder(selected, stream, memory)) {
      for (int i = 0; i < indexes.size(); i++) {
        ParquetColumn column = columns.get(indexes.get(i));
        ColumnBuilder values = builder.column(i);
        work(
            column,
            () -> {
              append(column, values);
              return null;
            });
      }
      return builder.finish(rows);
    }
  }

  private void append(ParquetColumn column, ColumnBuilder builder) throws IOException {
    ColumnAssembler assembler =
        ColumnAssembler.of(
            column,
            builder,
            leaf ->
                new LeafReader(
                    leaf.descriptor(), new CompressedPages(file, chunks.get(leaf.path()))));
    for (int row = 0; row < rows; row++) {
      assembler.append();
    }
  }

  /**
   * Decodes columns that are not nested by {@link PageDecoder}, and the others by the library.
   *
   * @param hostStream a host stream
   * @param hostMemory host memory, which the device copies fastest
   * @param stream orders the table's memory
   * @param memory of the stream's device
   * @throws IOException as {@link #decodeByLibrary}
   */
  Table decode(
      DeviceStream hostStream,
      MemoryResource hostMemory,
      DeviceStream stream,
      MemoryResource memory)
      throws IOException {
    List<FlatColumnChunk> chunksOfFlat = new ArrayList<>();
    List<Integer> flat = new ArrayList<>();
    List<Integer> others = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      Optional<FlatColumnChunk> chunk = flatChunk(columns.get(i), schema.field(i));
      chunk.ifPresent(chunksOfFlat::add);
      (chunk.isPresent() ? flat : others).add(i);
    }
    try (Table ofLibrary = decodeOthers(others, hostStream, hostMemory, stream, memory);
        Table ofPages = decodeFlat(flat, chunksOfFlat, hostStream, hostMemory, stream, memory)) {
      return Table.of(
          schema,
          rows,
          i -> {
            int place = flat.indexOf(i);
            return place >= 0
                ? ofPages.column(place).share()
                : ofLibrary.column(others.indexOf(i)).share();
          });
    }
  }

  private Optional<FlatColumnChunk> flatChunk(ParquetColumn column, Field field)
      throws IOException {
    return column.isLeaf()
        ? work(column, () -> FlatColumnChunk.of(column, field, file, chunks.get(column.path())))
        : Optional.empty();
  }

  private Table decodeOthers(
      List<Integer> others,
      DeviceStream hostStream,
      MemoryResource hostMemory,
      DeviceStream stream,
      MemoryResource memory)
      throws IOException {
    Schema selected = select(others);
    if (others.isEmpty()) {
      return new Table(selected, List.of(), rows);
    }
    if (stream.device().isHostAccessible()) {
      return decodeByLibrary(selected, others, stream, memory);
    }
    try (Table host = decodeByLibrary(selected, others, hostStream, hostMemory)) {
      return host.copyTo(memory, stream, stream);
    }
  }

  private Schema select(List<Integer> indexes) {
    return new Schema(indexes.stream().map(schema::field).toList());
  }

  private Table decodeFlat(
      List<Integer> flat,
      List<FlatColumnChunk> chunksOfFlat,
      DeviceStream hostStream,
      MemoryResource hostMemory,
      DeviceStream stream,
      MemoryResource memory)
      throws IOException {
    if (flat.isEmpty()) {
      return new Table(select(flat), List.of(), rows);
    }
    int pages = chunksOfFlat.stream().mapToInt(FlatColumnChunk::pages).sum();
    long bytes = chunksOfFlat.stream().mapToLong(FlatColumnChunk::bytes).sum();
    try (RowGroupPages rowGroup = new RowGroupPages(rows, pages, bytes, hostStream, hostMemory)) {
      for (int i = 0; i < flat.size(); i++) {
        FlatColumnChunk chunk = chunksOfFlat.get(i);
        work(
            columns.get(flat.get(i)),
            () -> {
              chunk.addTo(rowGroup);
              return null;
            });
      }
      List<Column> decoded = decodePages(rowGroup, stream, memory);
      return Table.of(select(flat), rows, decoded::get);
    }
  }

  private List<Column> decodePages(
      RowGroupPages rowGroup, DeviceStream stream, MemoryResource memory) throws IOException {
    try {
      return PageDecoder.decode(rowGroup, stream, memory);
    } catch (IOException e) {
      throw new InputException(path + ": " + e.getMessage(), e);
    }
  }
}

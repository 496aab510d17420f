// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.connectors.files.message.MessageRows;
import io.millrace.connectors.files.message.MessageRowsSerializer;
import io.millrace.connectors.files.scan.ScanEnd;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;

/**
 * Reads Parquet files as row groups. A row group belongs to the split that its first byte is in. A
 * checkpoint holds the offset of the next row group, or of the one that is being read and how many
 * of its rows were.
 */
final class ParquetFileFormat implements BulkFormat<MessageRows, FileSourceSplit> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final RowGroupFilter filter;
  private final ScanEnd scanEnd = new ScanEnd();

  /**
   * @param schema of the columns to read
   */
  ParquetFileFormat(Schema schema, RowGroupFilter filter) {
    this.schema = schema;
    this.filter = filter;
  }

  @Override
  public BulkFormat.Reader<MessageRows> createReader(Configuration config, FileSourceSplit split)
      throws IOException {
    return open(split, new CheckpointedPosition(split.offset(), 0));
  }

  @Override
  public BulkFormat.Reader<MessageRows> restoreReader(Configuration config, FileSourceSplit split)
      throws IOException {
    return open(
        split,
        split
            .getReaderPosition()
            .filter(position -> position.getOffset() != CheckpointedPosition.NO_OFFSET)
            .orElse(new CheckpointedPosition(split.offset(), 0)));
  }

  private BulkFormat.Reader<MessageRows> open(FileSourceSplit split, CheckpointedPosition position)
      throws IOException {
    if (scanEnd.isReached()) {
      return ScanEnd.emptyReader();
    }
    Path path = split.path();
    FSDataInputStream input = path.getFileSystem().open(path);
    try {
      return reader(split, input, position);
    } catch (IOException | RuntimeException e) {
      input.close();
      throw e;
    }
  }

  private RowGroupReader reader(
      FileSourceSplit split, FSDataInputStream input, CheckpointedPosition position)
      throws IOException {
    String path = split.path().toString();
    FileMetaData metadata = ParquetFooter.read(path, input, split.fileSize());
    ParquetSchema selected = select(path, ParquetSchema.of(metadata.getSchema()));
    long end = split.offset() + split.length();
    List<RowGroup> rowGroups =
        metadata.getRow_groups().stream()
            .filter(rowGroup -> isWithin(rowGroup, position.getOffset(), end))
            .filter(rowGroup -> filter.mayHaveRows(rowGroup, selected))
            .toList();
    boolean isResumed =
        !rowGroups.isEmpty() && ParquetFooter.offset(rowGroups.get(0)) == position.getOffset();
    long rowsToSkip = isResumed ? position.getRecordsAfterOffset() : 0;
    return new RowGroupReader(path, input, selected, rowGroups, rowsToSkip, end, scanEnd);
  }

  private static boolean isWithin(RowGroup rowGroup, long start, long end) {
    long offset = ParquetFooter.offset(rowGroup);
    return rowGroup.getNum_rows() > 0 && offset >= start && offset < end;
  }

  /**
   * @throws IOException if the file lacks a column, or has one of another type
   */
  private ParquetSchema select(String path, ParquetSchema file) throws IOException {
    try {
      ParquetSchema selected = file.select(schema.names());
      Schema found = selected.tableSchema();
      for (int i = 0; i < schema.size(); i++) {
        if (!holds(schema.type(i), found.type(i))) {
          throw new IllegalArgumentException(
              "expected "
                  + schema.type(i)
                  + " for column '"
                  + schema.field(i).name()
                  + "', got "
                  + found.type(i));
        }
      }
      return selected;
    } catch (IllegalArgumentException e) {
      throw new IOException(path + ": " + e.getMessage(), e);
    }
  }

  // Columns of times have the precision of their unit in files. Names of lists' elements, and
  // nulls in parts, depend on the writer; names of a row's fields do not.
  private static boolean holds(DataType type, DataType found) {
    if (type.id() != found.id() || type.withTimeZone() != found.withTimeZone()) {
      return false;
    }
    if (type.isDecimal()) {
      return type.equals(found);
    }
    List<Field> fields = type.fields();
    if (fields.size() != found.fields().size()) {
      return false;
    }
    for (int i = 0; i < fields.size(); i++) {
      Field field = found.fields().get(i);
      boolean hasName = type.id() != TypeId.STRUCT || fields.get(i).name().equals(field.name());
      if (!hasName || !holds(fields.get(i).type(), field.type())) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean isSplittable() {
    return true;
  }

  @Override
  public TypeInformation<MessageRows> getProducedType() {
    return MessageRowsSerializer.typeInformation();
  }
}

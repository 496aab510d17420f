// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Schema;
import io.millrace.connectors.files.message.MessageRows;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.connector.file.src.util.RecordAndPosition;

/** Reads files through the file format, as the source does. */
final class RowGroupRows {
  private RowGroupRows() {}

  /** A split of the bytes {@code [start, end)} of a file. */
  static FileSourceSplit split(Path file, long start, long end, CheckpointedPosition position)
      throws IOException {
    return new FileSourceSplit(
        "split",
        new org.apache.flink.core.fs.Path(file.toUri()),
        start,
        end - start,
        0,
        Files.size(file),
        new String[0],
        position);
  }

  /** The schema of a file. */
  static Schema schema(Path file) throws IOException {
    return ParquetFileSource.readSchema(new org.apache.flink.core.fs.Path(file.toUri()));
  }

  /** All rows of a file. */
  static List<List<Object>> all(DeviceExtension device, Schema schema, Path file)
      throws IOException {
    return read(
        device,
        new ParquetFileFormat(schema, RowGroupFilter.all()),
        schema,
        split(file, 0, Files.size(file), null));
  }

  /** The rows of a split, or behind its position. */
  static List<List<Object>> read(
      DeviceExtension device, ParquetFileFormat format, Schema schema, FileSourceSplit split)
      throws IOException {
    List<List<Object>> rows = new ArrayList<>();
    for (RecordAndPosition<MessageRows> part : parts(format, split)) {
      rows.addAll(rows(device, schema, part.getRecord()));
    }
    return rows;
  }

  /** The parts of a split, with the positions behind them. */
  static List<RecordAndPosition<MessageRows>> parts(ParquetFileFormat format, FileSourceSplit split)
      throws IOException {
    Configuration configuration = new Configuration();
    List<RecordAndPosition<MessageRows>> parts = new ArrayList<>();
    try (BulkFormat.Reader<MessageRows> reader =
        split.getReaderPosition().isPresent()
            ? format.restoreReader(configuration, split)
            : format.createReader(configuration, split)) {
      for (BulkFormat.RecordIterator<MessageRows> batch = reader.readBatch();
          batch != null;
          batch = reader.readBatch()) {
        for (RecordAndPosition<MessageRows> part = batch.next();
            part != null;
            part = batch.next()) {
          part.getRecord().limit().set(100);
          parts.add(
              new RecordAndPosition<>(
                  part.getRecord(), part.getOffset(), part.getRecordSkipCount()));
        }
      }
    }
    return parts;
  }

  private static List<List<Object>> rows(DeviceExtension device, Schema schema, MessageRows part)
      throws IOException {
    List<List<Object>> rows = ParquetFiles.decode(device, schema, part.message());
    return rows.subList(part.firstRow(), part.firstRow() + part.rows());
  }
}

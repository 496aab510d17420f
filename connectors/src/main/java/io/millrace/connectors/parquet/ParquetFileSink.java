// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Schema;
import io.millrace.connectors.files.sink.EncodedOutput;
import io.millrace.connectors.files.sink.FileSinkOptions;
import io.millrace.operators.batch.ColumnBatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;

/**
 * Ends a stream in Parquet files, exactly once, with Flink's {@link
 * org.apache.flink.connector.file.sink.FileSink}: each checkpoint closes a subtask's file, which
 * appears under its final name ({@code part-...parquet}) when the checkpoint is complete.
 */
@PublicEvolving
public final class ParquetFileSink {
  private static final String SUFFIX = ".parquet";

  private ParquetFileSink() {}

  /** Writes batches with the default options, in files that checkpoints alone close. */
  public static DataStreamSink<?> write(
      DataStream<ColumnBatch> batches, Schema schema, Path folder) {
    return write(batches, schema, folder, ParquetWriterOptions.DEFAULT, FileSinkOptions.DEFAULT);
  }

  /**
   * Writes batches.
   *
   * @param schema of the batches
   * @param options of files as they are written, and as compaction joins them: row groups of less
   *     than half of {@code rowGroupBytes} are written again as larger ones, others are copied
   * @param files when a file is closed before the next checkpoint, where sizes count whole row
   *     groups; whether files are joined; and the columns that choose the folder
   * @throws IllegalArgumentException as {@link
   *     io.millrace.connectors.files.sink.PartitionKeys#columnsOfFiles}
   */
  public static DataStreamSink<?> write(
      DataStream<ColumnBatch> batches,
      Schema schema,
      Path folder,
      ParquetWriterOptions options,
      FileSinkOptions files) {
    return write(batches, schema, folder, options, files, EncodedOutput.of(files.partitionKeys()));
  }

  private static <T> DataStreamSink<T> write(
      DataStream<ColumnBatch> batches,
      Schema schema,
      Path folder,
      ParquetWriterOptions options,
      FileSinkOptions files,
      EncodedOutput<T> form) {
    Schema columns = form.keys().columnsOfFiles(schema);
    RowGroupCompactor compactor = new RowGroupCompactor(SUFFIX, columns, options);
    return ParquetEncodingOperator.encode(batches, columns, options, form)
        .sinkTo(form.sink(folder, SUFFIX, Writer::new, compactor, files))
        .name("Parquet files");
  }

  /**
   * Joins Parquet files of one schema to one file: their row groups, one after the other, and a
   * footer. Only footers stay in memory. Without a file, nothing is written. The stream is closed
   * by whoever opened it.
   */
  static final class Writer implements BulkWriter<byte[]> {
    private final FSDataOutputStream out;
    private final List<RowGroup> rowGroups = new ArrayList<>();
    // Of the first file; null before.
    private List<SchemaElement> schema;

    Writer(FSDataOutputStream out) {
      this.out = out;
    }

    /**
     * @throws IOException if {@code file} is not a Parquet file of the schema of the files before
     */
    @Override
    public void addElement(byte[] file) throws IOException {
      FileMetaData metadata = ParquetFooter.read("a file in memory", file);
      if (schema == null) {
        out.write(ParquetFooter.magic());
        schema = metadata.getSchema();
      } else if (!schema.equals(metadata.getSchema())) {
        throw new IOException(
            "expected a file of the columns " + schema + ", got " + metadata.getSchema());
      }
      for (RowGroup rowGroup : metadata.getRow_groups()) {
        long start = ParquetFooter.offset(rowGroup);
        long offset = out.getPos();
        out.write(file, (int) start, (int) rowGroup.getTotal_compressed_size());
        ParquetFooter.move(rowGroup, offset - start);
        rowGroups.add(rowGroup);
      }
    }

    @Override
    public void flush() throws IOException {
      out.flush();
    }

    @Override
    public void finish() throws IOException {
      if (schema != null) {
        ParquetFooter.write(out, schema, rowGroups);
      }
      out.flush();
    }
  }
}

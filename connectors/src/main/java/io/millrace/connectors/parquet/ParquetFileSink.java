// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Schema;
import io.millrace.connectors.files.sink.EncodedFileSink;
import io.millrace.connectors.files.sink.FileRollingPolicy;
import io.millrace.operators.batch.ColumnBatch;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;

/**
 * Ends a stream in Parquet files, exactly once, with Flink's {@link
 * org.apache.flink.connector.file.sink.FileSink}: each checkpoint closes a subtask's file, which
 * appears under its final name ({@code part-...parquet}) when the checkpoint is complete.
 */
@PublicEvolving
public final class ParquetFileSink {
  private ParquetFileSink() {}

  /** Writes batches with the default options, in files that checkpoints alone close. */
  public static DataStreamSink<byte[]> write(
      DataStream<ColumnBatch> batches, Schema schema, Path folder) {
    return write(
        batches, schema, folder, ParquetWriterOptions.DEFAULT, FileRollingPolicy.ON_CHECKPOINT);
  }

  /**
   * Writes batches.
   *
   * @param schema of the batches
   * @param rolling when a file is closed before the next checkpoint; sizes count whole row groups
   */
  public static DataStreamSink<byte[]> write(
      DataStream<ColumnBatch> batches,
      Schema schema,
      Path folder,
      ParquetWriterOptions options,
      FileRollingPolicy rolling) {
    return ParquetEncodingOperator.encode(batches, schema, options)
        .sinkTo(EncodedFileSink.create(folder, ".parquet", ParquetFileWriter::new, rolling))
        .name("Parquet files");
  }
}

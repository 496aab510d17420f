// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.arrow;

import io.millrace.column.Schema;
import io.millrace.connectors.files.InputFiles;
import io.millrace.connectors.files.message.MessageDecodingOperator;
import io.millrace.connectors.files.message.MessageRows;
import io.millrace.connectors.files.scan.FileScanOptions;
import io.millrace.operators.batch.ColumnBatch;
import java.io.IOException;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Reads files that are Arrow IPC streams as batches, each row exactly once. */
@PublicEvolving
public final class ArrowFileSource {
  private ArrowFileSource() {}

  /**
   * A bounded stream of the files' record batches, in the memory of the operator's device. A record
   * batch comes in parts where the operators behind would take longer than 100 ms for it, so that
   * checkpoints get in between, as in {@link io.millrace.operators.batching.BatchOptions}; where
   * the result is not chained to the source (operator chaining is off) it does not.
   *
   * @param paths files, directories or globs; see {@link InputFiles#resolve}
   * @param schema of all files; a job fails at a file that has another
   * @throws java.io.FileNotFoundException naming every path without files
   */
  public static SingleOutputStreamOperator<ColumnBatch> batches(
      StreamExecutionEnvironment environment, List<String> paths, Schema schema)
      throws IOException {
    return batches(environment, InputFiles.resolve(paths), schema, FileScanOptions.DEFAULT);
  }

  /**
   * As the other method, for what a query reads of files that were found: without a filter of rows.
   *
   * @param files files and directories, at least one
   */
  @Internal
  public static SingleOutputStreamOperator<ColumnBatch> batches(
      StreamExecutionEnvironment environment,
      List<Path> files,
      Schema schema,
      FileScanOptions scan) {
    FileSource<MessageRows> source =
        FileSource.forBulkFileFormat(new ArrowFileFormat(schema), files.toArray(Path[]::new))
            .build();
    return MessageDecodingOperator.decode(
        environment.fromSource(source, WatermarkStrategy.noWatermarks(), "Arrow files"),
        new ArrowMessageDecoder(schema),
        schema,
        scan);
  }

  /**
   * The schema of one file.
   *
   * @throws IOException if the file cannot be read or does not start with a schema
   */
  public static Schema readSchema(Path file) throws IOException {
    try (ArrowMessageReader reader = ArrowFileFormat.open(file)) {
      return reader.readSchema();
    }
  }
}

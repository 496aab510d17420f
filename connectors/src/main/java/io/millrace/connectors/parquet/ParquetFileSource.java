// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Schema;
import io.millrace.connectors.files.ByteRangeFileEnumerator;
import io.millrace.connectors.files.InputFiles;
import io.millrace.connectors.files.message.MessageDecodingOperator;
import io.millrace.connectors.files.message.MessageRows;
import io.millrace.connectors.files.scan.FileScanOptions;
import io.millrace.expression.Expression;
import io.millrace.format.RecordFilter;
import io.millrace.operators.batch.ColumnBatch;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.flink.annotation.Internal;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Reads Parquet files as batches, each row exactly once. */
@PublicEvolving
public final class ParquetFileSource {
  private ParquetFileSource() {}

  /**
   * A bounded stream of the rows of files, in the memory of the operator's device. Subtasks read
   * row groups side by side; each is read and decoded as a whole, and sent in parts where the
   * operators behind would take longer than 100 ms for it, so that checkpoints get in between.
   *
   * @param paths files, directories or globs; see {@link InputFiles#resolve}
   * @param schema the columns to read, and no others are; files may have them in another order. A
   *     job fails at a file that lacks a column or has one of another type
   * @param condition row groups are left out if their statistics tell that it holds for none of
   *     their rows; rows are not filtered
   * @throws java.io.FileNotFoundException naming every path without files
   */
  public static SingleOutputStreamOperator<ColumnBatch> batches(
      StreamExecutionEnvironment environment,
      List<String> paths,
      Schema schema,
      Optional<Expression> condition)
      throws IOException {
    return batches(
        environment, InputFiles.resolve(paths), schema, condition, FileScanOptions.DEFAULT);
  }

  /**
   * As the other method, for what a query reads of files that were found. The filter of rows leaves
   * out row groups alone.
   *
   * @param files files and directories, at least one
   */
  @Internal
  public static SingleOutputStreamOperator<ColumnBatch> batches(
      StreamExecutionEnvironment environment,
      List<Path> files,
      Schema schema,
      FileScanOptions scan) {
    return batches(environment, files, schema, scan.filter().map(RecordFilter::condition), scan);
  }

  private static SingleOutputStreamOperator<ColumnBatch> batches(
      StreamExecutionEnvironment environment,
      List<Path> files,
      Schema schema,
      Optional<Expression> condition,
      FileScanOptions scan) {
    RowGroupFilter filter = condition.map(RowGroupFilter::of).orElse(RowGroupFilter.all());
    FileSource<MessageRows> source =
        FileSource.forBulkFileFormat(
                new ParquetFileFormat(schema, filter), files.toArray(Path[]::new))
            .setFileEnumerator(ByteRangeFileEnumerator::new)
            .build();
    return MessageDecodingOperator.decode(
        environment.fromSource(source, WatermarkStrategy.noWatermarks(), "Parquet files"),
        new ParquetMessageDecoder(schema),
        schema,
        scan);
  }

  /**
   * All columns of one file.
   *
   * @param file a file, or a directory, of which the first file counts that is not hidden
   * @throws IOException if the file cannot be read, or has a column whose values no column holds;
   *     the message names both
   */
  public static Schema readSchema(Path file) throws IOException {
    FileStatus status = firstFile(file);
    Path path = status.getPath();
    try (FSDataInputStream input = path.getFileSystem().open(path)) {
      return ParquetSchema.of(
              ParquetFooter.read(path.toString(), input, status.getLen()).getSchema())
          .tableSchema();
    } catch (IllegalArgumentException e) {
      throw new IOException(path + ": " + e.getMessage(), e);
    }
  }

  private static FileStatus firstFile(Path path) throws IOException {
    FileStatus status = path.getFileSystem().getFileStatus(path);
    if (!status.isDir()) {
      return status;
    }
    for (Path child : InputFiles.resolve(List.of(path + "/*"))) {
      FileStatus found = child.getFileSystem().getFileStatus(child);
      if (!found.isDir()) {
        return found;
      }
    }
    throw new java.io.FileNotFoundException(path + " has no files");
  }
}

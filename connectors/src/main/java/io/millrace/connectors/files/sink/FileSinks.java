// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import io.millrace.column.Schema;
import io.millrace.connectors.files.MalformedLine;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.FileEncoder;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.connectors.formats.RecordEncoder;
import io.millrace.connectors.formats.TableEncoder;
import io.millrace.operators.batch.ColumnBatch;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;

/** Ends a stream in files. All of them are exactly once; see {@link EncodedFileSink}. */
@PublicEvolving
public final class FileSinks {
  private FileSinks() {}

  /** Writes batches as {@link #write(DataStream, Schema, RecordEncoder, Path, FileSinkOptions)}. */
  public static DataStreamSink<?> write(
      DataStream<ColumnBatch> batches, Schema schema, RecordEncoder encoder, Path folder) {
    return write(batches, schema, encoder, folder, FileSinkOptions.DEFAULT);
  }

  /**
   * Writes batches as records of a format: {@link JsonLinesEncoder} or {@link CsvEncoder}.
   *
   * @param schema of the batches
   * @throws IllegalArgumentException if {@code encoder} cannot write rows of {@code schema}, or as
   *     {@link PartitionKeys#columnsOfFiles}
   */
  public static DataStreamSink<?> write(
      DataStream<ColumnBatch> batches,
      Schema schema,
      RecordEncoder encoder,
      Path folder,
      FileSinkOptions options) {
    return write(
        batches, schema, encoder, folder, options, EncodedOutput.of(options.partitionKeys()));
  }

  private static <T> DataStreamSink<T> write(
      DataStream<ColumnBatch> batches,
      Schema schema,
      RecordEncoder encoder,
      Path folder,
      FileSinkOptions options,
      EncodedOutput<T> form) {
    DataStream<T> encoded = RecordEncodingOperator.encode(batches, schema, encoder, form);
    return sink(encoded, schema, encoder, folder, options, form);
  }

  /** Writes batches as {@link #write(DataStream, Schema, TableEncoder, Path, FileSinkOptions)}. */
  public static DataStreamSink<?> write(
      DataStream<ColumnBatch> batches, Schema schema, TableEncoder encoder, Path folder) {
    return write(batches, schema, encoder, folder, FileSinkOptions.DEFAULT);
  }

  /**
   * Writes batches in another format: {@link ArrowStreamEncoder}. Compaction joins streams, whose
   * record batches stay as large as they are.
   *
   * @param schema of the batches
   */
  public static DataStreamSink<?> write(
      DataStream<ColumnBatch> batches,
      Schema schema,
      TableEncoder encoder,
      Path folder,
      FileSinkOptions options) {
    return write(
        batches, schema, encoder, folder, options, EncodedOutput.of(options.partitionKeys()));
  }

  private static <T> DataStreamSink<T> write(
      DataStream<ColumnBatch> batches,
      Schema schema,
      TableEncoder encoder,
      Path folder,
      FileSinkOptions options,
      EncodedOutput<T> form) {
    DataStream<T> encoded = EncodingOperator.encode(batches, encoder, form);
    return sink(encoded, schema, encoder, folder, options, form);
  }

  private static <T> DataStreamSink<T> sink(
      DataStream<T> encoded,
      Schema schema,
      FileEncoder encoder,
      Path folder,
      FileSinkOptions options,
      EncodedOutput<T> form) {
    Schema files = form.keys().columnsOfFiles(schema);
    byte[] start = encoder.fileStart(files);
    byte[] end = encoder.fileEnd();
    String suffix = encoder.fileSuffix();
    return encoded
        .sinkTo(
            form.sink(
                folder,
                suffix,
                new EncodedFileSink.WriterFactory(start, end),
                EncodedFileSink.compactor(suffix, start, end),
                options))
        .name("files");
  }

  /** Writes lines as {@link #malformedLines(DataStream, Path, FileSinkOptions)}. */
  public static DataStreamSink<byte[]> malformedLines(
      DataStream<MalformedLine> lines, Path folder) {
    return malformedLines(lines, folder, FileSinkOptions.DEFAULT);
  }

  /**
   * Writes malformed lines as JSON lines of {@code path}, {@code offset}, {@code reason} and {@code
   * text}, in which bytes that are not UTF-8 are replaced.
   */
  public static DataStreamSink<byte[]> malformedLines(
      DataStream<MalformedLine> lines, Path folder, FileSinkOptions options) {
    return lines
        .map(MalformedLine::toJson)
        .returns(PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)
        .name("encode malformed lines")
        .sinkTo(EncodedFileSink.create(folder, ".jsonl", options))
        .name("malformed lines files");
  }
}

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
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;

/** Ends a stream in files. All of them are exactly once; see {@link EncodedFileSink}. */
@PublicEvolving
public final class FileSinks {
  private FileSinks() {}

  /** Writes batches as {@link #write(DataStream, Schema, RecordEncoder, Path, FileSinkOptions)}. */
  public static DataStreamSink<byte[]> write(
      DataStream<ColumnBatch> batches, Schema schema, RecordEncoder encoder, Path folder) {
    return write(batches, schema, encoder, folder, FileSinkOptions.DEFAULT);
  }

  /**
   * Writes batches as records of a format: {@link JsonLinesEncoder} or {@link CsvEncoder}.
   *
   * @param schema of the batches
   * @throws IllegalArgumentException if {@code encoder} cannot write rows of {@code schema}
   */
  public static DataStreamSink<byte[]> write(
      DataStream<ColumnBatch> batches,
      Schema schema,
      RecordEncoder encoder,
      Path folder,
      FileSinkOptions options) {
    return sink(
        RecordEncodingOperator.encode(batches, schema, encoder), schema, encoder, folder, options);
  }

  /** Writes batches as {@link #write(DataStream, Schema, TableEncoder, Path, FileSinkOptions)}. */
  public static DataStreamSink<byte[]> write(
      DataStream<ColumnBatch> batches, Schema schema, TableEncoder encoder, Path folder) {
    return write(batches, schema, encoder, folder, FileSinkOptions.DEFAULT);
  }

  /**
   * Writes batches in another format: {@link ArrowStreamEncoder}. Compaction joins streams, whose
   * record batches stay as large as they are.
   *
   * @param schema of the batches
   */
  public static DataStreamSink<byte[]> write(
      DataStream<ColumnBatch> batches,
      Schema schema,
      TableEncoder encoder,
      Path folder,
      FileSinkOptions options) {
    return sink(EncodingOperator.encode(batches, encoder), schema, encoder, folder, options);
  }

  private static DataStreamSink<byte[]> sink(
      DataStream<byte[]> encoded,
      Schema schema,
      FileEncoder encoder,
      Path folder,
      FileSinkOptions options) {
    FileSink<byte[]> sink =
        EncodedFileSink.create(
            folder, encoder.fileSuffix(), encoder.fileStart(schema), encoder.fileEnd(), options);
    return encoded.sinkTo(sink).name("files");
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

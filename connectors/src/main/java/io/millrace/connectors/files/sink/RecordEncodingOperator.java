// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.formats.RecordEncoder;
import io.millrace.device.HostMemory;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordWriter;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.DownloadQueue;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Writes each batch as records on the operator's device and copies their bytes to the host: what
 * stands before a {@link EncodedFileSink}, which knows nothing of batches and their release.
 *
 * @param <OUT> the output of the operator
 */
@PublicEvolving
public final class RecordEncodingOperator<OUT> extends FileEncodingOperator<OUT> {
  private static final long serialVersionUID = 1L;
  private static final Schema RECORDS = Schema.of(new Field("record", DataType.BINARY, false));

  private final RecordEncoder encoder;
  private transient Schema schema;
  private transient RecordWriter writer;

  private RecordEncodingOperator(
      StreamOperatorParameters<OUT> parameters, RecordEncoder encoder, EncodedOutput<OUT> form) {
    super(parameters, form);
    this.encoder = encoder;
  }

  /**
   * Appends the operator to {@code batches}, with their parallelism.
   *
   * @param schema of the batches
   * @throws IllegalArgumentException if {@code encoder} cannot write rows of {@code schema}
   */
  public static SingleOutputStreamOperator<byte[]> encode(
      DataStream<ColumnBatch> batches, Schema schema, RecordEncoder encoder) {
    return encode(batches, schema, encoder, EncodedOutput.BYTES);
  }

  static <T> SingleOutputStreamOperator<T> encode(
      DataStream<ColumnBatch> batches,
      Schema schema,
      RecordEncoder encoder,
      EncodedOutput<T> form) {
    encoder.checkSupported(form.keys().columnsOfFiles(schema));
    @SuppressWarnings("unchecked") // the class of a generic type
    Class<RecordEncodingOperator<T>> operatorClass =
        (Class<RecordEncodingOperator<T>>) (Class<?>) RecordEncodingOperator.class;
    OperatorFactory<ColumnBatch, T> factory =
        new OperatorFactory<>(
            operatorClass, parameters -> new RecordEncodingOperator<>(parameters, encoder, form));
    return factory.appendWithParallelism(batches, "encode batches", form.type());
  }

  @Override
  protected void encode(
      String folder, ColumnBatch rows, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    Table table = rows.table();
    if (table.rowCount() > 0) {
      openWriter(table.schema());
      deviceContext()
          .retry()
          .withSplitAndRetry(
              table, this::write, records -> add(folder, records, element, downloads));
    }
  }

  // The schema of batches may say NOT NULL where that of the stream does not.
  private void openWriter(Schema ofBatch) {
    if (ofBatch.equals(schema)) {
      return;
    }
    if (writer != null) {
      writer.close();
    }
    schema = ofBatch;
    writer = encoder.createWriter(schema, deviceContext().stream(), deviceContext().resource());
  }

  private ColumnBatch write(Table table) {
    try (RecordBytes records = writer.write(table)) {
      Column column = records.toColumn();
      return new ColumnBatch(new Table(RECORDS, List.of(column), records.count()));
    }
  }

  private void add(
      String folder,
      ColumnBatch records,
      StreamRecord<ColumnBatch> element,
      DownloadQueue downloads) {
    try {
      downloads.add(records, table -> send(folder, table, element));
    } finally {
      records.release();
    }
  }

  private void send(String folder, Table records, StreamRecord<ColumnBatch> element) {
    send(folder, deviceContext().retry().withHostRetry(() -> bytes(records)), element);
  }

  private byte[] bytes(Table records) {
    try (AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
      ColumnReader reader = new ColumnReader(records.column(0), scope);
      byte[] bytes = new byte[reader.getOffset(records.rowCount()) - reader.getOffset(0)];
      HostMemory.copyToArray(bytes, 0, reader.getBytesAddress(0), bytes.length);
      return bytes;
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(writer, super::close);
  }
}

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
import io.millrace.operators.transfer.DownloadingOperator;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Writes each batch as records on the operator's device and copies their bytes to the host: what
 * stands before a {@link EncodedFileSink}, which knows nothing of batches and their release.
 */
@PublicEvolving
public final class RecordEncodingOperator extends DownloadingOperator<byte[]> {
  private static final long serialVersionUID = 1L;
  private static final Schema RECORDS = Schema.of(new Field("record", DataType.BINARY, false));

  private final RecordEncoder encoder;
  private transient Schema schema;
  private transient RecordWriter writer;

  private RecordEncodingOperator(
      StreamOperatorParameters<byte[]> parameters, RecordEncoder encoder) {
    super(parameters);
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
    encoder.checkSupported(schema);
    OperatorFactory<ColumnBatch, byte[]> factory =
        new OperatorFactory<>(
            RecordEncodingOperator.class,
            parameters -> new RecordEncodingOperator(parameters, encoder));
    return factory.appendWithParallelism(
        batches, "encode batches", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
  }

  @Override
  protected void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    Table table = batch.table();
    if (table.rowCount() > 0) {
      openWriter(table.schema());
      deviceContext()
          .retry()
          .withSplitAndRetry(table, this::write, records -> add(records, element, downloads));
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
      ColumnBatch records, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    try {
      downloads.add(records, table -> send(table, element));
    } finally {
      records.release();
    }
  }

  private void send(Table records, StreamRecord<ColumnBatch> element) {
    byte[] bytes = deviceContext().retry().withHostRetry(() -> bytes(records));
    output.collect(element.copy(null).replace(bytes));
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

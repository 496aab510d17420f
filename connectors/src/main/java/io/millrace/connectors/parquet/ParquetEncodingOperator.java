// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transfer.DownloadingOperator;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Copies batches to the host and encodes them as row groups, each of which leaves as a Parquet file
 * in memory. A row group ends when it is full, before a checkpoint and at the end of the input;
 * watermarks pass.
 */
final class ParquetEncodingOperator extends DownloadingOperator<byte[]> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final ParquetWriterOptions options;
  private transient RowGroupWriter rowGroup;

  ParquetEncodingOperator(
      StreamOperatorParameters<byte[]> parameters, Schema schema, ParquetWriterOptions options) {
    super(parameters);
    this.schema = schema;
    this.options = options;
  }

  static SingleOutputStreamOperator<byte[]> encode(
      DataStream<ColumnBatch> batches, Schema schema, ParquetWriterOptions options) {
    OperatorFactory<ColumnBatch, byte[]> factory =
        new OperatorFactory<>(
            ParquetEncodingOperator.class,
            parameters -> new ParquetEncodingOperator(parameters, schema, options));
    return factory.appendWithParallelism(
        batches, "encode row groups", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
  }

  @Override
  public void open() throws Exception {
    super.open();
    rowGroup = new RowGroupWriter(schema, options);
  }

  @Override
  protected void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    downloads.add(batch, this::add);
  }

  private void add(Table table) {
    if (table.rowCount() == 0) {
      return;
    }
    deviceContext()
        .retry()
        .withHostRetry(
            () -> {
              try (AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
                rowGroup.add(table, scope);
                return table;
              }
            });
    if (rowGroup.isFull()) {
      emitRowGroup();
    }
  }

  private void emitRowGroup() {
    if (rowGroup.isEmpty()) {
      return;
    }
    try {
      byte[] file = rowGroup.finish();
      rowGroup = new RowGroupWriter(schema, options);
      output.collect(new StreamRecord<>(file));
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    super.prepareSnapshotPreBarrier(checkpointId);
    emitRowGroup();
  }

  @Override
  public void endInput() throws Exception {
    super.endInput();
    emitRowGroup();
  }
}

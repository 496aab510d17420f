// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.nio.ByteBuffer;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/** Turns blocks of rows of COPY into batches in the memory of the operator's device. */
@Internal
public final class CopyDecodingOperator extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<byte[], ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private transient DeviceContext deviceContext;
  private transient HostTransfer transfer;
  private transient CopyBinaryDecoder decoder;

  private CopyDecodingOperator(StreamOperatorParameters<ColumnBatch> parameters, Schema schema) {
    super(parameters);
    this.schema = schema;
  }

  /**
   * Appends the operator to {@code blocks}.
   *
   * @param schema of the blocks' rows
   */
  public static SingleOutputStreamOperator<ColumnBatch> decode(
      DataStream<byte[]> blocks, Schema schema) {
    OperatorFactory<byte[], ColumnBatch> factory =
        new OperatorFactory<>(
            CopyDecodingOperator.class, parameters -> new CopyDecodingOperator(parameters, schema));
    return factory.appendTo(blocks, "decode batches", new ColumnBatchTypeInformation(schema));
  }

  @Override
  public void open() throws Exception {
    super.open();
    deviceContext = DeviceContext.open(this);
    output = deviceContext.countRows(this, output);
    transfer = new HostTransfer(deviceContext);
    decoder = new CopyBinaryDecoder(transfer.tableBuilder(schema));
  }

  @Override
  public void processElement(StreamRecord<byte[]> element) {
    ByteBuffer block = ByteBuffer.wrap(element.getValue());
    Table host = deviceContext.retry().withHostRetry(() -> decoder.decode(block));
    transfer.toDevice(
        host,
        table -> ColumnBatch.emit(element.copy(null).replace(new ColumnBatch(table)), output));
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(decoder, transfer, deviceContext, super::close);
  }
}

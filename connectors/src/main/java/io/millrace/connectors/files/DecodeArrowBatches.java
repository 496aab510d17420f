package io.millrace.connectors.files;

import io.millrace.arrow.ArrowRecordBatchReader;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.DeviceContext;
import io.millrace.operators.batch.HostTransfer;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/** Turns Arrow IPC record batch messages into batches in the memory of the operator's device. */
final class DecodeArrowBatches extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<byte[], ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private transient ArrowRecordBatchReader reader;
  private transient DeviceContext deviceContext;
  private transient HostTransfer transfer;

  DecodeArrowBatches(StreamOperatorParameters<ColumnBatch> parameters, Schema schema) {
    super(parameters);
    this.schema = schema;
  }

  @Override
  public void open() throws Exception {
    super.open();
    reader = new ArrowRecordBatchReader(schema);
    deviceContext = DeviceContext.open(this);
    output = deviceContext.countRows(this, output);
    transfer = new HostTransfer(deviceContext);
  }

  @Override
  public void processElement(StreamRecord<byte[]> element) throws IOException {
    try {
      Table host = deviceContext.retry().withHostRetry(() -> decode(element.getValue()));
      transfer.toDevice(
          host,
          table -> ColumnBatch.emit(element.copy(null).replace(new ColumnBatch(table)), output));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private Table decode(byte[] bytes) {
    DeviceContext context = deviceContext;
    try (Buffer message =
        Buffer.allocate(bytes.length, context.hostStream(), context.pinnedResource())) {
      try (AccessScope scope = AccessScope.on(context.hostStream())) {
        HostMemory.copyFromArray(message.access(AccessMode.WRITE, scope), bytes, 0, bytes.length);
      }
      return reader.read(message, context.hostStream(), context.pinnedResource());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(transfer, deviceContext, super::close);
  }
}

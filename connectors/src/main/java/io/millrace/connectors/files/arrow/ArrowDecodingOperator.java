// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.arrow;

import io.millrace.arrow.ipc.ArrowRecordBatchReader;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.SendPace;
import io.millrace.operators.transfer.HostTransfer;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Turns rows of Arrow IPC record batch messages into batches in the memory of the operator's
 * device. A message that comes in parts is decoded once.
 */
final class ArrowDecodingOperator extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<ArrowRows, ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private transient ArrowRecordBatchReader reader;
  private transient DeviceContext deviceContext;
  private transient HostTransfer transfer;
  private transient SendPace pace;
  // For the message whose parts arrive; null if none is open.
  private transient byte[] message;
  private transient Table decoded;

  ArrowDecodingOperator(StreamOperatorParameters<ColumnBatch> parameters, Schema schema) {
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
    pace = deviceContext.sendPace();
  }

  @Override
  public void processElement(StreamRecord<ArrowRows> element) throws IOException {
    ArrowRows rows = element.getValue();
    try {
      Table host = take(rows);
      pace.send(
          rows.rows(),
          () ->
              transfer.toDevice(
                  host,
                  table ->
                      ColumnBatch.emit(
                          element.copy(null).replace(new ColumnBatch(table)), output)));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    rows.limit().set(pace.rowLimit());
  }

  /** The rows as a table in host memory, which the caller owns. */
  private Table take(ArrowRows rows) {
    if (message != rows.message()) {
      closeMessage();
      decoded = deviceContext.retry().withHostRetry(() -> decode(rows.message()));
      message = rows.message();
    }
    boolean isWhole = rows.rows() == decoded.rowCount();
    Table part = isWhole ? decoded.share() : decoded.slice(rows.firstRow(), rows.rows());
    if (rows.firstRow() + rows.rows() == decoded.rowCount()) {
      closeMessage();
    }
    return part;
  }

  private void closeMessage() {
    message = null;
    if (decoded != null) {
      Table closed = decoded;
      decoded = null;
      closed.close();
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
    IOUtils.closeAll(this::closeMessage, transfer, deviceContext, super::close);
  }
}

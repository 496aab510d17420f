// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.message;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.scan.FileScanOptions;
import io.millrace.connectors.files.scan.PartitionColumnAppender;
import io.millrace.connectors.files.scan.PartitionColumns;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.context.SendPace;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Supplier;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Turns rows of messages into batches in the memory of the operator's device. A message that comes
 * in parts is decoded once.
 */
@Internal
public final class MessageDecodingOperator extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<MessageRows, ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final MessageDecoder decoder;
  private final PartitionColumns partitionColumns;
  private final long limit;
  private transient DeviceContext deviceContext;
  private transient HostTransfer transfer;
  private transient SendPace pace;
  private transient PartitionColumnAppender appender;
  private transient boolean isOnDevice;
  private transient long sentRows;
  // For the message whose parts arrive; null if none is open.
  private transient byte[] message;
  private transient Table decoded;

  MessageDecodingOperator(
      StreamOperatorParameters<ColumnBatch> parameters,
      MessageDecoder decoder,
      PartitionColumns partitionColumns,
      long limit) {
    super(parameters);
    this.decoder = decoder;
    this.partitionColumns = partitionColumns;
    this.limit = limit;
  }

  /**
   * Appends the operator to {@code messages}, with which it must be chained to tell how many rows
   * the parts are to have.
   *
   * @param schema of all tables that {@code decoder} gives
   * @param scan without a filter of rows
   */
  public static SingleOutputStreamOperator<ColumnBatch> decode(
      DataStream<MessageRows> messages,
      MessageDecoder decoder,
      Schema schema,
      FileScanOptions scan) {
    PartitionColumns partitionColumns = scan.partitionColumns();
    long limit = scan.limit();
    OperatorFactory<MessageRows, ColumnBatch> factory =
        new OperatorFactory<>(
            MessageDecodingOperator.class,
            parameters ->
                new MessageDecodingOperator(parameters, decoder, partitionColumns, limit));
    return factory.appendWithParallelism(
        messages,
        "decode batches",
        new ColumnBatchTypeInformation(partitionColumns.appendedTo(schema)));
  }

  @Override
  public void open() throws Exception {
    super.open();
    deviceContext = DeviceContext.open(this);
    output = deviceContext.countRows(this, output);
    transfer = new HostTransfer(deviceContext);
    pace = deviceContext.sendPace();
    appender = new PartitionColumnAppender(partitionColumns, deviceContext);
    isOnDevice = decoder.isOnDevice(deviceContext.device());
  }

  @Override
  public void processElement(StreamRecord<MessageRows> element) throws IOException {
    MessageRows rows = element.getValue();
    if (sentRows >= limit) {
      rows.limit().end();
      return;
    }
    sentRows += rows.rows();
    try {
      Table part = take(rows);
      if (sentRows >= limit) {
        rows.limit().end();
        closeMessage();
      }
      pace.send(
          rows.rows(),
          () -> {
            if (isOnDevice) {
              emit(part, element);
            } else {
              transfer.toDevice(part, table -> emit(table, element));
            }
          });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    rows.limit().set(pace.rowLimit());
  }

  private void emit(Table table, StreamRecord<MessageRows> element) {
    try (table) {
      String path = element.getValue().path();
      deviceContext
          .retry()
          .withSplitAndRetry(
              table,
              part -> appender.append(part, path),
              rows -> ColumnBatch.emit(element.copy(null).replace(new ColumnBatch(rows)), output));
    }
  }

  /** The rows as a table where the decoder makes it, which the caller owns. */
  private Table take(MessageRows rows) {
    if (message != rows.message()) {
      closeMessage();
      Supplier<Table> attempt = () -> decode(rows.message());
      decoded =
          isOnDevice
              ? deviceContext.retry().withRetry(attempt)
              : deviceContext.retry().withHostRetry(attempt);
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
    try {
      return decoder.decode(bytes, deviceContext);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(this::closeMessage, appender, transfer, deviceContext, super::close);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.RowCounter;
import io.millrace.operators.wire.ColumnBatchSerializer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * The base of operators that take batches. It keeps the rules of {@link ColumnBatch} in one place:
 * a subclass borrows its input, and sends batches with {@link ColumnBatch#emit}, outside of any
 * attempt of its retry. At the head of a chain it releases its input, after moving it from the
 * network to the device; a batch that does not fit the device is processed as several batches. It
 * also holds the operator's {@link DeviceContext} from {@link #open} to {@link #close}, and lets
 * Flink count rows as records.
 *
 * @param <OUT> the output of the operator
 */
@PublicEvolving
public abstract class ColumnBatchOperator<OUT> extends FlushingOperator<OUT>
    implements OneInputStreamOperator<ColumnBatch, OUT> {
  private static final long serialVersionUID = 1L;

  private transient DeviceContext deviceContext;
  private transient HostTransfer transfer;
  private transient RowCounter inputRows;
  private transient boolean ownsInput;

  protected ColumnBatchOperator(StreamOperatorParameters<OUT> parameters) {
    super(parameters);
  }

  @Override
  public void open() throws Exception {
    super.open();
    openDeviceContext();
    transfer = new HostTransfer(deviceContext);
    // Only the head of a chain gets deserialized batches, which no emitter releases.
    ownsInput = getOperatorConfig().isChainStart();
    inputRows = deviceContext.closeLater(RowCounter.ofInput(this));
    if (sendsBatches()) {
      countOutputRows();
    }
  }

  /**
   * Opens the {@link #deviceContext}, if it is not open yet: for an operator that needs it before
   * {@link #open}.
   */
  protected final DeviceContext openDeviceContext() {
    if (deviceContext == null) {
      deviceContext = DeviceContext.open(this);
    }
    return deviceContext;
  }

  private boolean sendsBatches() {
    TypeSerializer<?> serializer =
        getOperatorConfig().getTypeSerializerOut(getUserCodeClassloader());
    return serializer instanceof ColumnBatchSerializer;
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // OUT is ColumnBatch
  private void countOutputRows() {
    output = deviceContext.countRows(this, (Output) output);
  }

  /** The operator's device, stream, memory and retry, between {@link #open} and {@link #close}. */
  protected final DeviceContext deviceContext() {
    return deviceContext;
  }

  @Override
  public final void processElement(StreamRecord<ColumnBatch> element) throws Exception {
    ColumnBatch batch = element.getValue();
    if (!ownsInput) {
      inputRows.count(batch.table());
      processBatch(batch, element);
      return;
    }
    try {
      inputRows.count(deviceContext.retry().withHostRetry(batch::tableWithEventTimes));
      if (takesHostBatches()) {
        processBatch(batch, element);
      } else {
        transfer.toDevice(
            batch.tableWithEventTimes().share(),
            ThrowingConsumer.unchecked(table -> processOwned(batch.withTable(table), element)));
      }
    } finally {
      batch.release();
    }
  }

  private void processOwned(ColumnBatch batch, StreamRecord<ColumnBatch> element) throws Exception {
    try {
      processBatch(batch, element.copy(batch));
    } finally {
      batch.release();
    }
  }

  /**
   * Whether {@link #processBatch} takes batches from the network in host memory, as they were
   * deserialized. Other batches are always in device memory.
   */
  protected boolean takesHostBatches() {
    return false;
  }

  /**
   * Processes one borrowed batch, on the device: {@linkplain ColumnBatch#retain retain} it to keep
   * it after this returns.
   *
   * @param element the record that carries {@code batch}, for its timestamp
   */
  protected abstract void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element)
      throws Exception;

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(transfer, deviceContext, super::close);
  }
}

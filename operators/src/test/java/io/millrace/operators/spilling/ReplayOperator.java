// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.spilling;

import io.millrace.device.DeviceKind;
import io.millrace.memory.SpillTier;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.accumulators.LongMaximum;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Keeps every batch until the input ends and then sends them on, in the order in which they came.
 * The accumulators say how much the job held and spilled.
 */
final class ReplayOperator extends ColumnBatchOperator<ColumnBatch> implements BoundedOneInput {
  /** Bytes of all tables that were kept, on the device or spilled. */
  static final String LIVE_BYTES = "live bytes";

  /** Bytes that went from the device to host memory. */
  static final String TO_HOST_BYTES = "bytes spilled to host";

  /** Bytes that went from the device or from host memory to disk. */
  static final String TO_DISK_BYTES = "bytes spilled to disk";

  /** Bytes that came back to the device. */
  static final String TO_DEVICE_BYTES = "bytes brought back";

  /** When the first subtask began to replay. */
  static final String REPLAY_NANOS = "begin of replay";

  private static final long serialVersionUID = 1L;

  private final transient Queue<StreamRecord<ColumnBatch>> kept = new ArrayDeque<>();
  private transient long keptBytes;

  private ReplayOperator(StreamOperatorParameters<ColumnBatch> parameters) {
    super(parameters);
  }

  /** The batches of {@code batches}, all after the end of the input. */
  static SingleOutputStreamOperator<ColumnBatch> replay(DataStream<ColumnBatch> batches) {
    OperatorFactory<ColumnBatch, ColumnBatch> factory =
        new OperatorFactory<>(ReplayOperator.class, ReplayOperator::new);
    return factory
        .appendTo(batches, "replay", batches.getType())
        .setParallelism(batches.getParallelism());
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    ColumnBatch spillable = spillable(batch);
    kept.add(element.copy(spillable));
    keptBytes += spillable.table().sizeInBytes();
  }

  // On the host device, batches from the network stay in memory that cannot be spilled.
  private ColumnBatch spillable(ColumnBatch batch) {
    DeviceContext context = deviceContext();
    return context.device().kind() == DeviceKind.CUDA
        ? batch.retain()
        : new ColumnBatch(
            batch.table().copyTo(context.resource(), context.stream(), context.stream()));
  }

  @Override
  public void endInput() {
    SpillQuota quota = deviceContext().resource().quota();
    getRuntimeContext().addAccumulator(LIVE_BYTES, new LongCounter(keptBytes));
    // The maximum of negated times is the first.
    add(REPLAY_NANOS, -System.nanoTime());
    while (!kept.isEmpty()) {
      ColumnBatch.emit(kept.remove(), output);
    }
    SpillStatistics statistics = quota.statistics();
    add(TO_HOST_BYTES, statistics.bytes(SpillTier.DEVICE, SpillTier.HOST));
    add(
        TO_DISK_BYTES,
        statistics.bytes(SpillTier.DEVICE, SpillTier.DISK)
            + statistics.bytes(SpillTier.HOST, SpillTier.DISK));
    add(
        TO_DEVICE_BYTES,
        statistics.bytes(SpillTier.HOST, SpillTier.DEVICE)
            + statistics.bytes(SpillTier.DISK, SpillTier.DEVICE));
  }

  // The subtasks of a job in one process quota what they count.
  private void add(String name, long value) {
    getRuntimeContext().addAccumulator(name, new LongMaximum(value));
  }

  @Override
  public void close() throws Exception {
    kept.forEach(element -> element.getValue().release());
    kept.clear();
    super.close();
  }
}

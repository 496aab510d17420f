// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster.job;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * As {@link BatchedRows}, with long rows, whose batches are all held from one checkpoint to the
 * next.
 *
 * <p>Takes the arguments of {@link BatchedRows}.
 */
public final class HeldRows {
  /** How often the text of a row says the row's number: about 2 KiB. */
  public static final int REPETITIONS = 256;

  private static final Duration BATCH_LATENCY = Duration.ofMillis(100);

  private static final int BATCH_ROWS = 50;

  private HeldRows() {}

  public static void main(String[] arguments) throws Exception {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    DataStream<ColumnBatch> batches =
        BatchedRows.batches(
            environment,
            arguments,
            BatchOptions.latency(BATCH_LATENCY).withRows(1, BATCH_ROWS),
            REPETITIONS);
    OperatorFactory<ColumnBatch, ColumnBatch> hold =
        new OperatorFactory<>(HoldOperator.class, HoldOperator::new);
    BatchedRows.writeByKey(
        hold.appendTo(batches, "hold", batches.getType()).uid("hold"), arguments[2]);
    environment.execute("held rows");
  }

  /** Has no state: it sends all that it holds before each checkpoint. */
  private static final class HoldOperator extends ColumnBatchOperator<ColumnBatch>
      implements BoundedOneInput {
    private static final long serialVersionUID = 1L;

    private final transient Queue<StreamRecord<ColumnBatch>> held = new ArrayDeque<>();

    HoldOperator(StreamOperatorParameters<ColumnBatch> parameters) {
      super(parameters);
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      held.add(element.copy(batch.retain()));
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) {
      emitHeld();
    }

    @Override
    public void endInput() {
      emitHeld();
    }

    private void emitHeld() {
      while (!held.isEmpty()) {
        ColumnBatch.emit(held.remove(), output);
      }
    }

    @Override
    public void close() throws Exception {
      held.forEach(element -> element.getValue().release());
      held.clear();
      super.close();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.testing.TableRows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Collects the rows of the batches at the end of a job. The collector of a test and its copies in
 * the job's operators have the same number, by which they find the collected batches.
 */
public final class BatchCollector implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final Map<Long, List<Batch>> COLLECTED = new ConcurrentHashMap<>();

  private final long number = NEXT.getAndIncrement();

  /** The rows of one batch and the index of the subtask that received it. */
  public record Batch(int subtask, List<List<Object>> rows) {}

  public BatchCollector() {
    COLLECTED.put(number, new ArrayList<>());
  }

  /** Appends an operator to {@code batches} that collects them, with the stream's parallelism. */
  public void collect(DataStream<ColumnBatch> batches) {
    batches
        .transform(
            "collect",
            Types.VOID,
            new OperatorFactory<>(
                CollectOperator.class, parameters -> new CollectOperator(parameters, this)))
        .setParallelism(batches.getParallelism());
  }

  /** The batches collected so far, in order for each subtask. */
  public List<Batch> batches() {
    List<Batch> batches = COLLECTED.get(number);
    synchronized (batches) {
      return List.copyOf(batches);
    }
  }

  /** The rows of all batches. */
  public List<List<Object>> rows() {
    return batches().stream().flatMap(batch -> batch.rows.stream()).toList();
  }

  private void add(Batch batch) {
    List<Batch> batches = COLLECTED.get(number);
    synchronized (batches) {
      batches.add(batch);
    }
  }

  private static final class CollectOperator extends ColumnBatchOperator<Void> {
    private static final long serialVersionUID = 1L;

    private final BatchCollector collector;

    CollectOperator(StreamOperatorParameters<Void> parameters, BatchCollector collector) {
      super(parameters);
      this.collector = collector;
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      try (Table host =
          batch
              .table()
              .copyTo(
                  deviceContext().pinnedResource(),
                  deviceContext().hostStream(),
                  deviceContext().stream())) {
        collector.add(
            new Batch(
                getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(),
                TableRows.ofHost(host, deviceContext().hostStream())));
      }
    }
  }
}

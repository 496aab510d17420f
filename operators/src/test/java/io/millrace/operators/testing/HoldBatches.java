// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import io.millrace.memory.spill.SpillQuota;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Holds a job's batches until the input has ended and the test has called {@link #release}, and
 * then emits them. A test and the operators of its job find each other by a number.
 */
public final class HoldBatches implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final Map<Long, State> STATES = new ConcurrentHashMap<>();

  private final long number = NEXT.getAndIncrement();

  private record State(
      Set<SpillQuota> quotas, AtomicInteger complete, CompletableFuture<Void> released) {}

  public HoldBatches() {
    STATES.put(
        number,
        new State(ConcurrentHashMap.newKeySet(), new AtomicInteger(), new CompletableFuture<>()));
  }

  private State state() {
    return STATES.get(number);
  }

  /** Appends an operator to {@code batches} that holds them; returns its output. */
  public SingleOutputStreamOperator<ColumnBatch> apply(DataStream<ColumnBatch> batches) {
    OperatorFactory<ColumnBatch, ColumnBatch> factory =
        new OperatorFactory<>(HoldOperator.class, parameters -> new HoldOperator(parameters, this));
    return factory
        .appendTo(batches, "hold", batches.getType())
        .setParallelism(batches.getParallelism());
  }

  /** How many subtasks hold all of their batches. */
  public int completeSubtasks() {
    return state().complete.get();
  }

  /** The memory quotas of the subtasks. */
  public Set<SpillQuota> quotas() {
    return state().quotas;
  }

  /** Lets the subtasks emit their batches. */
  public void release() {
    state().released.complete(null);
  }

  /** Makes the job fail. */
  public void fail() {
    state().released.completeExceptionally(new IllegalStateException("as the test wants it"));
  }

  private static final class HoldOperator extends ColumnBatchOperator<ColumnBatch>
      implements BoundedOneInput {
    private static final long serialVersionUID = 1L;

    private final HoldBatches held;
    private final List<ColumnBatch> batches = new ArrayList<>();

    HoldOperator(StreamOperatorParameters<ColumnBatch> parameters, HoldBatches held) {
      super(parameters);
      this.held = held;
    }

    @Override
    public void open() throws Exception {
      super.open();
      held.state().quotas.add(deviceContext().resource().quota());
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      batches.add(batch.retain());
    }

    @Override
    public void endInput() throws Exception {
      held.state().complete.incrementAndGet();
      held.state().released.get();
      while (!batches.isEmpty()) {
        ColumnBatch.emit(new StreamRecord<>(batches.remove(0)), output);
      }
    }

    @Override
    public void close() throws Exception {
      batches.forEach(ColumnBatch::release);
      batches.clear();
      super.close();
    }
  }
}

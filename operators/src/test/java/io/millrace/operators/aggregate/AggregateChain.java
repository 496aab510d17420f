// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.IOUtils;

/**
 * A subtask of aggregates with the operators in front of them. Each operator has a clock of its
 * own, so that a test sees whose clock counts.
 */
public final class AggregateChain implements AutoCloseable {
  private final List<Link> links = new ArrayList<>();

  /** An operator that hands its batches to the next one, if there is one. */
  private static final class Link extends KeyedOperatorHarness {
    private final Link next;
    // Between tasks of their own, batches are serialized; null within a task.
    private ColumnBatchSerializer network;

    Link(
        DeviceExtension device,
        GroupAggregatePlan plan,
        int position,
        int subtask,
        int parallelism,
        Link next)
        throws Exception {
      super(
          device,
          position == 0 ? plan.input() : plan.argumentSchema(),
          next == null ? plan.outputSchema() : plan.argumentSchema(),
          factory(plan, position),
          environment(subtask, parallelism, Map.of()));
      this.next = next;
    }

    private static OperatorFactory<ColumnBatch, ColumnBatch> factory(
        GroupAggregatePlan plan, int position) {
      return position < plan.keptArguments().size()
          ? ArgumentOperator.factory(plan, position)
          : GroupAggregateOperator.factory(plan);
    }

    void disableChaining(GroupAggregatePlan plan, int position) {
      network = new ColumnBatchSerializer(plan.argumentSchema(), BodyCodec.RAW);
      // The test, which sends to the first operator, releases batches itself.
      if (position > 0) {
        harness().getStreamConfig().setChainStart();
        harness().getStreamConfig().serializeAllConfigs();
      }
    }

    void startWith(OperatorSubtaskState state) throws Exception {
      start(state);
    }

    long keysWithExtremes() {
      return ((ExtremesOperator) harness().getOperator()).keysWithExtremes();
    }

    @Override
    protected Object read(StreamRecord<ColumnBatch> element) {
      if (next == null) {
        return super.read(element);
      }
      try {
        next.harness().getOneInputOperator().processElement(element.copy(sent(element.getValue())));
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
      return "a batch for the next operator";
    }

    private ColumnBatch sent(ColumnBatch batch) throws IOException {
      if (network == null) {
        return batch;
      }
      DataOutputSerializer bytes = new DataOutputSerializer(64);
      network.serialize(batch, bytes);
      return network.deserialize(new DataInputDeserializer(bytes.getCopyOfBuffer()));
    }
  }

  /**
   * A subtask.
   *
   * @param checkpoint of each operator, of all subtasks; null to start without
   * @param oldParallelism of the checkpoint
   * @param clocks the machine's clock of each operator, at its start
   * @param isChained whether all operators are in one task, not each in a task of its own
   */
  static AggregateChain open(
      DeviceExtension device,
      GroupAggregatePlan plan,
      int subtask,
      int parallelism,
      List<OperatorSubtaskState> checkpoint,
      int oldParallelism,
      List<Long> clocks,
      boolean isChained)
      throws Exception {
    AggregateChain chain = new AggregateChain();
    try {
      Link next = null;
      for (int position = plan.keptArguments().size(); position >= 0; position--) {
        Link link = new Link(device, plan, position, subtask, parallelism, next);
        chain.links.add(0, link);
        if (!isChained) {
          link.disableChaining(plan, position);
        }
        link.setProcessingTime(clocks.get(position));
        link.startWith(
            checkpoint == null
                ? null
                : AbstractStreamOperatorTestHarness.repartitionOperatorState(
                    checkpoint.get(position),
                    KeyedOperatorHarness.MAX_PARALLELISM,
                    oldParallelism,
                    parallelism,
                    subtask));
        next = link;
      }
      return chain;
    } catch (Exception | Error e) {
      chain.close();
      throw e;
    }
  }

  /** The only subtask, whose operators have the same clock. */
  public static AggregateChain open(
      DeviceExtension device, GroupAggregatePlan plan, List<OperatorSubtaskState> checkpoint)
      throws Exception {
    List<Long> clocks = new ArrayList<>();
    for (int i = 0; i <= plan.keptArguments().size(); i++) {
      clocks.add(0L);
    }
    return open(device, plan, 0, 1, checkpoint, 1, clocks, true);
  }

  /** Sets the machine's clock of an operator, in milliseconds since the epoch. */
  public void setProcessingTime(int position, long time) throws Exception {
    links.get(position).setProcessingTime(time);
  }

  void watermark(long timestamp) throws Exception {
    for (Link link : links) {
      link.watermark(timestamp);
    }
  }

  /** The rows in the state of an operator. */
  long rowsInState(int position) {
    return links.get(position).rowsInState();
  }

  /** {@link ExtremesOperator#keysWithExtremes} of an operator. */
  long keysWithExtremes(int position) {
    return links.get(position).keysWithExtremes();
  }

  /** Sends a batch and returns the changes that it makes, such as {@code +I[1, 20]}. */
  public List<String> changes(List<?>... rows) throws Exception {
    links.get(0).send(0, List.of(rows));
    return takeChanges();
  }

  private List<String> takeChanges() {
    List<String> changes = new ArrayList<>();
    for (List<Object> row : links.get(links.size() - 1).takeRows()) {
      int last = row.size() - 1;
      RowKind kind = RowKind.fromByteValue((Byte) row.get(last));
      changes.add(kind.shortString() + row.subList(0, last));
    }
    return changes;
  }

  /** A checkpoint of each operator. */
  List<OperatorSubtaskState> snapshot() throws Exception {
    List<OperatorSubtaskState> states = new ArrayList<>();
    for (Link link : links) {
      states.add(link.snapshot());
    }
    return states;
  }

  /** The checkpoints of all subtasks, each of an operator. */
  static List<OperatorSubtaskState> whole(List<List<OperatorSubtaskState>> subtasks)
      throws Exception {
    List<OperatorSubtaskState> states = new ArrayList<>();
    for (int position = 0; position < subtasks.get(0).size(); position++) {
      OperatorSubtaskState[] parts = new OperatorSubtaskState[subtasks.size()];
      for (int i = 0; i < parts.length; i++) {
        parts[i] = subtasks.get(i).get(position);
      }
      states.add(AbstractStreamOperatorTestHarness.repackageState(parts));
    }
    return states;
  }

  @Override
  public void close() {
    IOUtils.closeAllQuietly(links);
  }
}

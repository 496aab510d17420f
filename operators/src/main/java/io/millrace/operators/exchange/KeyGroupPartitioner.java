// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.operators.batch.ColumnBatch;
import java.util.Objects;
import org.apache.flink.runtime.io.network.api.writer.SubtaskStateMapper;
import org.apache.flink.runtime.plugable.SerializationDelegate;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.runtime.partitioner.ConfigurableStreamPartitioner;
import org.apache.flink.streaming.runtime.partitioner.StreamPartitioner;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Sends each batch to the subtask that owns its rows' key groups.
 *
 * <p>Without {@code perKeyGroup}, a batch has rows of many key groups. When Flink restores a
 * checkpoint that holds in-flight elements with another parallelism, it sends whole elements to
 * their new owners, but the key groups of such a batch may have several new owners. So checkpoints
 * are always aligned here, and hold no in-flight elements. With {@code perKeyGroup}, a batch has
 * rows of one key group and can be redistributed.
 */
final class KeyGroupPartitioner extends StreamPartitioner<ColumnBatch>
    implements ConfigurableStreamPartitioner {
  private static final long serialVersionUID = 1L;

  private final boolean perKeyGroup;
  private int keyGroups;

  /**
   * @param perKeyGroup whether all rows of a batch have the same key group
   */
  KeyGroupPartitioner(boolean perKeyGroup) {
    this.perKeyGroup = perKeyGroup;
    if (!perKeyGroup) {
      disableUnalignedCheckpoints();
    }
  }

  @Override
  public void configure(int maxParallelism) {
    keyGroups = maxParallelism;
  }

  @Override
  public int selectChannel(SerializationDelegate<StreamRecord<ColumnBatch>> element) {
    ColumnBatch batch = element.getInstance().getValue();
    int channel =
        perKeyGroup
            ? KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                keyGroups, numberOfChannels, batch.keyGroup())
            : batch.target();
    if (channel < 0 || channel >= numberOfChannels) {
      throw new IllegalStateException(batch + " has no target among " + numberOfChannels);
    }
    return channel;
  }

  @Override
  public SubtaskStateMapper getDownstreamSubtaskStateMapper() {
    return perKeyGroup ? SubtaskStateMapper.RANGE : SubtaskStateMapper.UNSUPPORTED;
  }

  @Override
  public StreamPartitioner<ColumnBatch> copy() {
    KeyGroupPartitioner copy = new KeyGroupPartitioner(perKeyGroup);
    copy.keyGroups = keyGroups;
    return copy;
  }

  @Override
  public boolean isPointwise() {
    return false;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KeyGroupPartitioner that
        && super.equals(other)
        && perKeyGroup == that.perKeyGroup
        && keyGroups == that.keyGroups;
  }

  @Override
  public int hashCode() {
    return Objects.hash(super.hashCode(), perKeyGroup, keyGroups);
  }

  @Override
  public String toString() {
    return perKeyGroup ? "BATCH_OF_KEY_GROUP" : "BATCH_BY_KEY_GROUP";
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * The blocks of one fetch. The thread of the task cuts them, as small as the operators behind them
 * ask for at that time.
 */
final class RecordBlocks implements RecordsWithSplitIds<ConsumerRecord<byte[], byte[]>> {
  private final Iterator<RecordBlock> blocks;
  private final Set<String> finishedSplits;
  // null behind the last part of a block.
  private RecordBlock block;
  private int first;

  RecordBlocks(List<RecordBlock> blocks, Set<String> finishedSplits) {
    this.blocks = blocks.iterator();
    this.finishedSplits = finishedSplits;
  }

  /**
   * A block as Flink's reader carries it, where it has a single record.
   *
   * <p>Flink's classes name this type, but look into it in the emitter only, which here is {@link
   * RecordBlockEmitter}.
   */
  static final class Carrier extends ConsumerRecord<byte[], byte[]> {
    private final RecordBlock block;

    private Carrier(RecordBlock block) {
      super(block.topic(), block.partition(), block.nextOffset(), null, null);
      this.block = block;
    }

    RecordBlock block() {
      return block;
    }
  }

  @Override
  public String nextSplit() {
    if (!blocks.hasNext()) {
      return null;
    }
    block = blocks.next();
    first = 0;
    return KafkaPartitionSplit.toSplitId(new TopicPartition(block.topic(), block.partition()));
  }

  @Override
  public ConsumerRecord<byte[], byte[]> nextRecordFromSplit() {
    if (block == null) {
      return null;
    }
    int records = Math.min(block.limit().records(), block.count() - first);
    RecordBlock part = block.slice(first, records);
    first += records;
    if (first == block.count()) {
      block = null;
    }
    return new Carrier(part);
  }

  @Override
  public Set<String> finishedSplits() {
    return finishedSplits;
  }
}

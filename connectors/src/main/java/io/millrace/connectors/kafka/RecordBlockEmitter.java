// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.connector.base.source.reader.RecordEmitter;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitState;
import org.apache.flink.metrics.Counter;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Sends blocks, and moves the offset of their partition behind their last record. */
final class RecordBlockEmitter
    implements RecordEmitter<
        ConsumerRecord<byte[], byte[]>, RecordBlock, KafkaPartitionSplitState> {
  private final Counter recordCount;

  /**
   * @param recordCount counts each block once already
   */
  RecordBlockEmitter(Counter recordCount) {
    this.recordCount = recordCount;
  }

  @Override
  public void emitRecord(
      ConsumerRecord<byte[], byte[]> carrier,
      SourceOutput<RecordBlock> output,
      KafkaPartitionSplitState partition) {
    RecordBlock block = ((RecordBlocks.Carrier) carrier).block();
    long timestamp = block.greatestTimestamp();
    if (timestamp == Long.MIN_VALUE) {
      output.collect(block);
    } else {
      output.collect(block, timestamp);
    }
    recordCount.inc(block.count() - 1);
    if (block.nextOffset() != RecordBlock.NO_OFFSET) {
      partition.setCurrentOffset(block.nextOffset());
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.splitreader.SplitsChange;
import org.apache.flink.connector.kafka.source.metrics.KafkaSourceReaderMetrics;
import org.apache.flink.connector.kafka.source.reader.KafkaPartitionSplitReader;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Fetches records as Flink's reader does, and puts those of each partition into a block, on the
 * thread of the fetcher.
 */
@SuppressWarnings("try") // close() is as the superclass has it
final class RecordBlockSplitReader extends KafkaPartitionSplitReader {
  private final RecordBlockOptions options;
  private final RecordLimit limit = new RecordLimit();
  private final List<RecordBlock> begun = new ArrayList<>();

  RecordBlockSplitReader(
      Properties properties,
      SourceReaderContext context,
      KafkaSourceReaderMetrics metrics,
      String rackId,
      RecordBlockOptions options) {
    super(properties, context, metrics, rackId);
    this.options = options;
  }

  @Override
  public void handleSplitsChanges(SplitsChange<KafkaPartitionSplit> change) {
    super.handleSplitsChanges(change);
    for (KafkaPartitionSplit split : change.splits()) {
      begun.add(RecordBlock.note(RecordBlock.Kind.BEGIN, split.getTopic(), split.getPartition()));
    }
  }

  @Override
  public RecordsWithSplitIds<ConsumerRecord<byte[], byte[]>> fetch() throws IOException {
    RecordsWithSplitIds<ConsumerRecord<byte[], byte[]>> fetched = super.fetch();
    List<RecordBlock> blocks = new ArrayList<>(begun);
    begun.clear();
    while (fetched.nextSplit() != null) {
      addBlocks(fetched, blocks);
    }
    for (String split : fetched.finishedSplits()) {
      int dash = split.lastIndexOf('-');
      blocks.add(
          RecordBlock.note(
              RecordBlock.Kind.END,
              split.substring(0, dash),
              Integer.parseInt(split.substring(dash + 1))));
    }
    return new RecordBlocks(blocks, fetched.finishedSplits());
  }

  private void addBlocks(
      RecordsWithSplitIds<ConsumerRecord<byte[], byte[]>> fetched, List<RecordBlock> blocks) {
    RecordBlockBuilder builder = null;
    for (ConsumerRecord<byte[], byte[]> record = fetched.nextRecordFromSplit();
        record != null;
        record = fetched.nextRecordFromSplit()) {
      if (builder == null) {
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        builder = new RecordBlockBuilder(partition, options, limit);
      }
      builder.add(record);
    }
    if (builder != null) {
      blocks.addAll(builder.finish());
    }
  }
}

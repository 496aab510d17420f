// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.io.IOException;
import java.util.List;
import java.util.Properties;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.source.reader.RecordsWithSplitIds;
import org.apache.flink.connector.base.source.reader.synchronization.FutureCompletingBlockingQueue;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.metrics.KafkaSourceReaderMetrics;
import org.apache.flink.connector.kafka.source.reader.KafkaSourceReader;
import org.apache.flink.connector.kafka.source.reader.fetcher.KafkaSourceFetcherManager;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.util.function.SerializableSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Reads topics in blocks of records. Enumerator, splits, checkpoints and the commit of offsets are
 * those of Flink's {@link KafkaSource}, so that a savepoint of one can be read by the other under
 * the same uid. Its properties appear in no log, plan or metric.
 */
@PublicEvolving
public final class KafkaRecordSource
    implements Source<RecordBlock, KafkaPartitionSplit, KafkaSourceEnumState>,
        ResultTypeQueryable<RecordBlock> {
  private static final long serialVersionUID = 1L;

  private final KafkaSource<byte[]> source;
  private final Properties properties;
  private final SerializableSupplier<String> rackId;
  private final RecordBlockOptions options;

  KafkaRecordSource(
      KafkaSource<byte[]> source,
      Properties properties,
      SerializableSupplier<String> rackId,
      RecordBlockOptions options) {
    this.source = source;
    this.properties = properties;
    this.rackId = rackId;
    this.options = options;
  }

  public static KafkaRecordSourceBuilder builder() {
    return new KafkaRecordSourceBuilder();
  }

  /** This source with blocks that have the values of these headers. */
  KafkaRecordSource withHeaders(List<String> names) {
    return new KafkaRecordSource(
        source,
        properties,
        rackId,
        new RecordBlockOptions(names, options.maximumRecordBytes(), options.tombstones()));
  }

  @Override
  public Boundedness getBoundedness() {
    return source.getBoundedness();
  }

  @Override
  public SourceReader<RecordBlock, KafkaPartitionSplit> createReader(SourceReaderContext context) {
    FutureCompletingBlockingQueue<RecordsWithSplitIds<ConsumerRecord<byte[], byte[]>>> queue =
        new FutureCompletingBlockingQueue<>();
    KafkaSourceReaderMetrics metrics = new KafkaSourceReaderMetrics(context.metricGroup());
    KafkaSourceFetcherManager fetchers =
        new KafkaSourceFetcherManager(
            queue,
            () ->
                new RecordBlockSplitReader(
                    properties, context, metrics, rackId == null ? null : rackId.get(), options),
            finished -> {});
    return new KafkaSourceReader<>(
        queue,
        fetchers,
        new RecordBlockEmitter(context.metricGroup().getIOMetricGroup().getNumRecordsInCounter()),
        configuration(),
        context,
        metrics);
  }

  private Configuration configuration() {
    Configuration configuration = new Configuration();
    properties
        .stringPropertyNames()
        .forEach(name -> configuration.setString(name, properties.getProperty(name)));
    return configuration;
  }

  @Override
  public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> createEnumerator(
      SplitEnumeratorContext<KafkaPartitionSplit> context) {
    return source.createEnumerator(context);
  }

  @Override
  public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> restoreEnumerator(
      SplitEnumeratorContext<KafkaPartitionSplit> context, KafkaSourceEnumState checkpoint)
      throws IOException {
    return source.restoreEnumerator(context, checkpoint);
  }

  @Override
  public SimpleVersionedSerializer<KafkaPartitionSplit> getSplitSerializer() {
    return source.getSplitSerializer();
  }

  @Override
  public SimpleVersionedSerializer<KafkaSourceEnumState> getEnumeratorCheckpointSerializer() {
    return source.getEnumeratorCheckpointSerializer();
  }

  @Override
  public TypeInformation<RecordBlock> getProducedType() {
    return RecordBlockSerializer.typeInformation();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.table;

import io.millrace.connectors.kafka.sink.KafkaEncodingOperator;
import io.millrace.connectors.kafka.sink.KafkaRecord;
import io.millrace.connectors.kafka.sink.RecordEncoder;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.BatchDynamicTableSink;
import io.millrace.operators.sql.table.RowProviders;
import java.util.Optional;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DynamicTableSink;

/**
 * A topic that rows are written to.
 *
 * @param session the options of the session
 */
record KafkaTableSink(
    RecordColumns columns, RecordEncoder encoder, KafkaSinkOptions options, ReadableConfig session)
    implements BatchDynamicTableSink {
  @Override
  public ChangelogMode getChangelogMode(ChangelogMode requested) {
    return ChangelogMode.insertOnly();
  }

  @Override
  public Optional<Integer> parallelism() {
    return options.parallelism();
  }

  @Override
  public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
    return RowProviders.sink(this, columns.physical(), session);
  }

  @Override
  public DataStreamSink<?> consumeBatches(
      ProviderContext context, DataStream<ColumnBatch> batches) {
    SingleOutputStreamOperator<KafkaRecord> records =
        KafkaEncodingOperator.encode(batches, encoder);
    context.generateUid("encode").ifPresent(records::uid);
    DataStreamSink<KafkaRecord> sink =
        records
            .sinkTo(options.sink())
            .name(asSummaryString())
            .setParallelism(parallelism().orElse(records.getParallelism()));
    context.generateUid("sink").ifPresent(sink::uid);
    return sink;
  }

  @Override
  public DynamicTableSink copy() {
    return this;
  }

  @Override
  public String asSummaryString() {
    return "topic " + options.topic();
  }
}

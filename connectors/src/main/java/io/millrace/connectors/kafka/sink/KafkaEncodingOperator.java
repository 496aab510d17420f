// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transfer.DownloadingOperator;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Turns each batch into records of a topic, and copies them to the host: what stands before a sink
 * of {@link KafkaSinks}.
 */
@PublicEvolving
public final class KafkaEncodingOperator extends DownloadingOperator<KafkaRecord> {
  private static final long serialVersionUID = 1L;

  private final RecordEncoder encoder;

  private KafkaEncodingOperator(
      StreamOperatorParameters<KafkaRecord> parameters, RecordEncoder encoder) {
    super(parameters);
    this.encoder = encoder;
  }

  /** Appends the operator to {@code batches}, with their parallelism. */
  public static SingleOutputStreamOperator<KafkaRecord> encode(
      DataStream<ColumnBatch> batches, RecordEncoder encoder) {
    OperatorFactory<ColumnBatch, KafkaRecord> factory =
        new OperatorFactory<>(
            KafkaEncodingOperator.class,
            parameters -> new KafkaEncodingOperator(parameters, encoder));
    return factory.appendWithParallelism(
        batches, "encode records", KafkaRecordSerializer.typeInformation());
  }

  @Override
  public void open() throws Exception {
    super.open();
    encoder.open(deviceContext().stream(), deviceContext().resource());
  }

  @Override
  protected void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    deviceContext()
        .retry()
        .withSplitAndRetry(
            batch.table(), encoder::write, written -> add(written, element, downloads));
  }

  private void add(Table written, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    ColumnBatch batch = new ColumnBatch(written);
    try {
      downloads.add(batch, table -> send(table, element));
    } finally {
      batch.release();
    }
  }

  private void send(Table table, StreamRecord<ColumnBatch> element) {
    if (table.rowCount() == 0) {
      return;
    }
    List<KafkaRecord> records = deviceContext().retry().withHostRetry(() -> records(table));
    StreamRecord<KafkaRecord> sent = element.copy(null).replace(null);
    for (KafkaRecord record : records) {
      deviceContext().checkNotCanceled();
      output.collect(sent.replace(record));
    }
  }

  private List<KafkaRecord> records(Table table) {
    try (AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
      return encoder.records(table, scope);
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(encoder, super::close);
  }
}

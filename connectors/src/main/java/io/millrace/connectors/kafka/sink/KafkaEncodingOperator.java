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

/**
 * Copies each batch to the host and turns it into records of a topic: what stands before a sink of
 * {@link KafkaSinks}.
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

  /** Appends the operator to {@code batches}. */
  public static SingleOutputStreamOperator<KafkaRecord> encode(
      DataStream<ColumnBatch> batches, RecordEncoder encoder) {
    OperatorFactory<ColumnBatch, KafkaRecord> factory =
        new OperatorFactory<>(
            KafkaEncodingOperator.class,
            parameters -> new KafkaEncodingOperator(parameters, encoder));
    return factory.appendTo(batches, "encode records", KafkaRecordSerializer.typeInformation());
  }

  @Override
  protected void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    downloads.add(batch, table -> send(table, element));
  }

  private void send(Table table, StreamRecord<ColumnBatch> element) {
    if (table.rowCount() == 0) {
      return;
    }
    List<KafkaRecord> records = deviceContext().retry().withHostRetry(() -> encode(table));
    StreamRecord<KafkaRecord> sent = element.copy(null).replace(null);
    for (KafkaRecord record : records) {
      deviceContext().checkNotCanceled();
      output.collect(sent.replace(record));
    }
  }

  private List<KafkaRecord> encode(Table table) {
    try (AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
      return encoder.encode(table, scope);
    }
  }
}

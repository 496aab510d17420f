// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import io.millrace.column.Table;
import io.millrace.connectors.records.RecordDecodingOperator;
import io.millrace.device.HostMemory;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.memory.Buffer;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;

/**
 * Reads blocks of records of topics into batches on the operator's device. A block becomes a batch,
 * or several: no more rows than asked for, and no more than the operators behind take in 100 ms.
 * Records that are not rows go to {@link #MALFORMED_RECORDS}, or fail the job.
 *
 * <p>Metrics, in the group {@code millrace.parse}: {@code records}, {@code malformedRecords}.
 */
@PublicEvolving
public final class KafkaDecodingOperator extends RecordDecodingOperator<RecordBlock> {
  /** The side output of records that are not rows. */
  public static final OutputTag<MalformedKafkaRecord> MALFORMED_RECORDS =
      new OutputTag<>("malformed-records", MalformedKafkaRecordSerializer.typeInformation());

  private static final long serialVersionUID = 1L;

  private final KafkaDecodingOptions options;
  // null if there are no metadata columns
  private transient MetadataTable metadata;
  private transient Counter recordCount;
  private transient Counter malformedRecordCount;

  private KafkaDecodingOperator(
      StreamOperatorParameters<ColumnBatch> parameters, KafkaDecodingOptions options) {
    super(parameters, options.format(), options.maxRows(), options.watermarks(), options.filter());
    this.options = options;
  }

  /**
   * Adds a source and the operator, in one chain.
   *
   * @param watermarks of the records' timestamps, by Flink's source for each partition, also for
   *     the alignment of partitions; {@link WatermarkStrategy#noWatermarks} if {@code options} have
   *     watermarks
   * @param name of the source, which is also its uid; that of the operator is the name and {@code
   *     -decode}
   * @return batches of {@link KafkaDecodingOptions#schema}
   * @throws IllegalArgumentException if two columns have one name
   */
  public static SingleOutputStreamOperator<ColumnBatch> decode(
      StreamExecutionEnvironment environment,
      KafkaRecordSource source,
      WatermarkStrategy<RecordBlock> watermarks,
      String name,
      KafkaDecodingOptions options) {
    DataStreamSource<RecordBlock> blocks =
        environment.fromSource(source.withHeaders(options.headers()), watermarks, name);
    blocks.uid(name);
    return append(blocks, options).uid(name + "-decode");
  }

  /**
   * Appends the operator to the blocks of a source, without a uid.
   *
   * @return as the other method
   * @throws IllegalArgumentException if two columns have one name, or one has the values of
   *     headers, of which a source has to be told
   */
  public static SingleOutputStreamOperator<ColumnBatch> decode(
      DataStream<RecordBlock> blocks, KafkaDecodingOptions options) {
    if (!options.headers().isEmpty()) {
      throw new IllegalArgumentException(
          "expected no columns of headers, got those of " + options.headers());
    }
    return append(blocks, options);
  }

  private static SingleOutputStreamOperator<ColumnBatch> append(
      DataStream<RecordBlock> blocks, KafkaDecodingOptions options) {
    return factory(options)
        .appendWithParallelism(
            blocks, "decode records", new ColumnBatchTypeInformation(options.schema()));
  }

  static OperatorFactory<RecordBlock, ColumnBatch> factory(KafkaDecodingOptions options) {
    return new OperatorFactory<>(
        KafkaDecodingOperator.class, parameters -> new KafkaDecodingOperator(parameters, options));
  }

  @Override
  public void open() throws Exception {
    super.open();
    if (!options.metadata().isEmpty()) {
      metadata = new MetadataTable(deviceContext(), options.schema(), options.metadata());
    }
    MetricGroup group = getMetricGroup().addGroup("millrace").addGroup("parse");
    recordCount = group.counter("records");
    malformedRecordCount = group.counter("malformedRecords");
  }

  /**
   * @throws IOException under {@link MalformedRecordPolicy#FAIL} for a malformed record, with its
   *     position, what is wrong with it, and its start
   */
  @Override
  public void processElement(StreamRecord<RecordBlock> element) throws Exception {
    RecordBlock block = element.getValue();
    switch (block.kind()) {
      case BEGIN -> partitionWatermarks().ifPresent(marks -> marks.add(block.partitionName()));
      case END -> partitionWatermarks().ifPresent(marks -> marks.remove(block.partitionName()));
      case RECORDS -> decode(block, element);
    }
  }

  private void decode(RecordBlock block, StreamRecord<RecordBlock> element) throws Exception {
    recordCount.inc(block.count() + block.rejected().size());
    for (MalformedKafkaRecord record : block.rejected()) {
      report(record, element);
    }
    if (block.count() > 0) {
      try (RecordBytes records = deviceContext().retry().withRetry(() -> records(block))) {
        long rows = decode(block, records, block.partitionName(), element);
        block.limit().set(recordLimit(block.count(), rows));
      }
    }
  }

  private RecordBytes records(RecordBlock block) {
    int count = block.count();
    int start = block.position(0);
    int length = block.position(count) - start;
    Buffer bytes =
        upload(length, address -> HostMemory.copyFromArray(address, block.bytes(), start, length));
    Buffer positions = null;
    try {
      positions = upload((count + 1L) * Integer.BYTES, address -> putPositions(block, address));
      return new RecordBytes(bytes, positions, count);
    } catch (RuntimeException | Error e) {
      bytes.close();
      if (positions != null) {
        positions.close();
      }
      throw e;
    }
  }

  private static void putPositions(RecordBlock block, long address) {
    int start = block.position(0);
    for (int i = 0; i <= block.count(); i++) {
      HostMemory.putInt(address + (long) i * Integer.BYTES, block.position(i) - start);
    }
  }

  @Override
  protected Table rows(RecordBlock block, int first, ParsedRecords parsed) {
    return metadata == null
        ? super.rows(block, first, parsed)
        : metadata.addTo(parsed.table(), block, row -> first + parsed.recordOf(row));
  }

  @Override
  protected void report(
      RecordBlock block, int first, MalformedRecord record, StreamRecord<RecordBlock> element)
      throws IOException {
    int number = first + record.record();
    byte[] value =
        Arrays.copyOfRange(block.bytes(), block.position(number), block.position(number + 1));
    report(
        new MalformedKafkaRecord(
            block.topic(),
            block.partition(),
            block.offset(number),
            block.timestamp(number),
            block.key(number),
            value,
            reason(value, record.reason())),
        element);
  }

  private void report(MalformedKafkaRecord malformed, StreamRecord<RecordBlock> element)
      throws IOException {
    malformedRecordCount.inc();
    if (options.policy() == MalformedRecordPolicy.FAIL) {
      throw new IOException(malformed.message());
    }
    output.collect(MALFORMED_RECORDS, element.copy(null).replace(malformed));
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(metadata, super::close);
  }
}

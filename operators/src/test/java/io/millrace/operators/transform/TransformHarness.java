// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.List;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** A {@link TransformOperator} that gets batches and whose output is read as rows. */
final class TransformHarness implements AutoCloseable {
  private final DeviceExtension device;
  private final Schema schema;
  private final OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness;
  private final RecordingOutput output;

  /**
   * @param schema of the batches that are sent
   */
  TransformHarness(DeviceExtension device, Schema schema, TableTransform.Factory transforms)
      throws Exception {
    this(device, schema, TransformOperator.factory(transforms));
  }

  TransformHarness(
      DeviceExtension device, Schema schema, OperatorFactory<ColumnBatch, ColumnBatch> factory)
      throws Exception {
    this.device = device;
    this.schema = schema;
    this.output = new RecordingOutput(this::read);
    this.harness =
        new OneInputStreamOperatorTestHarness<>(
            factory, new ColumnBatchSerializer(schema, BodyCodec.RAW));
    harness.setOutputCreator(serializer -> output);
    harness.open();
  }

  private Object read(StreamRecord<ColumnBatch> element) {
    return new Output(device.rows(element.getValue().table()), element.getTimestamp());
  }

  /** A batch that came out. */
  record Output(List<List<Object>> rows, long timestamp) {}

  void send(long timestamp, List<? extends List<?>> rows) throws Exception {
    send(timestamp, TableBuilder.ofRows(schema, rows).build(device));
  }

  /**
   * Takes ownership of {@code table}. The operator is not the head of a chain: the sender releases.
   */
  void send(long timestamp, Table table) throws Exception {
    ColumnBatch batch = new ColumnBatch(table);
    try {
      harness.processElement(new StreamRecord<>(batch, timestamp));
    } finally {
      batch.release();
    }
  }

  /** The batches that came out so far. */
  List<Output> batches() {
    return output.elements().stream()
        .filter(Output.class::isInstance)
        .map(Output.class::cast)
        .toList();
  }

  /** The last output, a batch or another element. */
  Object last() {
    return output.elements().get(output.elements().size() - 1);
  }

  /** The rows of all of them. */
  List<List<Object>> rows() {
    return batches().stream().flatMap(batch -> batch.rows().stream()).toList();
  }

  /** The rows of all batches that went to the side output. */
  List<List<Object>> sideRows() {
    return output.sideElements().stream()
        .flatMap(batch -> ((Output) batch).rows().stream())
        .toList();
  }

  @Override
  public void close() {
    try {
      harness.close();
    } catch (Exception e) {
      throw new IllegalStateException("the operator cannot be closed", e);
    }
  }
}

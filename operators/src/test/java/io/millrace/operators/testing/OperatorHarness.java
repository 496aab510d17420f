// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.List;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/**
 * An operator from batches to batches in a test harness of Flink: gets batches, and its output is
 * read as rows.
 */
public class OperatorHarness implements AutoCloseable {
  private final DeviceExtension device;
  private final Schema schema;
  private final OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness;
  private final RecordingOutput output = new RecordingOutput(this::read);

  /** An operator that is open. */
  public OperatorHarness(
      DeviceExtension device,
      Schema schema,
      OneInputStreamOperatorFactory<ColumnBatch, ColumnBatch> factory)
      throws Exception {
    this(
        device,
        schema,
        new OneInputStreamOperatorTestHarness<>(
            factory, new ColumnBatchSerializer(schema, BodyCodec.RAW)));
    harness.open();
  }

  /**
   * An operator that is open.
   *
   * @param environment stays the caller's
   */
  public OperatorHarness(
      DeviceExtension device,
      Schema schema,
      OneInputStreamOperatorFactory<ColumnBatch, ColumnBatch> factory,
      MockEnvironment environment)
      throws Exception {
    this(
        device,
        schema,
        new OneInputStreamOperatorTestHarness<>(
            factory, new ColumnBatchSerializer(schema, BodyCodec.RAW), environment));
    harness.open();
  }

  /**
   * Takes ownership of {@code harness}, whose operator the caller opens.
   *
   * @param schema of the batches that are sent
   */
  protected OperatorHarness(
      DeviceExtension device,
      Schema schema,
      OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness) {
    this.device = device;
    this.schema = schema;
    this.harness = harness;
    harness.setOutputCreator(serializer -> output);
  }

  /** What is recorded of a batch that comes out, which is borrowed. */
  protected Object read(StreamRecord<ColumnBatch> element) {
    return new Output(device.rows(element.getValue().table()), element.getTimestamp());
  }

  /** A batch that came out. */
  public record Output(List<List<Object>> rows, long timestamp) {}

  protected final OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness() {
    return harness;
  }

  public final void send(long timestamp, List<? extends List<?>> rows) throws Exception {
    send(timestamp, TableBuilder.ofRows(schema, rows).build(device));
  }

  /**
   * Takes ownership of {@code table}. The operator is not the head of a chain: the sender releases.
   */
  public final void send(long timestamp, Table table) throws Exception {
    ColumnBatch batch = new ColumnBatch(table);
    try {
      // As a task does for an operator without key context.
      harness.getOneInputOperator().processElement(new StreamRecord<>(batch, timestamp));
    } finally {
      batch.release();
    }
  }

  /** The batches and other elements that came out so far. */
  public final List<Object> elements() {
    return output.elements();
  }

  /** The batches that came out so far. */
  public final List<Output> batches() {
    return output.elements().stream()
        .filter(Output.class::isInstance)
        .map(Output.class::cast)
        .toList();
  }

  /** The last output, a batch or another element. */
  public final Object last() {
    return output.elements().get(output.elements().size() - 1);
  }

  /** The rows of all batches that came out so far. */
  public final List<List<Object>> rows() {
    return batches().stream().flatMap(batch -> batch.rows().stream()).toList();
  }

  /** The rows of all batches that went to the side output. */
  public final List<List<Object>> sideRows() {
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

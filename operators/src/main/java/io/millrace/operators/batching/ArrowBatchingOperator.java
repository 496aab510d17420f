// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowImporter;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.context.RowCounter;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.wire.ArrowTypeInformation;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.UncheckedIOException;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Makes a batch of each Arrow root. If the device is the host, the batch shares the root's memory;
 * otherwise the root is copied to the device. The sender keeps ownership of the root: it may close
 * the root when {@link #processElement} has returned, but must not write to the root's vectors.
 */
@PublicEvolving
public final class ArrowBatchingOperator extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<VectorSchemaRoot, ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private transient DeviceContext deviceContext;
  private transient HostTransfer transfer;
  private transient RowCounter inputRows;
  private transient ArrowImporter importer;

  private ArrowBatchingOperator(StreamOperatorParameters<ColumnBatch> parameters, Schema schema) {
    super(parameters);
    this.schema = schema;
  }

  /**
   * A factory of operators that make batches of {@code schema}; a root with other columns fails the
   * job.
   */
  public static OperatorFactory<VectorSchemaRoot, ColumnBatch> factory(Schema schema) {
    return new OperatorFactory<>(
        ArrowBatchingOperator.class, parameters -> new ArrowBatchingOperator(parameters, schema));
  }

  /**
   * Appends to {@code roots} an operator that makes batches of them.
   *
   * @param roots a stream of {@link ArrowTypeInformation}
   * @param schema the schema of all roots
   * @throws IllegalArgumentException if the stream has another type, whose serializer would copy or
   *     send roots
   */
  public static SingleOutputStreamOperator<ColumnBatch> append(
      DataStream<VectorSchemaRoot> roots, Schema schema) {
    if (!(roots.getType() instanceof ArrowTypeInformation)) {
      throw new IllegalArgumentException(
          "expected a stream of ArrowTypeInformation, got " + roots.getType());
    }
    return factory(schema)
        .appendTo(roots, "Batch Arrow", new ColumnBatchTypeInformation(schema))
        .setParallelism(roots.getParallelism());
  }

  @Override
  public void open() throws Exception {
    super.open();
    deviceContext = DeviceContext.open(this);
    output = deviceContext.countRows(this, output);
    inputRows = deviceContext.closeLater(RowCounter.ofInput(this));
    transfer = new HostTransfer(deviceContext);
    importer = new ArrowImporter(deviceContext.hostStream(), deviceContext.pinnedResource());
  }

  @Override
  public void processElement(StreamRecord<VectorSchemaRoot> element) {
    inputRows.count(element.getValue().getRowCount());
    Table host = deviceContext.retry().withHostRetry(() -> importTable(element.getValue()));
    transfer.toDevice(
        host,
        table -> ColumnBatch.emit(element.copy(null).replace(new ColumnBatch(table)), output));
  }

  private Table importTable(VectorSchemaRoot root) {
    Table table;
    try {
      table = importer.importTable(root, new MapDictionaryProvider());
    } catch (ArrowFormatException e) {
      throw new UncheckedIOException(e);
    }
    if (!table.schema().equals(schema)) {
      try (table) {
        throw new IllegalArgumentException(
            "expected a root with the columns " + schema + ", got " + table.schema());
      }
    }
    return table;
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(transfer, deviceContext, super::close);
  }
}

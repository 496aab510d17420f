// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.arrow.ArrowExporter;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.context.RowCounter;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transfer.DownloadingOperator;
import io.millrace.operators.wire.ArrowTypeInformation;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Sends each batch as an Arrow root, with the batch's timestamp. The batch is copied to the host
 * first; see {@link DownloadingOperator}. The root is closed after it was sent: its receiver copies
 * what it keeps, and must not write to the root.
 */
@PublicEvolving
public final class ArrowUnbatchingOperator extends DownloadingOperator<VectorSchemaRoot> {
  private static final long serialVersionUID = 1L;

  private transient BufferAllocator allocator;
  private transient ArrowExporter exporter;
  private transient UnbatchingMetrics unbatching;
  private transient RowCounter outputRows;

  private ArrowUnbatchingOperator(StreamOperatorParameters<VectorSchemaRoot> parameters) {
    super(parameters);
  }

  /** A factory of operators that send roots. */
  public static OperatorFactory<ColumnBatch, VectorSchemaRoot> factory() {
    return new OperatorFactory<>(ArrowUnbatchingOperator.class, ArrowUnbatchingOperator::new);
  }

  /** Appends to {@code batches} an operator that sends them as roots within the same chain. */
  public static SingleOutputStreamOperator<VectorSchemaRoot> append(
      DataStream<ColumnBatch> batches) {
    return factory()
        .appendTo(batches, "Unbatch Arrow", ArrowTypeInformation.INSTANCE)
        .setParallelism(batches.getParallelism());
  }

  @Override
  public void open() throws Exception {
    super.open();
    unbatching = new UnbatchingMetrics(getMetricGroup());
    outputRows = deviceContext().closeLater(RowCounter.ofOutput(this));
    allocator = new RootAllocator();
    exporter =
        new ArrowExporter(
            allocator, deviceContext().hostStream(), deviceContext().pinnedResource());
  }

  @Override
  protected void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    downloads.add(batch, table -> send(table, element));
  }

  private void send(Table table, StreamRecord<ColumnBatch> element) {
    try (MapDictionaryProvider dictionaries = new MapDictionaryProvider();
        VectorSchemaRoot root =
            deviceContext()
                .retry()
                .withHostRetry(
                    () -> exporter.export(table, dictionaries, deviceContext().hostStream()))) {
      outputRows.count(table);
      output.collect(element.copy(null).replace(root));
    }
    unbatching.count(table.rowCount());
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(super::close, allocator);
  }
}

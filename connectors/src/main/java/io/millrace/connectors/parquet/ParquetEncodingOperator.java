// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.sink.EncodedOutput;
import io.millrace.connectors.files.sink.FileEncodingOperator;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.DownloadQueue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Copies batches to the host and encodes them as row groups, each of which leaves as a Parquet file
 * in memory. A row group ends when it is full, before a checkpoint and at the end of the input;
 * watermarks pass. With partitions, those that have a row group share the memory of {@value
 * #ROW_GROUPS} full ones: the largest ends when they have more.
 *
 * @param <OUT> the output of the operator
 */
final class ParquetEncodingOperator<OUT> extends FileEncodingOperator<OUT> {
  private static final long serialVersionUID = 1L;
  private static final int ROW_GROUPS = 4;

  private final Schema schema;
  private final ParquetWriterOptions options;
  // By folder.
  private transient Map<String, RowGroupWriter> rowGroups;
  // Of the heap, for all row groups.
  private transient long bytes;

  private ParquetEncodingOperator(
      StreamOperatorParameters<OUT> parameters,
      Schema schema,
      ParquetWriterOptions options,
      EncodedOutput<OUT> form) {
    super(parameters, form);
    this.schema = schema;
    this.options = options;
  }

  /**
   * @param schema of the files
   */
  static <T> SingleOutputStreamOperator<T> encode(
      DataStream<ColumnBatch> batches,
      Schema schema,
      ParquetWriterOptions options,
      EncodedOutput<T> form) {
    @SuppressWarnings("unchecked") // the class of a generic type
    Class<ParquetEncodingOperator<T>> operatorClass =
        (Class<ParquetEncodingOperator<T>>) (Class<?>) ParquetEncodingOperator.class;
    OperatorFactory<ColumnBatch, T> factory =
        new OperatorFactory<>(
            operatorClass,
            parameters -> new ParquetEncodingOperator<>(parameters, schema, options, form));
    return factory.appendWithParallelism(batches, "encode row groups", form.type());
  }

  @Override
  public void open() throws Exception {
    super.open();
    rowGroups = new LinkedHashMap<>();
  }

  @Override
  protected void encode(
      String folder, ColumnBatch rows, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    downloads.add(rows, table -> add(folder, table));
  }

  private void add(String folder, Table table) {
    if (table.rowCount() == 0) {
      return;
    }
    RowGroupWriter rowGroup = rowGroups.computeIfAbsent(folder, none -> create());
    bytes -= rowGroup.heapBytes();
    deviceContext()
        .retry()
        .withHostRetry(
            () -> {
              try (AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
                rowGroup.add(table, scope);
                return table;
              }
            });
    bytes += rowGroup.heapBytes();
    if (rowGroup.isFull()) {
      emit(folder);
    } else if (rowGroups.size() > 1 && bytes >= ROW_GROUPS * options.rowGroupBytes()) {
      emit(largest());
    }
  }

  private RowGroupWriter create() {
    RowGroupWriter rowGroup = new RowGroupWriter(schema, options);
    bytes += rowGroup.heapBytes();
    return rowGroup;
  }

  private String largest() {
    String largest = null;
    long largestBytes = -1;
    for (Map.Entry<String, RowGroupWriter> rowGroup : rowGroups.entrySet()) {
      long size = rowGroup.getValue().heapBytes();
      if (size > largestBytes) {
        largest = rowGroup.getKey();
        largestBytes = size;
      }
    }
    return largest;
  }

  private void emit(String folder) {
    RowGroupWriter rowGroup = rowGroups.remove(folder);
    bytes -= rowGroup.heapBytes();
    try {
      send(folder, rowGroup.finish(), new StreamRecord<>(folder));
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  private void emitAll() {
    List.copyOf(rowGroups.keySet()).forEach(this::emit);
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    super.prepareSnapshotPreBarrier(checkpointId);
    emitAll();
  }

  @Override
  public void endInput() throws Exception {
    super.endInput();
    emitAll();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.pipeline;

import static io.millrace.expression.Expressions.col;

import io.millrace.arrow.ArrowExporter;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowImporter;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.arrow.PinnedAllocationManagerFactory;
import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transfer.HostTransfer;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;

/**
 * Arrow vectors in pinned memory to the device, a filter and projections and a hash partition
 * there, and back to Arrow vectors in pinned memory, with what the operators do this with. Rows are
 * 28 bytes in and 24 bytes out; the filter keeps seven of eight.
 */
final class HostPipeline implements AutoCloseable {
  static final int PARTITIONS = 64;
  static final long BYTES_PER_ROW = 28;

  private static final Schema SCHEMA =
      Schema.of(
          new Field("key", DataType.INT64, false),
          new Field("number", DataType.INT64, false),
          new Field("half", DataType.FLOAT64, false),
          new Field("low", DataType.INT32, false));
  private static final int DROPPED_OF = 8;
  private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private final DeviceContext context;
  private final HostTransfer transfer;
  private final DownloadQueue downloads;
  private final BufferAllocator allocator;
  private final ArrowImporter importer;
  private final ArrowExporter exporter;
  private final Calc calc =
      Calc.of(
          SCHEMA,
          Optional.of(col("low").mod(DROPPED_OF).isNotEqual(0)),
          List.of(
              col("key"),
              col("number").plus(col("key")).as("sum"),
              col("half").times(0.908).as("price")),
          ResolutionContext.DEFAULT);
  private long rowsOut;
  private long bytesOut;

  HostPipeline(Device device, int batchesInFlight) {
    context = DeviceContext.open(device);
    transfer = new HostTransfer(context);
    downloads = new DownloadQueue(context, batchesInFlight);
    allocator = PinnedAllocationManagerFactory.allocator(device, Long.MAX_VALUE);
    importer = new ArrowImporter(context.hostStream(), context.pinnedResource());
    exporter = new ArrowExporter(allocator, context.hostStream(), context.pinnedResource());
  }

  DeviceContext context() {
    return context;
  }

  /** Rows that left since the pipeline was made. */
  long rowsOut() {
    return rowsOut;
  }

  /** Bytes of Arrow buffers that left since the pipeline was made. */
  long bytesOut() {
    return bytesOut;
  }

  /** Rows that leave of {@code rows} that come. */
  static int rowsOut(int rows) {
    return rows - (rows + DROPPED_OF - 1) / DROPPED_OF;
  }

  /** A batch in pinned memory; the caller closes it. */
  VectorSchemaRoot createInput(int rows) {
    VectorSchemaRoot root =
        VectorSchemaRoot.create(ArrowSchemaConverter.toArrow(SCHEMA), allocator);
    BigIntVector key = (BigIntVector) root.getVector(0);
    BigIntVector number = (BigIntVector) root.getVector(1);
    Float8Vector half = (Float8Vector) root.getVector(2);
    IntVector low = (IntVector) root.getVector(3);
    root.getFieldVectors().forEach(vector -> vector.setInitialCapacity(rows));
    root.allocateNew();
    for (int row = 0; row < rows; row++) {
      key.set(row, row * GOLDEN_GAMMA);
      number.set(row, row);
      half.set(row, row * 0.5);
      low.set(row, row);
    }
    root.setRowCount(rows);
    return root;
  }

  /** Sends {@code batches} batches through, the inputs in turn, and waits for the last to leave. */
  void run(List<VectorSchemaRoot> inputs, int batches) throws ArrowFormatException {
    Table next = upload(inputs.get(0));
    for (int i = 1; i <= batches; i++) {
      Table table = next;
      // Before the work on this one, within which the host waits for the partition's offsets.
      next = i < batches ? upload(inputs.get(i % inputs.size())) : null;
      process(table);
    }
    downloads.drain();
  }

  private Table upload(VectorSchemaRoot root) throws ArrowFormatException {
    Table host = importer.importTable(root, new MapDictionaryProvider());
    return context.retry().withRetry(() -> transfer.upload(host));
  }

  private void process(Table input) {
    ColumnBatch batch;
    try (input) {
      batch = new ColumnBatch(context.retry().withRetry(() -> compute(input)));
    }
    try {
      downloads.add(batch, this::export);
    } finally {
      batch.release();
    }
  }

  private Table compute(Table input) {
    try (Table computed = calc.apply(input, context.stream(), context.resource());
        PartitionedTable partitioned =
            HashPartition.hashPartition(
                computed,
                List.of(0),
                PARTITIONS,
                HashFunction.MURMUR3_32,
                context.stream(),
                context.resource())) {
      return partitioned.table().share();
    }
  }

  private void export(Table host) {
    try (VectorSchemaRoot root =
        exporter.export(host, new MapDictionaryProvider(), context.hostStream())) {
      rowsOut += root.getRowCount();
      bytesOut += host.sizeInBytes();
    }
  }

  @Override
  public void close() {
    downloads.close();
    transfer.close();
    allocator.close();
    context.close();
  }
}

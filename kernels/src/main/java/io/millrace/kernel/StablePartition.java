package io.millrace.kernel;

import io.millrace.column.Table;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import java.util.function.IntUnaryOperator;

/** Groups rows by partition, whatever says which, without changing their order in a partition. */
final class StablePartition {
  private StablePartition() {}

  static PartitionedTable partition(
      Table input,
      PartitionSource source,
      int partitions,
      DeviceStream stream,
      MemoryResource memory) {
    int rows = input.rowCount();
    if (rows == 0) {
      return new PartitionedTable(input.share(), new int[partitions + 1]);
    }
    try (AccessScope scope = AccessScope.on(stream);
        RowMoves moves = new RowMoves(input.columns(), rows, scope, memory)) {
      int[] offsets =
          stream.device().kind() == DeviceKind.HOST
              ? onHost(moves, source.onHost(scope, partitions), partitions)
              : PartitionKernels.of(stream.device())
                  .partition(moves, source, partitions, scope, memory);
      return new PartitionedTable(new Table(input.schema(), moves.takeColumns(), rows), offsets);
    }
  }

  private static int[] onHost(RowMoves moves, IntUnaryOperator partitionOfRow, int partitions) {
    int rows = moves.rows();
    int[] partitionOf = new int[rows];
    int[] offsets = new int[partitions + 1];
    for (int row = 0; row < rows; row++) {
      partitionOf[row] = partitionOfRow.applyAsInt(row);
      offsets[partitionOf[row] + 1]++;
    }
    for (int i = 0; i < partitions; i++) {
      offsets[i + 1] += offsets[i];
    }
    int[] next = offsets.clone();
    long map = moves.allocateScratch((long) rows * Integer.BYTES);
    for (int row = 0; row < rows; row++) {
      HostMemory.putInt(map + (long) next[partitionOf[row]]++ * Integer.BYTES, row);
    }
    HostGather.gatherAll(moves, map);
    return offsets;
  }
}

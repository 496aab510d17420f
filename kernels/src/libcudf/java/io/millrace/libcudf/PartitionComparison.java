// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.HostColumnVector;
import ai.rapids.cudf.PartitionedTable;
import io.millrace.column.ColumnReader;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.kernel.partition.PartitionInput;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Compares a partitioned {@link PartitionInput} of ours with libcudf's. Rows are told apart by
 * their number, which is also their position in the input.
 */
final class PartitionComparison {
  private static final int NUMBER = 1;
  private static final int HALF = 2;
  private static final int LOW = 3;

  private final int[] offsets;
  private final int[] partitionOfRow;

  private PartitionComparison(int[] offsets) {
    this.offsets = offsets;
    this.partitionOfRow = new int[offsets[offsets.length - 1]];
  }

  /** A result in host memory, by position. */
  private interface Rows {
    long key(int position);

    long number(int position);

    double half(int position);

    int low(int position);
  }

  /**
   * Both must have the same offsets and the same whole rows in each partition, ours in input order.
   *
   * @throws IllegalStateException at a difference
   */
  static void assertSameRows(
      io.millrace.kernel.partition.PartitionedTable ours,
      PartitionedTable theirs,
      DeviceStream stream) {
    int[] offsets = ours.offsets();
    int[] starts = theirs.getPartitions();
    if (starts.length < ours.partitionCount()
        || !Arrays.equals(starts, Arrays.copyOf(offsets, starts.length))) {
      throw difference(
          "our offsets are %s, libcudf's %s", Arrays.toString(offsets), Arrays.toString(starts));
    }
    PartitionComparison comparison = new PartitionComparison(offsets);
    comparison.readOurs(ours.table(), stream);
    comparison.readTheirs(theirs.getTable());
  }

  private void readOurs(Table table, DeviceStream stream) {
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table host = table.copyTo(HostMemoryResource.INSTANCE, hostStream, stream);
        AccessScope scope = AccessScope.on(hostStream)) {
      stream.synchronize();
      Rows rows = ours(host, scope);
      checkRows(rows, "our");
      forEachPartition(
          (partition, position) -> {
            if (position > offsets[partition]
                && rows.number(position - 1) >= rows.number(position)) {
              throw difference("our row at %s is not in input order", position);
            }
            partitionOfRow[(int) rows.number(position)] = partition;
          });
    }
  }

  // Equal sizes, each row in the partition where ours is, and none twice: so the rows are the same.
  private void readTheirs(ai.rapids.cudf.Table table) {
    try (HostColumnVector key = table.getColumn(PartitionInput.KEY).copyToHost();
        HostColumnVector number = table.getColumn(NUMBER).copyToHost();
        HostColumnVector half = table.getColumn(HALF).copyToHost();
        HostColumnVector low = table.getColumn(LOW).copyToHost()) {
      Rows rows = theirs(key, number, half, low);
      checkRows(rows, "libcudf's");
      boolean[] seen = new boolean[partitionOfRow.length];
      forEachPartition(
          (partition, position) -> {
            int row = (int) rows.number(position);
            if (partitionOfRow[row] != partition || seen[row]) {
              throw difference(
                  "row %s is in our partition %s, and in libcudf's %s",
                  row, partitionOfRow[row], partition);
            }
            seen[row] = true;
          });
    }
  }

  private static Rows ours(Table table, AccessScope scope) {
    ColumnReader key = new ColumnReader(table.column(PartitionInput.KEY), scope);
    ColumnReader number = new ColumnReader(table.column(NUMBER), scope);
    ColumnReader half = new ColumnReader(table.column(HALF), scope);
    ColumnReader low = new ColumnReader(table.column(LOW), scope);
    return new Rows() {
      @Override
      public long key(int position) {
        return key.getLong(position);
      }

      @Override
      public long number(int position) {
        return number.getLong(position);
      }

      @Override
      public double half(int position) {
        return half.getDouble(position);
      }

      @Override
      public int low(int position) {
        return low.getInt(position);
      }
    };
  }

  private static Rows theirs(
      HostColumnVector key, HostColumnVector number, HostColumnVector half, HostColumnVector low) {
    return new Rows() {
      @Override
      public long key(int position) {
        return key.getLong(position);
      }

      @Override
      public long number(int position) {
        return number.getLong(position);
      }

      @Override
      public double half(int position) {
        return half.getDouble(position);
      }

      @Override
      public int low(int position) {
        return low.getInt(position);
      }
    };
  }

  private void checkRows(Rows rows, String whose) {
    IntStream.range(0, partitionOfRow.length)
        .parallel()
        .forEach(
            position -> {
              long number = rows.number(position);
              if (number < 0
                  || number >= partitionOfRow.length
                  || rows.key(position) != PartitionInput.key(number)
                  || rows.half(position) != number * 0.5
                  || rows.low(position) != (int) number) {
                throw difference(
                    "%s row at %s is none of the input: key %s, number %s, half %s, low %s",
                    whose,
                    position,
                    rows.key(position),
                    number,
                    rows.half(position),
                    rows.low(position));
              }
            });
  }

  private interface PositionVisitor {
    void visit(int partition, int position);
  }

  private void forEachPartition(PositionVisitor visitor) {
    IntStream.range(0, offsets.length - 1)
        .parallel()
        .forEach(
            partition ->
                IntStream.range(offsets[partition], offsets[partition + 1])
                    .forEach(position -> visitor.visit(partition, position)));
  }

  private static IllegalStateException difference(String message, Object... values) {
    return new IllegalStateException(String.format(Locale.ROOT, message, values));
  }
}

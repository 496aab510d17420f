// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.HostColumnVector;
import ai.rapids.cudf.PartitionedTable;
import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.kernel.partition.PartitionBenchmark;
import io.millrace.kernel.partition.PartitionInput;
import io.millrace.kernel.partition.StringHashPartitionBenchmark;
import io.millrace.kernel.partition.StringsInput;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/** The counterpart of {@link StringHashPartitionBenchmark} in libcudf. */
public class LibcudfStringHashPartitionBenchmark extends PartitionBenchmark {

  /** Where the texts, numbers and keys of a result are in host memory. */
  private record Rows(String whose, long offsets, long bytes, long numbers, long keys) {
    static Rows ofOurs(io.millrace.column.Table table, AccessScope scope) {
      return new Rows(
          "our",
          address(table.column(StringsInput.TEXT).child(0), scope),
          address(table.column(StringsInput.TEXT), scope),
          address(table.column(StringsInput.NUMBER), scope),
          address(table.column(StringsInput.KEY), scope));
    }

    private static long address(Column column, AccessScope scope) {
      return column.data().orElseThrow().access(AccessMode.READ, scope);
    }

    static Rows ofTheirs(HostColumnVector text, HostColumnVector number, HostColumnVector key) {
      return new Rows(
          "libcudf's",
          text.getOffsets().getAddress(),
          text.getData().getAddress(),
          number.getData().getAddress(),
          key.getData().getAddress());
    }

    int offset(int position) {
      return HostMemory.getInt(offsets + (long) position * Integer.BYTES);
    }

    int number(int position) {
      return (int) HostMemory.getLong(numbers + (long) position * Long.BYTES);
    }

    boolean isRowOf(ColumnReader texts, int position) {
      int number = number(position);
      if (number < 0 || number >= texts.size()) {
        return false;
      }
      long key = HostMemory.getLong(keys + (long) position * Long.BYTES);
      int length = offset(position + 1) - offset(position);
      if (key != PartitionInput.key(number) || length != texts.getLength(number)) {
        return false;
      }
      long text = texts.getBytesAddress(number);
      for (int i = 0; i < length; i++) {
        if (HostMemory.getByte(bytes + offset(position) + i) != HostMemory.getByte(text + i)) {
          return false;
        }
      }
      return true;
    }
  }

  /** Fails the benchmark if the two libraries partition the same rows differently. */
  @Setup
  public void compare(StringsInput input, LibcudfStringsInput libcudf) {
    try (io.millrace.kernel.partition.PartitionedTable ours =
            StringHashPartitionBenchmark.partition(input, partitions);
        DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        io.millrace.column.Table host =
            ours.table().copyTo(HostMemoryResource.INSTANCE, hostStream, input.stream);
        io.millrace.column.Table rows = input.createOnHost(hostStream);
        AccessScope scope = AccessScope.on(hostStream);
        PartitionedTable theirs = partition(libcudf);
        HostColumnVector text = theirs.getTable().getColumn(StringsInput.TEXT).copyToHost();
        HostColumnVector number = theirs.getTable().getColumn(StringsInput.NUMBER).copyToHost();
        HostColumnVector key = theirs.getTable().getColumn(StringsInput.KEY).copyToHost()) {
      input.stream.synchronize();
      int[] offsets = ours.offsets();
      int[] starts = theirs.getPartitions();
      if (!Arrays.equals(starts, Arrays.copyOf(offsets, starts.length))) {
        throw new IllegalStateException("our offsets are not libcudf's");
      }
      ColumnReader texts = new ColumnReader(rows.column(StringsInput.TEXT), scope);
      assertSameRows(Rows.ofOurs(host, scope), Rows.ofTheirs(text, number, key), offsets, texts);
    }
  }

  // Whole rows of the input on both sides, and in each partition the same numbers.
  private static void assertSameRows(Rows ours, Rows theirs, int[] offsets, ColumnReader texts) {
    for (Rows rows : new Rows[] {ours, theirs}) {
      IntStream.range(0, texts.size())
          .parallel()
          .filter(position -> !rows.isRowOf(texts, position))
          .findAny()
          .ifPresent(
              position -> {
                throw new IllegalStateException(
                    rows.whose() + " row at " + position + " is none of the input");
              });
    }
    IntStream.range(0, offsets.length - 1)
        .parallel()
        .forEach(
            partition -> {
              int[] expected = numbers(ours, offsets[partition], offsets[partition + 1]);
              int[] actual = numbers(theirs, offsets[partition], offsets[partition + 1]);
              Arrays.sort(actual);
              if (!Arrays.equals(expected, actual)) {
                throw new IllegalStateException(
                    "partition " + partition + " has other rows than libcudf's, or another order");
              }
            });
  }

  private static int[] numbers(Rows rows, int begin, int end) {
    return IntStream.range(begin, end).map(rows::number).toArray();
  }

  /** Partitions, waits, and frees the output. */
  @Benchmark
  public int hashPartition(LibcudfStringsInput libcudf) {
    try (PartitionedTable output = partition(libcudf)) {
      Cuda.DEFAULT_STREAM.sync();
      return output.getPartitions().length;
    }
  }

  private PartitionedTable partition(LibcudfStringsInput libcudf) {
    return libcudf.table.onColumns(StringsInput.TEXT).hashPartition(partitions);
  }
}

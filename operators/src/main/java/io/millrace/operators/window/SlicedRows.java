// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.device.DeviceStream;
import io.millrace.kernel.partition.Partition;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.kernel.slice.TimeSlices;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.Optional;

/**
 * Rows of a batch, grouped by slice.
 *
 * @param input empty if the caller did not ask for it
 */
record SlicedRows(PartitionedTable arguments, Optional<PartitionedTable> input)
    implements AutoCloseable {

  /**
   * Groups rows by slice: makes one attempt. Waits.
   *
   * @param start of slice 0
   * @param width of a slice
   * @param slices more than the number of the last time's slice
   * @param withInput whether to group the columns of the batch too
   */
  static SlicedRows of(
      SliceRows rows,
      long start,
      long width,
      int slices,
      boolean withInput,
      DeviceStream stream,
      MemoryResource memory) {
    try (Column numbers = TimeSlices.numbers(rows.times(), start, width, stream, memory)) {
      return of(rows, numbers, slices, withInput, stream, memory);
    }
  }

  /**
   * Groups rows by a number: makes one attempt. Waits.
   *
   * @param numbers an INT for each row, from 0 to {@code count - 1}
   */
  static SlicedRows of(
      SliceRows rows,
      Column numbers,
      int count,
      boolean withInput,
      DeviceStream stream,
      MemoryResource memory) {
    PartitionedTable arguments =
        Partition.partition(rows.arguments(), numbers, count, stream, memory);
    try {
      Optional<PartitionedTable> input =
          withInput
              ? Optional.of(Partition.partition(rows.input(), numbers, count, stream, memory))
              : Optional.empty();
      return new SlicedRows(arguments, input);
    } catch (RuntimeException | Error e) {
      arguments.close();
      throw e;
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(arguments::close);
    input.ifPresent(table -> failure.run(table::close));
    failure.rethrow();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.kernel.slice.TimeSlices;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.retry.Splittable;
import java.util.List;

/**
 * Rows of a batch with their arguments and times, in one order.
 *
 * @param input the columns of the batch
 * @param arguments of the aggregates, and the keys
 * @param times in the zone of the windows
 */
record SliceRows(Table input, Table arguments, Column times) implements Splittable<SliceRows> {

  int rowCount() {
    return times.size();
  }

  /** The first and the last time; there is a row. Waits. */
  TimeRange range(DeviceStream stream, MemoryResource memory) {
    return TimeSlices.range(times, stream, memory);
  }

  /** The same rows, which the caller closes. */
  SliceRows share() {
    return slice(0, rowCount());
  }

  private SliceRows slice(int start, int rows) {
    return new SliceRows(
        input.slice(start, rows), arguments.slice(start, rows), times.slice(start, rows));
  }

  @Override
  public List<SliceRows> halves() {
    int half = rowCount() / 2;
    return half == 0 ? List.of() : List.of(slice(0, half), slice(half, rowCount() - half));
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(input::close);
    failure.run(arguments::close);
    failure.run(times::close);
    failure.rethrow();
  }
}

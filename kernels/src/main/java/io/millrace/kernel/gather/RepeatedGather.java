// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.device.DeviceKind;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;

/**
 * Finds out how many bytes or elements there are in the strings or lists that a map names, which
 * may name a row many times. Waits for the device.
 *
 * @param map INT32[rows]
 * @param scope on the stream that the work is enqueued on
 */
record RepeatedGather(long map, int rows, AccessScope scope, MemoryResource memory) {

  /**
   * The number of bytes or elements.
   *
   * @param inputOffsets at the first row of the slice
   * @throws GpuOutOfMemoryException if a column cannot hold so many, which fewer rows may have
   */
  int count(long inputOffsets) {
    long count =
        isHost()
            ? HostGather.countRuns(map, inputOffsets, rows)
            : GatherKernels.of(scope.stream().device())
                .countRuns(map, inputOffsets, rows, scope.stream(), memory);
    if (count > Integer.MAX_VALUE) {
      throw new GpuOutOfMemoryException("a column holds at most 2 Gi bytes or elements");
    }
    return (int) count;
  }

  /** Writes the numbers of the elements of all lists, one after the other, to {@code output}. */
  void number(long inputOffsets, long outputOffsets, long output, int capacity) {
    GatherPlan.OffsetGather move =
        new GatherPlan.OffsetGather(inputOffsets, 0, outputOffsets, output, capacity, null);
    if (isHost()) {
      HostGather.numberElements(move, map, rows);
    } else {
      GatherKernels.of(scope.stream().device())
          .numberElements(move, map, rows, scope.stream(), memory);
    }
  }

  /** The same of the elements of lists, whose numbers are {@code elements}. */
  RepeatedGather within(long elements, int count) {
    return new RepeatedGather(elements, count, scope, memory);
  }

  private boolean isHost() {
    return scope.stream().device().kind() == DeviceKind.HOST;
  }
}

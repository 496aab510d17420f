// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;

/**
 * Computes the sizes of the strings or lists that a map selects; the map may name a row many times.
 * Waits for the device.
 *
 * @param map INT32[rows]
 * @param scope on the stream that the work is enqueued on
 */
record RepeatedGather(
    RowGather gather, long map, int rows, AccessScope scope, MemoryResource memory) {

  /**
   * The number of bytes or elements.
   *
   * @param inputOffsets at the first row of the slice
   * @throws GpuOutOfMemoryException if there are more than a column can hold; a retry with fewer
   *     rows may succeed
   */
  int count(long inputOffsets) {
    long count = gather.countRuns(map, inputOffsets, rows, scope.stream(), memory);
    if (count > Integer.MAX_VALUE) {
      throw new GpuOutOfMemoryException("a column holds at most 2 Gi bytes or elements");
    }
    return (int) count;
  }

  /** Writes the row numbers of the elements of all lists, one list after the other. */
  void number(long inputOffsets, long outputOffsets, long output, int capacity) {
    GatherPlan.OffsetGather lists =
        new GatherPlan.OffsetGather(inputOffsets, 0, outputOffsets, output, capacity, null);
    gather.numberElements(lists, map, rows, scope.stream(), memory);
  }

  /** The same for the elements of lists, whose row numbers are {@code elements}. */
  RepeatedGather within(long elements, int count) {
    return new RepeatedGather(gather, elements, count, scope, memory);
  }
}

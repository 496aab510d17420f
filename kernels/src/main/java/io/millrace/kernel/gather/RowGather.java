// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;

/**
 * Moves rows on one kind of device. Maps are INT32[rows]: the input row of each output row, or a
 * negative number.
 */
interface RowGather {
  /** Enqueues the moves of all columns of {@code plan}. */
  void gatherAll(GatherPlan plan, long map, DeviceStream stream, MemoryResource memory);

  /**
   * Enqueues the moves of strings.
   *
   * @param scratch address of {@link RunTiles#mostScratchBytes} bytes
   */
  void gatherStrings(
      GatherPlan.OffsetGather move, long map, int rows, long scratch, DeviceStream stream);

  /** Counts the bytes of strings or the elements of lists of all rows. Waits for the device. */
  long countRuns(long map, long inputOffsets, int rows, DeviceStream stream, MemoryResource memory);

  /** Enqueues writing the row numbers of the elements of lists, without moving the elements. */
  void numberElements(
      GatherPlan.OffsetGather lists,
      long map,
      int rows,
      DeviceStream stream,
      MemoryResource memory);
}

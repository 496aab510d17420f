// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;

/**
 * A gather of strings into memory that the caller has, so that it allocates nothing.
 *
 * @param inputOffsets address of the INT32 offset of the first string
 * @param inputBytes the address that these offsets count from
 * @param outputOffsets address of an INT32 for each output row, and one more
 * @param output address of the output's bytes
 * @param capacity bytes of the output
 * @param scratch address of {@link #scratchBytes} bytes
 */
@Internal
public record StringGather(
    long inputOffsets,
    long inputBytes,
    long outputOffsets,
    long output,
    int capacity,
    long scratch) {

  /** Bytes of scratch memory for a gather of up to {@code rows} rows. */
  public static long scratchBytes(int rows, int capacity) {
    return RunTiles.mostScratchBytes(rows, capacity);
  }

  /**
   * Enqueued on {@code stream}.
   *
   * @param map address of an INT32 for each output row, its row of the input; may name a row more
   *     than once. The strings have no more bytes than the output in all
   */
  public void gather(long map, int rows, DeviceStream stream) {
    GatherPlan.OffsetGather move =
        new GatherPlan.OffsetGather(
            inputOffsets, inputBytes, outputOffsets, output, capacity, null);
    Gather.IMPLEMENTATIONS.of(stream.device()).gatherStrings(move, map, rows, scratch, stream);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.slice;

import io.millrace.device.DeviceStream;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.memory.MemoryResource;

/** The operations of slice.cu, on the host or by its kernels. Addresses are on the device. */
interface SliceKernels {

  /**
   * The range of times. Waits for the work.
   *
   * @param rows at least 1
   */
  TimeRange range(long times, int rows, DeviceStream stream, MemoryResource memory);

  /**
   * Writes an INT32 for each row. Enqueued.
   *
   * @param rows at least 1
   */
  void numbers(long times, int rows, long start, long width, long numbers, DeviceStream stream);

  /**
   * Writes an INT64 for each row. Enqueued.
   *
   * @param rows at least 1
   */
  void starts(long times, int rows, long start, long width, long starts, DeviceStream stream);
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.slice;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.memory.MemoryResource;

/** The twin of slice.cu. */
final class HostSliceKernels implements SliceKernels {

  @Override
  public TimeRange range(long times, int rows, DeviceStream stream, MemoryResource memory) {
    long first = Long.MAX_VALUE;
    long last = Long.MIN_VALUE;
    for (int row = 0; row < rows; row++) {
      long time = HostMemory.getLong(times + (long) row * Long.BYTES);
      first = Math.min(first, time);
      last = Math.max(last, time);
    }
    return new TimeRange(first, last);
  }

  @Override
  public void numbers(
      long times, int rows, long start, long width, long numbers, DeviceStream stream) {
    for (int row = 0; row < rows; row++) {
      long time = HostMemory.getLong(times + (long) row * Long.BYTES);
      HostMemory.putInt(
          numbers + (long) row * Integer.BYTES, (int) Long.divideUnsigned(time - start, width));
    }
  }

  @Override
  public void starts(
      long times, int rows, long start, long width, long starts, DeviceStream stream) {
    for (int row = 0; row < rows; row++) {
      long time = HostMemory.getLong(times + (long) row * Long.BYTES);
      HostMemory.putLong(starts + (long) row * Long.BYTES, time - (time - start) % width);
    }
  }
}

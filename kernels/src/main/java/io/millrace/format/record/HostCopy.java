// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;

/** Copies of the device's memory as arrays. Each waits for the stream. */
final class HostCopy {
  private HostCopy() {}

  static long[] longs(long address, int count, DeviceStream stream) {
    long[] values = new long[count];
    try (StagingBuffer staged = stage(address, (long) count * Long.BYTES, stream)) {
      HostMemory.copyToArray(values, staged.address(), count);
    }
    return values;
  }

  static int[] integers(long address, int count, DeviceStream stream) {
    int[] values = new int[count];
    try (StagingBuffer staged = stage(address, (long) count * Integer.BYTES, stream)) {
      for (int i = 0; i < count; i++) {
        values[i] = HostMemory.getInt(staged.address() + (long) i * Integer.BYTES);
      }
    }
    return values;
  }

  static byte[] bytes(long address, int count, DeviceStream stream) {
    byte[] values = new byte[count];
    try (StagingBuffer staged = stage(address, count, stream)) {
      HostMemory.copyToArray(values, 0, staged.address(), count);
    }
    return values;
  }

  private static StagingBuffer stage(long address, long bytes, DeviceStream stream) {
    StagingBuffer staged = stream.device().stagingPool().acquire(Math.max(1, bytes));
    try {
      if (bytes > 0) {
        stream.copy(staged.address(), address, bytes);
        stream.synchronize();
      }
      return staged;
    } catch (RuntimeException | Error e) {
      staged.close();
      throw e;
    }
  }
}

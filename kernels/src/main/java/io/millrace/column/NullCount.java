// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;

/** Counts the bits that are not set in a range of a mask. */
final class NullCount {
  private NullCount() {}

  static int of(Buffer mask, int offset, int size, DeviceStream stream) {
    if (size == 0) {
      return 0;
    }
    long firstByte = offset / 8;
    int firstBit = offset % 8;
    long bytes = (firstBit + (long) size + 7) / 8;
    try (StagingBuffer staging = stream.device().stagingPool().acquire(bytes)) {
      try (AccessScope scope = AccessScope.on(stream)) {
        stream.copy(staging.address(), mask.access(AccessMode.READ, scope) + firstByte, bytes);
      }
      stream.synchronize();
      return HostMemory.countZeroBits(staging.address(), firstBit, size);
    }
  }
}

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
    long firstByte = offset / 8;
    long bytes = (offset % 8 + (long) size + 7) / 8;
    try (StagingBuffer staging = stream.device().stagingPool().acquire(Math.max(1, bytes))) {
      try (AccessScope scope = AccessScope.on(stream)) {
        stream.copy(staging.address(), mask.access(AccessMode.READ, scope) + firstByte, bytes);
      }
      stream.synchronize();
      int valid = 0;
      for (int i = 0; i < size; i++) {
        valid += HostMemory.getBit(staging.address(), offset % 8 + i) ? 1 : 0;
      }
      return size - valid;
    }
  }
}

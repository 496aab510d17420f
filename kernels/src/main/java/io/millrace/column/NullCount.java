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
    long endBit = firstBit + (long) size;
    long bytes = (endBit + 7) / 8;
    try (StagingBuffer staging = stream.device().stagingPool().acquire(bytes)) {
      try (AccessScope scope = AccessScope.on(stream)) {
        stream.copy(staging.address(), mask.access(AccessMode.READ, scope) + firstByte, bytes);
      }
      stream.synchronize();
      return size - setBits(staging.address(), firstBit, endBit);
    }
  }

  // Reads whole words: the capacity of staging buffers is a multiple of a word.
  private static int setBits(long address, int firstBit, long endBit) {
    int count = 0;
    for (long start = 0; start < endBit; start += Long.SIZE) {
      long word = HostMemory.getLong(address + start / Byte.SIZE);
      if (start == 0) {
        word &= -1L << firstBit;
      }
      if (endBit - start < Long.SIZE) {
        word &= (1L << (endBit - start)) - 1;
      }
      count += Long.bitCount(word);
    }
    return count;
  }
}

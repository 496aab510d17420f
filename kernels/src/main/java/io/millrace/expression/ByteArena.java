package io.millrace.expression;

import io.millrace.device.HostDevice;
import java.util.ArrayList;
import java.util.List;

/** Host memory for bytes that live until {@link #reset}; grows and never moves. */
final class ByteArena implements AutoCloseable {
  private static final int CHUNK_BYTES = 1 << 16;

  private record Chunk(long address, long bytes) {}

  private final List<Chunk> chunks = new ArrayList<>();
  private int current = -1;
  private long used;

  /**
   * Uninitialized memory.
   *
   * @throws ResultTooLongException if {@code bytes} is over 2 GiB, or overflowed
   * @throws io.millrace.device.GpuOutOfMemoryException if the process cannot get it
   */
  long allocate(long bytes) {
    if (bytes < 0 || bytes > Integer.MAX_VALUE) {
      throw new ResultTooLongException();
    }
    while (current < 0 || used + bytes > chunks.get(current).bytes()) {
      current++;
      used = 0;
      if (current == chunks.size()) {
        long size = Math.max(CHUNK_BYTES, bytes);
        chunks.add(new Chunk(HostDevice.INSTANCE.allocate(size), size));
      }
    }
    long address = chunks.get(current).address() + used;
    used += bytes;
    return address;
  }

  /** Makes all memory free again. */
  void reset() {
    current = chunks.isEmpty() ? -1 : 0;
    used = 0;
  }

  @Override
  public void close() {
    chunks.forEach(chunk -> HostDevice.INSTANCE.free(chunk.address()));
    chunks.clear();
    reset();
  }
}

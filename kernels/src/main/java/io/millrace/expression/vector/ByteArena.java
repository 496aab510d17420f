// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.Internal;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.expression.error.ResultTooLongException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Host memory for bytes that live until {@link #reset}. Grows, and never moves allocations. */
@Internal
public final class ByteArena implements AutoCloseable {
  private static final int CHUNK_BYTES = 1 << 16;
  private static final int COLLECTED_CHUNK_BYTES = 1 << 10;

  /**
   * @param collected buffer whose memory the garbage collector frees; null if it must be freed
   *     explicitly
   */
  private record Chunk(long address, long bytes, ByteBuffer collected) {
    static Chunk allocated(long bytes) {
      return new Chunk(HostDevice.INSTANCE.allocate(bytes), bytes, null);
    }

    static Chunk collected(int bytes) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
      return new Chunk(HostMemory.address(buffer), bytes, buffer);
    }

    void free() {
      if (collected == null) {
        HostDevice.INSTANCE.free(address);
      }
    }
  }

  private final boolean isCollected;
  private final List<Chunk> chunks = new ArrayList<>();
  private int current = -1;
  private long used;

  public ByteArena() {
    this(false);
  }

  private ByteArena(boolean isCollected) {
    this.isCollected = isCollected;
  }

  /** An arena whose memory the garbage collector frees; for small amounts. */
  public static ByteArena collected() {
    return new ByteArena(true);
  }

  /**
   * Allocates uninitialized memory.
   *
   * @throws ResultTooLongException if {@code bytes} exceeds 2 GiB or is negative by overflow
   * @throws io.millrace.device.GpuOutOfMemoryException if the process has no memory left
   */
  long allocate(long bytes) {
    if (bytes < 0 || bytes > Integer.MAX_VALUE) {
      throw new ResultTooLongException();
    }
    while (current < 0 || used + bytes > chunks.get(current).bytes()) {
      current++;
      used = 0;
      if (current == chunks.size()) {
        chunks.add(
            isCollected
                ? Chunk.collected(Math.max(COLLECTED_CHUNK_BYTES, (int) bytes))
                : Chunk.allocated(Math.max(CHUNK_BYTES, bytes)));
      }
    }
    long address = chunks.get(current).address() + used;
    used += bytes;
    return address;
  }

  /** Releases all allocations for reuse. */
  public void reset() {
    current = chunks.isEmpty() ? -1 : 0;
    used = 0;
  }

  @Override
  public void close() {
    chunks.forEach(Chunk::free);
    chunks.clear();
    reset();
  }
}

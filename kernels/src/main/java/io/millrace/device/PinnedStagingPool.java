// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * Pinned host memory of one device, allocated in powers of two and kept for reuse, because pinning
 * costs milliseconds. Thread-safe.
 */
@PublicEvolving
public final class PinnedStagingPool {
  private static final long MIN_BYTES = 4096;

  private final Device device;
  private final Map<Long, ArrayDeque<Long>> freeBySize = new HashMap<>();
  private final List<Return> returns = new ArrayList<>();
  private long heldBytes;
  private long pinnedBytes;
  private volatile LongConsumer requestListener = bytes -> {};

  private record Return(DeviceEvent event, long address, long capacity) {}

  PinnedStagingPool(Device device) {
    this.device = device;
  }

  /**
   * Takes a buffer of at least {@code bytes} bytes. Its address is valid on the host and on the
   * device. The caller closes it after all work that uses it is done.
   *
   * @throws GpuOutOfMemoryException if the host cannot pin that much
   */
  public StagingBuffer acquire(long bytes) {
    requestListener.accept(bytes);
    long capacity = capacity(bytes);
    synchronized (this) {
      takeReturns();
      heldBytes += capacity;
      ArrayDeque<Long> free = freeBySize.get(capacity);
      if (free != null && !free.isEmpty()) {
        return new StagingBuffer(this, free.pop(), capacity);
      }
    }
    try {
      long address = device.allocatePinned(capacity);
      synchronized (this) {
        pinnedBytes += capacity;
      }
      return new StagingBuffer(this, address, capacity);
    } catch (RuntimeException | Error e) {
      synchronized (this) {
        heldBytes -= capacity;
      }
      throw e;
    }
  }

  /**
   * For tests: calls {@code listener} with the size of each request from now on, in the thread that
   * makes the request. The request fails if the listener throws.
   */
  void listen(LongConsumer listener) {
    requestListener = listener;
  }

  synchronized void release(long address, long capacity) {
    heldBytes -= capacity;
    freeBySize.computeIfAbsent(capacity, size -> new ArrayDeque<>()).push(address);
  }

  synchronized void releaseAfter(DeviceEvent event, long address, long capacity) {
    returns.add(new Return(event.retain(), address, capacity));
  }

  private void takeReturns() {
    returns.removeIf(
        returned -> {
          boolean reached = returned.event.isReached();
          if (reached) {
            returned.event.close();
            release(returned.address, returned.capacity);
          }
          return reached;
        });
  }

  /** Bytes of buffers that are not closed, or closed but still in use by enqueued work. */
  public synchronized long heldBytes() {
    takeReturns();
    return heldBytes;
  }

  /** Bytes pinned, free buffers included. */
  public synchronized long pinnedBytes() {
    return pinnedBytes;
  }

  /** Unpins all free buffers. */
  public synchronized void trim() {
    takeReturns();
    freeBySize.forEach(
        (capacity, addresses) -> {
          addresses.forEach(device::freePinned);
          pinnedBytes -= capacity * addresses.size();
        });
    freeBySize.clear();
  }

  private static long capacity(long bytes) {
    return Math.max(MIN_BYTES, Long.highestOneBit(Math.max(1, bytes - 1)) << 1);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A row count that is computed on a device, for example by a filter: later work reads it there, and
 * the host reads it after an event. The device work writes it as an INT32 to two places, {@link
 * #deviceCount} and {@link #hostAddress}.
 *
 * <p>The creator enqueues that work on its stream and then calls {@link #written}. The count starts
 * with one user; each user closes it once. Thread-safe once it is written.
 */
@PublicEvolving
public final class DeferredRowCount implements AutoCloseable {
  private static final int UNKNOWN = -1;

  private final int upperBound;
  private final DeviceStream stream;
  private final StagingBuffer hostCount;
  private final Buffer deviceCount;
  private final AtomicInteger users = new AtomicInteger(1);
  private DeviceEvent written;
  private volatile int count = UNKNOWN;

  /**
   * A count whose value is undefined.
   *
   * @param upperBound what the count is at most
   * @param stream what the work that writes the count is enqueued on
   * @param resource memory of the stream's device
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no memory for it
   */
  public DeferredRowCount(int upperBound, DeviceStream stream, MemoryResource resource) {
    this.upperBound = upperBound;
    this.stream = stream;
    this.hostCount = stream.device().stagingPool().acquire(Integer.BYTES);
    try {
      this.deviceCount = Buffer.allocate(Integer.BYTES, stream, resource);
    } catch (RuntimeException | Error e) {
      hostCount.close();
      throw e;
    }
  }

  /** No fewer than the count. */
  public int upperBound() {
    return upperBound;
  }

  /** The count for work on the device. Still owned by this count. */
  public Buffer deviceCount() {
    return deviceCount;
  }

  /**
   * The address that the host reads the count at; also valid on the device, which alone writes it.
   */
  public long hostAddress() {
    return hostCount.address();
  }

  /** Says that the work enqueued on the stream so far writes the count. Called once. */
  public void written() {
    written = stream.recordEvent();
  }

  /** Whether {@link #get} does not wait. */
  public boolean isKnown() {
    return count != UNKNOWN || event().isReached();
  }

  /**
   * The count. Waits, at the first call, for the work that writes it.
   *
   * @throws IllegalStateException if the work wrote a number that is negative or above the upper
   *     bound, or if {@link #written} was not called
   */
  public int get() {
    if (count == UNKNOWN) {
      event().synchronize();
      int found = HostMemory.getInt(hostCount.address());
      if (found < 0 || found > upperBound) {
        throw new IllegalStateException(
            "the device counted " + found + " of " + upperBound + " rows");
      }
      count = found;
    }
    return count;
  }

  private DeviceEvent event() {
    if (written == null) {
      throw new IllegalStateException("no work was announced to write the row count");
    }
    return written;
  }

  /** Adds a user: {@link #close} must be called once more. */
  DeferredRowCount retain() {
    users.incrementAndGet();
    return this;
  }

  /** Ends one use; the last one gives the memory back behind the work that writes it. */
  @Override
  public void close() {
    if (users.decrementAndGet() > 0) {
      return;
    }
    try (deviceCount;
        DeviceEvent end = written == null ? stream.recordEvent() : written) {
      hostCount.closeAfter(end);
    }
  }
}

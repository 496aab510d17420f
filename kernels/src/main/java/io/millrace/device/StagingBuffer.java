// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.Internal;

/** A buffer of pinned host memory from a {@link PinnedStagingPool}. Closing twice does nothing. */
@Internal
public final class StagingBuffer implements AutoCloseable {
  private final PinnedStagingPool pool;
  private final long address;
  private final long capacity;
  private boolean closed;

  StagingBuffer(PinnedStagingPool pool, long address, long capacity) {
    this.pool = pool;
    this.address = address;
    this.capacity = capacity;
  }

  /** Valid on the host and on the pool's device. */
  public long address() {
    return address;
  }

  public long capacity() {
    return capacity;
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      pool.release(address, capacity);
    }
  }

  /**
   * Runs {@code work}, which enqueues on {@code stream} what uses this buffer. If it fails, closes
   * the buffer, which the pool reuses only after what was enqueued before the failure.
   */
  public void enqueue(DeviceStream stream, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException | Error e) {
      try (DeviceEvent enqueued = stream.recordEvent()) {
        closeAfter(enqueued);
      } catch (RuntimeException failure) {
        e.addSuppressed(failure);
      }
      throw e;
    }
  }

  /**
   * As {@link #close}, but the pool reuses the memory only after {@code event}; does not wait.
   *
   * @param event recorded after the last work that uses the buffer; the caller still owns it
   */
  public synchronized void closeAfter(DeviceEvent event) {
    if (!closed) {
      closed = true;
      pool.releaseAfter(event, address, capacity);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/**
 * An ordered queue of work on one {@link Device}. Work of one stream runs in order; streams run
 * beside each other unless one waits for another.
 *
 * <p>A stream may be used by one thread at a time, but any thread may mark it, wait for it and make
 * it wait. No method but {@link #synchronize} and {@link #close} waits on the host, except on the
 * host device, where every method has done its work when it returns.
 */
@PublicEvolving
public interface DeviceStream extends AutoCloseable {

  Device device();

  /** Enqueues a copy of {@code bytes} bytes between any two addresses the device can reach. */
  void copy(long targetAddress, long sourceAddress, long bytes);

  /** Enqueues setting {@code bytes} bytes to {@code value}. */
  void fill(long address, byte value, long bytes);

  /**
   * Marks this point of the stream. The caller closes the event, which may be the event that
   * another caller got if no work was enqueued in between.
   */
  DeviceEvent recordEvent();

  /** Makes later work of this stream wait for {@code event}; the host stream waits at once. */
  void waitFor(DeviceEvent event);

  /**
   * Makes later work of this stream wait for an event of the driver that someone else recorded.
   *
   * @param eventHandle a {@code CUevent}, which may be destroyed after this
   * @throws UnsupportedOperationException on the host device
   */
  void waitForHandle(long eventHandle);

  /** Makes later work of this stream wait for all work enqueued so far on {@code other}. */
  default void waitFor(DeviceStream other) {
    if (other != this && other.device().kind() != DeviceKind.HOST) {
      try (DeviceEvent event = other.recordEvent()) {
        waitFor(event);
      }
    }
  }

  /**
   * Waits on the host until all work enqueued so far is done; returns at once if the stream is
   * closed.
   */
  void synchronize();

  /** Whether the stream was closed, so that no work of it is left; false on the host device. */
  boolean isClosed();

  /** Waits for the enqueued work, then destroys the stream. Closing twice does nothing. */
  @Override
  void close();
}

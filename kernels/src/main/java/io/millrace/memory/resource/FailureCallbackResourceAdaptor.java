// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;

/**
 * Asks a callback what to do when the upstream has no memory left: make room and try again, or give
 * up. Nothing is locked while the callback runs, so it may free memory of this resource, also from
 * other threads.
 */
@PublicEvolving
public final class FailureCallbackResourceAdaptor implements MemoryResource {
  private final MemoryResource upstream;
  private final FailureCallback callback;

  /** Makes room after an allocation failed. Called in the thread that allocates. */
  @FunctionalInterface
  public interface FailureCallback {

    /**
     * Called after each failed attempt.
     *
     * @param bytes the bytes requested
     * @return whether to try again
     */
    boolean onFailure(long bytes);
  }

  public FailureCallbackResourceAdaptor(MemoryResource upstream, FailureCallback callback) {
    this.upstream = upstream;
    this.callback = callback;
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  /**
   * {@inheritDoc}
   *
   * @throws GpuOutOfMemoryException the upstream's, once the callback says not to try again
   */
  @Override
  public long allocate(long bytes, DeviceStream stream) {
    while (true) {
      try {
        return upstream.allocate(bytes, stream);
      } catch (GpuOutOfMemoryException e) {
        if (!callback.onFailure(bytes)) {
          throw e;
        }
      }
    }
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    upstream.free(address, bytes, stream);
  }
}

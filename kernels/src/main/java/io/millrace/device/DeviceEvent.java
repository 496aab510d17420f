// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/** A point in a {@link DeviceStream}; reached once all work enqueued before it is done. */
@PublicEvolving
public interface DeviceEvent extends AutoCloseable {

  /** Whether the point has been reached; does not wait. */
  boolean isReached();

  /** Waits on the host until the point is reached. */
  void synchronize();

  /** The driver's event, a {@code CUevent}, for others in this process; 0 on the host. */
  long handle();

  /** Adds a user: {@link #close} must be called once more. */
  DeviceEvent retain();

  /** Gives the event back; a stream that waits for it keeps waiting. */
  @Override
  void close();
}

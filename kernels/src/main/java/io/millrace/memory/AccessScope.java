// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.memory.BufferOwner.Residence;
import java.util.ArrayList;
import java.util.List;

/**
 * The stretch of work on one stream within which pointers of {@link Buffer#access} may be used.
 * Until it is closed the memory stays where it is: it is neither spilled nor released, even if the
 * buffer is closed. Closing the scope marks that work as the last use of each buffer, so that
 * freeing, spilling, or using a buffer on another stream, waits for it. Used by one thread at a
 * time.
 */
@PublicEvolving
public final class AccessScope implements AutoCloseable {
  private final DeviceStream stream;
  private final List<BufferOwner> owners = new ArrayList<>(8);
  private final List<AccessMode> modes = new ArrayList<>(8);
  private boolean closed;

  private AccessScope(DeviceStream stream) {
    this.stream = stream;
  }

  /** Opens a scope for work that is enqueued on {@code stream}. */
  public static AccessScope on(DeviceStream stream) {
    return new AccessScope(stream);
  }

  public DeviceStream stream() {
    return stream;
  }

  /**
   * Begins an access of {@code owner} and gives its address.
   *
   * @throws IllegalStateException if the scope is closed, so that the access would never end
   */
  long add(BufferOwner owner, AccessMode mode) {
    return add(owner, mode, Residence.ON_DEVICE);
  }

  /** The same; {@code residence} says where the memory is. */
  long add(BufferOwner owner, AccessMode mode, Residence residence) {
    if (closed) {
      throw new IllegalStateException("the access scope is closed");
    }
    long address = owner.beginAccess(mode, residence, stream);
    owners.add(owner);
    modes.add(mode);
    return address;
  }

  /**
   * Ends every access, whatever fails, and then throws what failed first. If the stream cannot mark
   * the end of the work, the host waits for it.
   */
  @Override
  public void close() {
    closed = true;
    FirstFailure failure = new FirstFailure();
    DeviceEvent event = needsEvent() ? recordEvent(failure) : null;
    for (int i = 0; i < owners.size(); i++) {
      end(owners.get(i), modes.get(i), event, failure);
    }
    owners.clear();
    modes.clear();
    if (event != null) {
      failure.run(event::close);
    }
    failure.rethrow();
  }

  private boolean needsEvent() {
    for (BufferOwner owner : owners) {
      if (owner.needsEvent(stream)) {
        return true;
      }
    }
    return false;
  }

  private void end(BufferOwner owner, AccessMode mode, DeviceEvent event, FirstFailure failure) {
    try {
      owner.endAccess(mode, stream, event);
    } catch (RuntimeException | Error e) {
      failure.add(e);
    }
  }

  private DeviceEvent recordEvent(FirstFailure failure) {
    try {
      return stream.recordEvent();
    } catch (RuntimeException | Error e) {
      failure.add(e);
      failure.run(stream::synchronize);
      return null;
    }
  }
}

package io.millrace.memory;

import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import java.util.ArrayList;
import java.util.List;

/**
 * The stretch of work on one stream within which pointers of {@link Buffer#access} may be used.
 * Closing it marks that work as the last use of each buffer, so that freeing, or using a buffer on
 * another stream, waits for it. A buffer that is closed within the scope keeps its memory until the
 * scope is closed. Used by one thread.
 */
public final class AccessScope implements AutoCloseable {
  private final DeviceStream stream;
  private final List<BufferOwner> readOwners = new ArrayList<>(4);
  private final List<BufferOwner> writtenOwners = new ArrayList<>(4);

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

  // Work on the owner's own stream is ordered with its release already and needs no event.
  void add(BufferOwner owner, AccessMode mode) {
    owner.beginAccess(mode, stream);
    if (owner.stream() != stream) {
      (mode == AccessMode.WRITE ? writtenOwners : readOwners).add(owner);
    }
  }

  @Override
  public void close() {
    if (readOwners.isEmpty() && writtenOwners.isEmpty()) {
      return;
    }
    try (DeviceEvent event = stream.recordEvent()) {
      readOwners.forEach(owner -> owner.endAccess(AccessMode.READ, stream, event));
      writtenOwners.forEach(owner -> owner.endAccess(AccessMode.WRITE, stream, event));
    }
    readOwners.clear();
    writtenOwners.clear();
  }
}

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

  /**
   * Ends every access, whatever fails, and then throws what failed first. If the stream cannot mark
   * the end of the work, the host waits for it.
   */
  @Override
  public void close() {
    if (readOwners.isEmpty() && writtenOwners.isEmpty()) {
      return;
    }
    FirstFailure failure = new FirstFailure();
    DeviceEvent event = recordEvent(failure);
    readOwners.forEach(owner -> failure.run(() -> owner.endAccess(AccessMode.READ, stream, event)));
    writtenOwners.forEach(
        owner -> failure.run(() -> owner.endAccess(AccessMode.WRITE, stream, event)));
    readOwners.clear();
    writtenOwners.clear();
    if (event != null) {
      failure.run(event::close);
    }
    failure.rethrow();
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

package io.millrace.memory;

import io.millrace.device.Device;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import java.util.ArrayList;
import java.util.List;

/**
 * One contiguous piece of memory and the count of its live slices. The last {@link Buffer} that is
 * closed releases it, after the work that last used it. Thread-safe.
 */
final class BufferOwner {
  private final long address;
  private final long size;
  private final Device device;
  private final DeviceStream stream;
  private final Runnable release;
  private final List<Use> uses = new ArrayList<>(0);
  private int liveSlices;
  private int openAccesses;
  private boolean released;

  private record Use(AccessMode mode, DeviceStream stream, DeviceEvent event) {}

  /**
   * @param device where the memory is
   * @param stream the stream in whose order the memory is valid and is released
   * @param release called once, when no slice is live
   */
  BufferOwner(long address, long size, Device device, DeviceStream stream, Runnable release) {
    this.address = address;
    this.size = size;
    this.device = device;
    this.stream = stream;
    this.release = release;
  }

  long address() {
    return address;
  }

  long size() {
    return size;
  }

  Device device() {
    return device;
  }

  DeviceStream stream() {
    return stream;
  }

  synchronized int liveSlices() {
    return liveSlices;
  }

  /**
   * Counts one more slice.
   *
   * @throws IllegalStateException if the last one was closed meanwhile
   */
  synchronized void retain() {
    checkNotReleased();
    liveSlices++;
  }

  private void checkNotReleased() {
    if (released) {
      throw new IllegalStateException("the buffer is closed");
    }
  }

  /** Counts one slice less; the memory goes once no slice is live and no access is open. */
  void release() {
    synchronized (this) {
      liveSlices--;
      if (!releaseIfUnused()) {
        return;
      }
    }
    release.run();
  }

  private boolean releaseIfUnused() {
    if (liveSlices > 0 || openAccesses > 0) {
      return false;
    }
    released = true;
    for (Use use : uses) {
      stream.waitFor(use.event);
      use.event.close();
    }
    uses.clear();
    return true;
  }

  /**
   * Orders {@code user} behind the work that made the memory and that conflicts with {@code mode}.
   * For a stream that is not the owner's, {@link #endAccess} must follow.
   */
  synchronized void beginAccess(AccessMode mode, DeviceStream user) {
    checkNotReleased();
    if (device.kind() == DeviceKind.CUDA && user.device() != device) {
      throw new IllegalStateException(
          "memory of " + device.description() + " is used on " + user.device().description());
    }
    if (mode == AccessMode.WRITE && liveSlices > 1) {
      throw new IllegalStateException("the buffer is shared by " + liveSlices + " slices");
    }
    user.waitFor(stream);
    for (Use use : uses) {
      if (use.stream != user && (mode == AccessMode.WRITE || use.mode == AccessMode.WRITE)) {
        user.waitFor(use.event);
      }
    }
    if (user != stream) {
      openAccesses++;
    }
  }

  /** Remembers {@code event} as the latest point of {@code user}'s work that uses the memory. */
  void endAccess(AccessMode mode, DeviceStream user, DeviceEvent event) {
    synchronized (this) {
      remember(mode, user, event);
      openAccesses--;
      if (!releaseIfUnused()) {
        return;
      }
    }
    release.run();
  }

  private void remember(AccessMode mode, DeviceStream user, DeviceEvent event) {
    uses.removeIf(
        use -> {
          boolean covered = use.stream == user && (use.mode == mode || mode == AccessMode.WRITE);
          if (covered) {
            use.event.close();
          }
          return covered;
        });
    uses.add(new Use(mode, user, event.retain()));
  }
}

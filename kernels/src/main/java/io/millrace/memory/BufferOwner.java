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
      if (!becomesUnused()) {
        return;
      }
    }
    releaseMemory();
  }

  private boolean becomesUnused() {
    released = liveSlices == 0 && openAccesses == 0;
    return released;
  }

  // No one else reaches the uses once the owner is released. Where neither the stream nor the host
  // can wait, the device has failed and runs nothing any more.
  private void releaseMemory() {
    FirstFailure failure = new FirstFailure();
    for (Use use : uses) {
      failure.run(() -> releaseBehind(use.event));
      failure.run(use.event::close);
    }
    uses.clear();
    failure.run(release);
    failure.rethrow();
  }

  private void releaseBehind(DeviceEvent event) {
    try {
      stream.waitFor(event);
    } catch (IllegalStateException streamIsClosed) {
      event.synchronize();
    }
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

  /**
   * Ends an access and remembers {@code event} as the latest point of {@code user}'s work that uses
   * the memory.
   *
   * @param event null if that work is done
   */
  void endAccess(AccessMode mode, DeviceStream user, DeviceEvent event) {
    FirstFailure failure = new FirstFailure();
    boolean unused;
    synchronized (this) {
      if (event != null) {
        failure.run(() -> remember(mode, user, event));
      }
      openAccesses--;
      unused = becomesUnused();
    }
    if (unused) {
      failure.run(this::releaseMemory);
    }
    failure.rethrow();
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

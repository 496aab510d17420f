// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A device over host memory that does the work of a stream as late as it may: when the host waits
 * for it, or when a stream that waits for it is waited for. Work that is not ordered by waits runs
 * in the worst order, so a wait that is missing shows. Freed memory is overwritten. A closed stream
 * refuses work. For one thread.
 */
public final class DeferredDevice implements Device {
  /** The byte that freed memory is filled with. */
  public static final byte FREED = (byte) 0xdd;

  private final PinnedStagingPool stagingPool = new PinnedStagingPool(this);
  private final List<DeviceEvent> events = new ArrayList<>();

  @Override
  public DeviceKind kind() {
    return DeviceKind.CUDA;
  }

  @Override
  public String description() {
    return "a device that defers its work";
  }

  @Override
  public int index() {
    return 0;
  }

  @Override
  public DeviceStream createStream() {
    return new DeferredStream();
  }

  @Override
  public long allocateAsync(long bytes, DeviceStream stream) {
    return allocate(bytes);
  }

  @Override
  public void freeAsync(long address, DeviceStream stream) {
    if (((DeferredStream) stream).closed) {
      free(address);
    } else {
      ((DeferredStream) stream).enqueue(() -> free(address));
    }
  }

  @Override
  public long allocate(long bytes) {
    long block = HostDevice.INSTANCE.allocate(bytes + Long.SIZE);
    HostMemory.putLong(block, bytes);
    return block + Long.SIZE;
  }

  @Override
  public void free(long address) {
    long block = address - Long.SIZE;
    HostMemory.fill(address, HostMemory.getLong(block), FREED);
    HostDevice.INSTANCE.free(block);
  }

  @Override
  public long allocatePinned(long bytes) {
    return allocate(bytes);
  }

  @Override
  public void freePinned(long address) {
    free(address);
  }

  @Override
  public PinnedStagingPool stagingPool() {
    return stagingPool;
  }

  @Override
  public KernelModule loadModule(String name) {
    throw new UnsupportedOperationException(name);
  }

  @Override
  public long launchCount() {
    return 0;
  }

  private final class DeferredStream implements DeviceStream {
    private final Queue<Runnable> work = new ArrayDeque<>();
    private boolean closed;

    private void enqueue(Runnable step) {
      if (closed) {
        throw new IllegalStateException("the stream is closed");
      }
      work.add(step);
    }

    @Override
    public Device device() {
      return DeferredDevice.this;
    }

    @Override
    public void copy(long targetAddress, long sourceAddress, long bytes) {
      enqueue(() -> HostMemory.copy(targetAddress, sourceAddress, bytes));
    }

    @Override
    public void fill(long address, byte value, long bytes) {
      enqueue(() -> HostMemory.fill(address, bytes, value));
    }

    @Override
    public DeviceEvent recordEvent() {
      AtomicBoolean reached = new AtomicBoolean();
      enqueue(() -> reached.set(true));
      DeferredEvent event = new DeferredEvent(this, events.size() + 1, reached);
      events.add(event);
      return event;
    }

    @Override
    public void waitForHandle(long eventHandle) {
      waitFor(events.get((int) eventHandle - 1));
    }

    @Override
    public void waitFor(DeviceEvent event) {
      enqueue(event::synchronize);
    }

    @Override
    public void waitFor(DeviceStream other) {
      if (other instanceof DeferredStream deferred && !deferred.closed) {
        DeviceStream.super.waitFor(other);
      }
    }

    @Override
    public void synchronize() {
      for (Runnable next = work.poll(); next != null; next = work.poll()) {
        next.run();
      }
    }

    @Override
    public boolean isClosed() {
      return closed;
    }

    @Override
    public void close() {
      synchronize();
      closed = true;
    }
  }

  private record DeferredEvent(DeferredStream stream, long handle, AtomicBoolean reached)
      implements DeviceEvent {
    @Override
    public boolean isReached() {
      return reached.get();
    }

    @Override
    public void synchronize() {
      while (!reached.get()) {
        stream.work.remove().run();
      }
    }

    @Override
    public DeviceEvent retain() {
      return this;
    }

    @Override
    public void close() {}
  }
}

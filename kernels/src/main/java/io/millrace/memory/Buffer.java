package io.millrace.memory;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A slice of memory that an owner keeps until its last slice is closed. Every buffer is closed
 * exactly once by whoever holds it; closing twice does nothing.
 *
 * <p>A pointer is had only through {@link #access}, inside a scope.
 */
public final class Buffer implements AutoCloseable {
  private final BufferOwner owner;
  private final long offset;
  private final long size;
  private final AtomicBoolean closed = new AtomicBoolean();

  private Buffer(BufferOwner owner, long offset, long size) {
    this.owner = owner;
    this.offset = offset;
    this.size = size;
    owner.retain();
  }

  /**
   * Allocates uninitialized memory, valid and released in the order of {@code stream}.
   *
   * @param stream a stream of the resource's device; must stay open as long as the memory
   */
  public static Buffer allocate(long size, DeviceStream stream, MemoryResource resource) {
    if (size < 0) {
      throw new IllegalArgumentException("size is negative: " + size);
    }
    long address = resource.allocate(size, stream);
    return wrap(
        address, size, resource.device(), stream, () -> resource.free(address, size, stream));
  }

  /**
   * Allocates memory and copies {@code size} bytes of host memory into it. {@code hostAddress} must
   * stay valid until the work of {@code stream} is done.
   */
  public static Buffer copyOf(
      long hostAddress, long size, DeviceStream stream, MemoryResource resource) {
    Buffer buffer = allocate(size, stream, resource);
    try {
      stream.copy(buffer.owner.address(), hostAddress, size);
      return buffer;
    } catch (RuntimeException | Error e) {
      buffer.close();
      throw e;
    }
  }

  /**
   * Points at memory that belongs to someone else; nothing is allocated or copied.
   *
   * @param release called once when the last slice is closed, after the work that used it
   */
  public static Buffer wrap(
      long address, long size, Device device, DeviceStream stream, Runnable release) {
    return new Buffer(new BufferOwner(address, size, device, stream, release), 0, size);
  }

  /** Bytes of this slice. */
  public long size() {
    return size;
  }

  /** Where the memory is. */
  public Device device() {
    return owner.device();
  }

  /**
   * A new slice of the same memory.
   *
   * @throws IndexOutOfBoundsException if the range is not within this slice
   * @throws IllegalStateException if this slice is closed
   */
  public Buffer slice(long sliceOffset, long sliceSize) {
    checkOpen();
    Objects.checkFromIndexSize(sliceOffset, sliceSize, size);
    return new Buffer(owner, offset + sliceOffset, sliceSize);
  }

  /** A new slice of all of this one's memory: a shallow copy. */
  public Buffer share() {
    return slice(0, size);
  }

  /** How many slices of the owner's memory are live. */
  public int liveSlices() {
    return owner.liveSlices();
  }

  /**
   * The address of this slice, for use by work on the scope's stream until the scope is closed.
   * That stream is ordered behind the work that wrote the memory.
   *
   * @throws IllegalStateException if the buffer is closed, if the memory cannot be reached from the
   *     scope's device, or if {@code mode} is WRITE and other slices share the memory
   */
  public long access(AccessMode mode, AccessScope scope) {
    checkOpen();
    scope.add(owner, mode);
    return owner.address() + offset;
  }

  private void checkOpen() {
    if (closed.get()) {
      throw new IllegalStateException("the buffer is closed");
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      owner.release();
    }
  }
}

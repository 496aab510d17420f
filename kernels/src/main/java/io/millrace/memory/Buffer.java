// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.BufferOwner.Residence;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A slice of memory that an owner keeps until its last slice is closed. The holder of a buffer
 * closes it; closing twice does nothing.
 *
 * <p>The only ways to a pointer are {@link #access}, valid within a scope, and {@link #expose},
 * valid until the buffer is closed. Between scopes the memory may be spilled and return at another
 * address, unless it is exposed.
 *
 * <p>Buffers may be shared, sliced and closed by any thread. A buffer that is written to is used by
 * one thread at a time; other threads hold their own buffer on the same memory.
 */
@PublicEvolving
public final class Buffer implements AutoCloseable {
  private final long size;
  private final AtomicBoolean closed = new AtomicBoolean();
  // null unless the leak detector tracks this buffer.
  private final LeakDetector.Tracker tracker;
  private BufferOwner owner;
  private long offset;
  private boolean exposed;

  /** Takes over a slice that {@code owner} has counted. */
  private Buffer(BufferOwner owner, long offset, long size) {
    this.owner = owner;
    this.offset = offset;
    this.size = size;
    this.tracker = LeakDetector.PROCESS.track(this);
  }

  /**
   * Allocates uninitialized memory, valid and released in the order of {@code stream}. It is
   * spillable if the memory of {@code resource} is spillable.
   *
   * @param stream a stream of the resource's device; must stay open as long as the memory
   * @throws io.millrace.device.GpuOutOfMemoryException if the resource has too little memory left
   */
  public static Buffer allocate(long size, DeviceStream stream, MemoryResource resource) {
    return new Buffer(allocateOwner(size, stream, resource), 0, size);
  }

  /**
   * As {@link #allocate}, for memory that is used by {@link #accessInPlace}: if there is too little
   * on the device, spillable memory begins in pinned host memory.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory on the device
   *     and on the host
   */
  public static Buffer allocateInPlace(long size, DeviceStream stream, MemoryResource resource) {
    return new Buffer(resource.allocateOwnerInPlace(size, stream), 0, size);
  }

  private static BufferOwner allocateOwner(
      long size, DeviceStream stream, MemoryResource resource) {
    if (size < 0) {
      throw new IllegalArgumentException("size is negative: " + size);
    }
    return resource.allocateOwner(size, stream);
  }

  /**
   * Allocates memory and copies {@code size} bytes of host memory into it. {@code hostAddress} must
   * stay valid until the work of {@code stream} is done.
   */
  public static Buffer copyOf(
      long hostAddress, long size, DeviceStream stream, MemoryResource resource) {
    Buffer buffer = allocate(size, stream, resource);
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.copy(buffer.access(AccessMode.WRITE, scope), hostAddress, size);
      return buffer;
    } catch (RuntimeException | Error e) {
      buffer.close();
      throw e;
    }
  }

  /**
   * Enqueues a copy of this buffer into new memory. If either side is ordinary host memory the copy
   * is done when this returns; for pinned memory and device memory it is done when the work of
   * {@code stream} is.
   *
   * @param targetStream orders the new memory; a stream of the target's device
   * @param stream a stream of the GPU if a GPU is involved
   */
  public Buffer copyTo(MemoryResource target, DeviceStream targetStream, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      return copyTo(target, targetStream, scope);
    }
  }

  /** The same on the scope's stream; one scope for many buffers marks the end of their copies. */
  public Buffer copyTo(MemoryResource target, DeviceStream targetStream, AccessScope scope) {
    Buffer copy = allocate(size(), targetStream, target);
    try {
      long source = access(AccessMode.READ, scope);
      scope.stream().copy(copy.access(AccessMode.WRITE, scope), source, size());
      return copy;
    } catch (RuntimeException | Error e) {
      copy.close();
      throw e;
    }
  }

  /**
   * Wraps memory that the buffer does not own; nothing is allocated or copied, and the memory is
   * never spilled.
   *
   * @param resource the resource that copies of the memory are allocated from
   * @param release called once when the last slice is closed, after the work that used it
   */
  public static Buffer wrap(
      long address, long size, DeviceStream stream, MemoryResource resource, Runnable release) {
    return new Buffer(new FixedBufferOwner(address, size, stream, resource, release), 0, size);
  }

  /** Bytes of this slice. */
  public long size() {
    return size;
  }

  /** The device that uses the memory, even while it is spilled. */
  public Device device() {
    return owner.device();
  }

  /** The tier that holds the memory now. */
  public SpillTier tier() {
    return owner.tier();
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
    owner.retain();
    return new Buffer(owner, offset + sliceOffset, sliceSize);
  }

  /** A new slice of the same range of the same memory, for reading. */
  public Buffer share() {
    return slice(0, size);
  }

  /**
   * A buffer of the same content: later writes to either buffer are invisible to the other. With
   * copy-on-write the memory is shared until either buffer is written to. Memory without
   * copy-on-write is copied at once, and so is memory that may be written to unnoticed because it
   * is exposed or a scope with a WRITE access to it is open.
   *
   * @param stream the stream that a copy is enqueued on and that orders its memory
   */
  public Buffer shallowCopy(DeviceStream stream) {
    checkOpen();
    return owner.isWritable() || !owner.copiesOnWrite() ? deepCopy(stream) : share();
  }

  /**
   * Enqueues a copy of this slice into memory of its own, of the same resource.
   *
   * @param stream the stream that the copy is enqueued on and that orders its memory
   */
  public Buffer deepCopy(DeviceStream stream) {
    checkOpen();
    return new Buffer(copyOwner(Residence.ON_DEVICE, stream), 0, size);
  }

  // The source is accessed first, so that making room for the copy does not move it. The access
  // ends here, and not with the caller's scope: a later writer of the source waits for the copy.
  private BufferOwner copyOwner(Residence residence, DeviceStream stream) {
    BufferOwner copy = null;
    try (AccessScope scope = AccessScope.on(stream)) {
      long source = scope.add(owner, AccessMode.READ, residence) + offset;
      copy =
          residence != Residence.ON_DEVICE
              ? owner.allocateBeside(size, stream)
              : allocateOwner(size, stream, owner.resource());
      stream.copy(scope.add(copy, AccessMode.WRITE, residence), source, size);
      return copy;
    } catch (RuntimeException | Error e) {
      if (copy != null) {
        copy.release();
      }
      throw e;
    }
  }

  /** The number of live slices of the owner's memory. */
  public int liveSlices() {
    return owner.liveSlices();
  }

  /** Whether the memory's address was given to a third party. */
  public boolean isExposed() {
    return owner.isExposed();
  }

  /**
   * The address of this slice, for use by work on the scope's stream until the scope is closed.
   * That stream is ordered behind the work that wrote the memory. Spilled memory is brought back,
   * unless it is in pinned host memory and another access is open.
   *
   * <p>READ never copies. WRITE first makes this slice the only slice of its memory: if there are
   * others, this slice moves to a copy of its own bytes. A slice that was closed within a scope
   * counts until all accesses to the memory have ended.
   *
   * @throws IllegalStateException if the buffer or the scope is closed, if the memory cannot be
   *     reached from the scope's device, or if {@code mode} is WRITE, other slices share the memory
   *     and copy-on-write is off or this buffer is exposed, whose memory must not move
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no room for spilled memory or
   *     for the copy
   */
  public long access(AccessMode mode, AccessScope scope) {
    return access(mode, Residence.ON_DEVICE, scope);
  }

  /**
   * As {@link #access}, but memory that was spilled to pinned host memory may stay there: work on
   * the device reaches it at its address on the host, over the bus. It returns to the device if the
   * device limits have room for it. For memory of which a little is used at a time.
   */
  public long accessInPlace(AccessMode mode, AccessScope scope) {
    return access(mode, Residence.IN_PLACE, scope);
  }

  /**
   * As {@link #accessInPlace}, for memory that every piece of work needs: it counts as used, so
   * that memory that is only accessed in place is spilled before it, and it returns to the device
   * in the place of other memory if it is at most half of the device limits.
   */
  public long useInPlace(AccessMode mode, AccessScope scope) {
    return access(mode, Residence.IN_PLACE_AND_USED, scope);
  }

  private long access(AccessMode mode, Residence residence, AccessScope scope) {
    checkOpen();
    if (mode == AccessMode.WRITE) {
      makeSingleOwner(residence, scope);
    }
    return scope.add(owner, mode, residence) + offset;
  }

  /**
   * Hands the address of this slice to a third party that is not bound to any scope. The slice
   * first becomes the only slice of its memory, as if it were written to. The memory is exposed
   * from now on: it stays where it is until this buffer is closed, is never spilled, and {@link
   * #shallowCopy} copies it.
   *
   * @param scope names the stream that a copy is enqueued on and that is ordered behind the work
   *     that wrote the memory
   * @throws IllegalStateException as {@link #access}
   */
  public long expose(AccessScope scope) {
    boolean wasSpilled = tier() != SpillTier.DEVICE;
    long address = access(exposed ? AccessMode.READ : AccessMode.WRITE, scope);
    owner.expose(wasSpilled);
    exposed = true;
    return address;
  }

  private void makeSingleOwner(Residence residence, AccessScope scope) {
    BufferOwner shared = owner;
    if (!exposed && shared.copiesOnWrite() && shared.isShared()) {
      owner = copyOwner(residence, scope.stream());
      offset = 0;
      shared.release();
    }
  }

  private void checkOpen() {
    if (closed.get()) {
      throw new IllegalStateException("the buffer is closed");
    }
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      if (tracker != null) {
        tracker.close();
      }
      owner.release();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A slice of memory that an owner keeps until its last slice is closed. Every buffer is closed
 * exactly once by whoever holds it; closing twice does nothing.
 *
 * <p>A pointer is had only through {@link #access}, inside a scope, or through {@link #expose}, for
 * good. Between scopes the memory may be spilled and come back elsewhere, unless it is exposed.
 *
 * <p>Buffers may be shared, sliced and closed by any thread. A buffer that is written to is used by
 * one thread at a time; others hold a buffer of their own on the same memory.
 */
@PublicEvolving
public final class Buffer implements AutoCloseable {
  private final long size;
  private final AtomicBoolean closed = new AtomicBoolean();
  // null unless this buffer is one of those that are followed.
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
   * spillable if {@code resource} makes spillable memory.
   *
   * @param stream a stream of the resource's device; must stay open as long as the memory
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no such memory left
   */
  public static Buffer allocate(long size, DeviceStream stream, MemoryResource resource) {
    return new Buffer(allocateOwner(size, stream, resource), 0, size);
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
   * Points at memory that belongs to someone else; nothing is allocated or copied, and nothing is
   * ever spilled.
   *
   * @param resource where copies of the memory come from
   * @param release called once when the last slice is closed, after the work that used it
   */
  public static Buffer wrap(
      long address, long size, DeviceStream stream, MemoryResource resource, Runnable release) {
    return new Buffer(
        new FixedBufferOwner(address, size, resource.device(), stream, resource, release), 0, size);
  }

  /** Bytes of this slice. */
  public long size() {
    return size;
  }

  /** Where the memory is used, even while it is spilled. */
  public Device device() {
    return owner.device();
  }

  /** Where the memory is kept at the moment. */
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

  /** A new slice of all of this one's memory, which whoever holds it reads. */
  public Buffer share() {
    return slice(0, size);
  }

  /**
   * A buffer of the same content that never sees later writes to this one, nor this one its. With
   * copy-on-write the memory is shared until one of them is written to; memory that may be written
   * to unseen, because it is exposed or a scope with a WRITE access of it is open, and memory
   * without copy-on-write is copied at once.
   *
   * @param stream what a copy is enqueued on and whose order its memory follows
   */
  public Buffer shallowCopy(DeviceStream stream) {
    checkOpen();
    return owner.isWritable() || !owner.copiesOnWrite() ? deepCopy(stream) : share();
  }

  /**
   * Enqueues a copy of this slice into memory of its own, of the same resource.
   *
   * @param stream what the copy is enqueued on and whose order its memory follows
   */
  public Buffer deepCopy(DeviceStream stream) {
    checkOpen();
    return new Buffer(copyOwner(stream), 0, size);
  }

  // The source is accessed first, so that making room for the copy does not move it. The access
  // ends here, and not with the caller's scope: a later writer of the source waits for the copy.
  private BufferOwner copyOwner(DeviceStream stream) {
    BufferOwner copy = null;
    try (AccessScope scope = AccessScope.on(stream)) {
      long source = scope.add(owner, AccessMode.READ) + offset;
      copy = allocateOwner(size, stream, owner.resource());
      stream.copy(scope.add(copy, AccessMode.WRITE), source, size);
      return copy;
    } catch (RuntimeException | Error e) {
      if (copy != null) {
        copy.release();
      }
      throw e;
    }
  }

  /** How many slices of the owner's memory are live. */
  public int liveSlices() {
    return owner.liveSlices();
  }

  /** Whether a third party was given the memory's address. */
  public boolean isExposed() {
    return owner.isExposed();
  }

  /**
   * The address of this slice, for use by work on the scope's stream until the scope is closed.
   * That stream is ordered behind the work that wrote the memory. Spilled memory is brought back.
   *
   * <p>READ never copies. WRITE makes this slice the only one of its memory first: if there are
   * others, this one moves to a copy of its own bytes. A slice that was closed within a scope
   * counts until the accesses of the memory have ended.
   *
   * @throws IllegalStateException if the buffer or the scope is closed, if the memory cannot be
   *     reached from the scope's device, or if {@code mode} is WRITE, other slices share the memory
   *     and copy-on-write is off or this buffer is exposed, whose memory must not move
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no room for spilled memory or
   *     for the copy
   */
  public long access(AccessMode mode, AccessScope scope) {
    checkOpen();
    if (mode == AccessMode.WRITE) {
      makeSingleOwner(scope);
    }
    return scope.add(owner, mode) + offset;
  }

  /**
   * Hands the address of this slice to a third party that is not bound to any scope. The slice is
   * made the only one of its memory first, as if it were written to. The memory is exposed from now
   * on: it stays where it is until this buffer is closed, is never spilled, and {@link
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

  private void makeSingleOwner(AccessScope scope) {
    BufferOwner shared = owner;
    if (!exposed && shared.copiesOnWrite() && shared.isShared()) {
      owner = copyOwner(scope.stream());
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

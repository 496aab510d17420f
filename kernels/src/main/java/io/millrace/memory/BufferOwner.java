// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.annotation.Internal;
import io.millrace.device.Device;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A contiguous range of memory and the number of its live slices. Closing the last {@link Buffer}
 * releases the memory, ordered after the work that last used it. Thread-safe.
 */
@Internal
public abstract class BufferOwner {
  /** Where memory is during an access. */
  enum Residence {
    /** What was spilled returns to the device, if no access to it on the host is open. */
    ON_DEVICE,
    /** What is in pinned host memory may stay there. */
    IN_PLACE,
    /** Likewise, and the access counts as a use, as it does on the device. */
    IN_PLACE_AND_USED
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final StreamUses uses = new StreamUses();
  private final long size;
  private int liveSlices = 1;
  // Their accesses may continue, so they count as sharing the memory until no access is open.
  private int slicesClosedInAccess;
  private int openAccesses;
  private int openOwnAccesses;
  // Recorded after all work of the memory's own stream that uses the memory; null if only the end
  // of the stream is known to be after that work.
  private DeviceEvent ownWork;
  // Whose work is ordered behind all work of the memory's own stream so far; null if that is known
  // of none.
  private DeviceStream orderedUser;
  private int openWrites;
  private boolean exposed;
  private boolean released;

  /** Counts one slice, which the caller holds. */
  public BufferOwner(long size) {
    this.size = size;
  }

  /** The device that uses the memory. */
  public abstract Device device();

  /** The resource that copies of the memory are allocated from. */
  public abstract MemoryResource resource();

  /** The stream in whose order the memory is valid and is released. Called under the lock. */
  public abstract DeviceStream stream();

  /** The memory's address, valid until no access is open. Called under the lock. */
  public abstract long address();

  /**
   * The memory's address, as {@link #address}; memory that lies in pinned host memory may stay
   * there, since work on the device reaches it.
   *
   * @param isUse whether the access counts as a use, as it does on the device
   */
  public long addressInPlace(boolean isUse) {
    return address();
  }

  /**
   * Memory for a copy of a slice, in the tier of this memory if it is the device or the host.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public BufferOwner allocateBeside(long bytes, DeviceStream user) {
    return resource().allocateOwner(bytes, user);
  }

  /** Gives the memory back in the order of {@link #stream}. Called once, at the end. */
  public abstract void free();

  /** The tier that holds the memory now. */
  public abstract SpillTier tier();

  /** Called under the lock when the memory becomes exposed. */
  public void onExposed(boolean wasSpilled) {}

  public final long size() {
    return size;
  }

  final int liveSlices() {
    lock.lock();
    try {
      return liveSlices;
    } finally {
      lock.unlock();
    }
  }

  /** Whether a write would be seen through another slice or its access. */
  final boolean isShared() {
    lock.lock();
    try {
      return sharers() > 1;
    } finally {
      lock.unlock();
    }
  }

  private int sharers() {
    return liveSlices + slicesClosedInAccess;
  }

  final boolean isExposed() {
    lock.lock();
    try {
      return exposed;
    } finally {
      lock.unlock();
    }
  }

  /** Whether a pointer for writing exists whose use copy-on-write cannot see. */
  final boolean isWritable() {
    lock.lock();
    try {
      return exposed || openWrites > 0;
    } finally {
      lock.unlock();
    }
  }

  /** Whether memory that several slices share is copied when one of them is written to. */
  final boolean copiesOnWrite() {
    return resource().copiesOnWrite();
  }

  /**
   * Counts one more slice.
   *
   * @throws IllegalStateException if the last slice was closed meanwhile
   */
  final void retain() {
    lock.lock();
    try {
      checkNotReleased();
      liveSlices++;
    } finally {
      lock.unlock();
    }
  }

  private void checkNotReleased() {
    if (released) {
      throw new IllegalStateException("the buffer is closed");
    }
  }

  /** Counts one slice less; the memory goes once no slice is live and no access is open. */
  final void release() {
    boolean unused;
    lock.lock();
    try {
      liveSlices--;
      slicesClosedInAccess += openAccesses > 0 ? 1 : 0;
      unused = becomesUnused();
    } finally {
      lock.unlock();
    }
    if (unused) {
      FirstFailure failure = new FirstFailure();
      freeMemory(failure);
      failure.rethrow();
    }
  }

  private boolean becomesUnused() {
    released = liveSlices == 0 && openAccesses == 0;
    return released;
  }

  // No other thread can reach the memory once the owner is released.
  private void freeMemory(FirstFailure failure) {
    uses.orderAllBefore(stream(), failure);
    uses.clear(failure);
    failure.run(this::forgetOwnWork);
    failure.run(this::free);
  }

  /**
   * Orders {@code user} behind the work that made the memory and that conflicts with {@code mode},
   * and keeps the memory where it is until {@link #endAccess}.
   *
   * @param residence where the memory is during the access
   * @return the memory's address
   * @throws IllegalStateException if the memory cannot be reached from the user's device, or if
   *     {@code mode} is WRITE and other slices share it
   */
  final long beginAccess(AccessMode mode, Residence residence, DeviceStream user) {
    lock.lock();
    try {
      checkNotReleased();
      if (!device().isHostAccessible() && user.device() != device()) {
        throw new IllegalStateException(
            "memory of " + device().description() + " is used on " + user.device().description());
      }
      if (mode == AccessMode.WRITE && sharers() > 1) {
        throw new IllegalStateException("the buffer is shared by " + sharers() + " slices");
      }
      boolean isUse = residence == Residence.IN_PLACE_AND_USED;
      long address = residence == Residence.ON_DEVICE ? address() : addressInPlace(isUse);
      orderBehindOwnWork(user);
      uses.orderBefore(mode, user);
      openAccesses++;
      openOwnAccesses += user == stream() ? 1 : 0;
      openWrites += mode == AccessMode.WRITE ? 1 : 0;
      return address;
    } finally {
      lock.unlock();
    }
  }

  // A third party may use the memory on its stream unseen.
  private void orderBehindOwnWork(DeviceStream user) {
    boolean ownWorkEnded = openOwnAccesses == 0 && !exposed;
    if (user == stream()) {
      orderedUser = null;
    } else if (!ownWorkEnded) {
      user.waitFor(stream());
    } else if (user != orderedUser) {
      if (ownWork != null) {
        user.waitFor(ownWork);
      } else {
        user.waitFor(stream());
      }
      orderedUser = user;
    }
  }

  private void forgetOwnWork() {
    DeviceEvent forgotten = ownWork;
    ownWork = null;
    orderedUser = null;
    if (forgotten != null) {
      forgotten.close();
    }
  }

  /** Whether an access is open, so that the memory stays where it is; under the lock. */
  protected final boolean isAccessed() {
    return openAccesses > 0;
  }

  /** Whether {@code user}'s work is not ordered with the memory's release without an event. */
  final boolean needsEvent(DeviceStream user) {
    return stream() != user;
  }

  /**
   * Ends an access and remembers {@code event} as the latest point of {@code user}'s work that uses
   * the memory.
   *
   * @param event null if that work is done; may be null if it is ordered with the memory's release
   */
  final void endAccess(AccessMode mode, DeviceStream user, DeviceEvent event) {
    FirstFailure failure = new FirstFailure();
    boolean unused;
    lock.lock();
    try {
      if (user == stream()) {
        openOwnAccesses--;
        failure.run(this::forgetOwnWork);
        ownWork = event == null ? null : event.retain();
      } else if (event != null) {
        failure.run(() -> uses.add(mode, user, event));
      }
      openAccesses--;
      openWrites -= mode == AccessMode.WRITE ? 1 : 0;
      slicesClosedInAccess = openAccesses == 0 ? 0 : slicesClosedInAccess;
      unused = becomesUnused();
    } finally {
      lock.unlock();
    }
    if (unused) {
      freeMemory(failure);
    }
    failure.rethrow();
  }

  /**
   * Marks the memory as known to a third party: it is never moved again.
   *
   * @param wasSpilled whether it was spilled before
   */
  final void expose(boolean wasSpilled) {
    lock.lock();
    try {
      checkNotReleased();
      if (!exposed) {
        exposed = true;
        onExposed(wasSpilled);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes the lock if that needs no waiting and the memory may move. If this returns true, {@link
   * #endMove} must follow.
   */
  public final boolean beginMove() {
    if (!lock.tryLock()) {
      return false;
    }
    boolean outermost = lock.getHoldCount() == 1;
    if (outermost && openAccesses == 0 && !exposed && !released) {
      return true;
    }
    lock.unlock();
    return false;
  }

  public final void endMove() {
    lock.unlock();
  }

  /**
   * Makes {@code mover} wait for all work on the memory. Called between begin and end of a move.
   */
  public final void orderMove(DeviceStream mover) {
    mover.waitFor(stream());
    FirstFailure failure = new FirstFailure();
    uses.orderAllBefore(mover, failure);
    failure.rethrow();
  }

  /** Forgets the uses before a move. The move is done, so later work need not wait for them. */
  public final void forgetUses() {
    FirstFailure failure = new FirstFailure();
    uses.clear(failure);
    failure.run(this::forgetOwnWork);
    failure.rethrow();
  }
}

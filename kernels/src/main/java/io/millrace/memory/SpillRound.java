package io.millrace.memory;

import io.millrace.device.DeviceStream;
import java.util.ArrayList;
import java.util.List;

/**
 * One move of buffers off the device. The copies to the host are enqueued together and waited for
 * once; what the host has no room for is written to disk. Used by one thread, which is the only one
 * that spills.
 */
final class SpillRound {
  // Bounds how long the buffers that are being moved stay locked.
  private static final long BATCH_BYTES = 256L << 20;

  private final SpillManager manager;
  private final SpillTransfers transfers;
  private final long wantedBytes;
  private final List<Copy> copies = new ArrayList<>();
  private long copyingBytes;
  private long spilledBytes;
  private long startNanos;

  private record Copy(SpillableBufferOwner owner, long hostAddress) {}

  SpillRound(SpillManager manager, long wantedBytes) {
    this.manager = manager;
    this.transfers = manager.transfers();
    this.wantedBytes = wantedBytes;
  }

  /** Spills in the order given and says how much, or throws after what had begun is done. */
  long run(List<SpillableBufferOwner> owners) {
    FirstFailure failure = new FirstFailure();
    failure.run(() -> beginAll(owners));
    failure.run(this::finishCopies);
    failure.rethrow();
    return spilledBytes;
  }

  private void beginAll(List<SpillableBufferOwner> owners) {
    for (SpillableBufferOwner owner : owners) {
      if (spilledBytes + copyingBytes >= wantedBytes) {
        return;
      }
      if (owner.beginMove()) {
        begin(owner);
      }
      if (copyingBytes >= BATCH_BYTES) {
        finishCopies();
      }
    }
  }

  private void begin(SpillableBufferOwner owner) {
    boolean copying = false;
    try {
      if (owner.tier() == SpillTier.DEVICE) {
        copying = beginCopyToHost(owner);
        if (!copying) {
          moveToDisk(owner);
        }
      }
    } finally {
      if (!copying) {
        owner.endMove();
      }
    }
  }

  private boolean beginCopyToHost(SpillableBufferOwner owner) {
    long hostAddress = owner.share().allocateHost(owner);
    if (hostAddress == 0) {
      return false;
    }
    if (copies.isEmpty()) {
      startNanos = transfers.nanoTime();
    }
    try {
      DeviceStream stream = transfers.spillStream();
      owner.orderMove(stream);
      stream.copy(hostAddress, owner.keptAddress(), owner.size());
    } catch (RuntimeException | Error e) {
      owner.share().freeHost(owner, hostAddress);
      throw e;
    }
    copies.add(new Copy(owner, hostAddress));
    copyingBytes += owner.size();
    return true;
  }

  private void moveToDisk(SpillableBufferOwner owner) {
    if (owner.share().hasDisk()) {
      owner.orderMove(transfers.spillStream());
      long address = owner.keptAddress();
      owner.share().copyToDisk(owner, SpillTier.DEVICE);
      manager.leftDevice(owner, address);
      spilledBytes += owner.size();
    }
  }

  private void finishCopies() {
    if (copies.isEmpty()) {
      return;
    }
    FirstFailure failure = new FirstFailure();
    failure.run(transfers.spillStream()::synchronize);
    boolean copied = !failure.hasFailed();
    long nanosPerRound = transfers.nanoTime() - startNanos;
    for (Copy copy : copies) {
      SpillableBufferOwner owner = copy.owner;
      if (copied) {
        failure.run(() -> arrive(copy, nanosPerRound * owner.size() / Math.max(1, copyingBytes)));
      } else {
        failure.run(() -> owner.share().freeHost(owner, copy.hostAddress));
      }
      owner.endMove();
    }
    copies.clear();
    copyingBytes = 0;
    failure.rethrow();
  }

  private void arrive(Copy copy, long nanos) {
    SpillableBufferOwner owner = copy.owner;
    long address = owner.keptAddress();
    owner.movedToHost(copy.hostAddress);
    owner.share().arrivedOnHost(owner, nanos);
    spilledBytes += owner.size();
    manager.leftDevice(owner, address);
  }
}

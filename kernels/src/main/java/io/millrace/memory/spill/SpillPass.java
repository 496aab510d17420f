// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.SpillTier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One pass that moves buffers off the device. Copies to the host are enqueued in batches; while a
 * batch is copied, the previous batch is accounted for. Buffers that do not fit the host limit are
 * written to disk. Used by the only thread that spills.
 */
final class SpillPass {
  // Bounds how long buffers stay locked: two batches are on their way at once. Copying one takes
  // long enough to hide what the host does for the next.
  private static final long BATCH_BYTES = 32L << 20;

  private final SpillTransfers transfers;
  private final long wantedBytes;
  // Stores whose disk is full or failed: their buffers stay on the device.
  private final Map<SpillStore, SpillException> refusals = new LinkedHashMap<>();
  private Batch filling = new Batch();
  private Batch running = new Batch();
  private long spilledBytes;
  private long lastEndNanos;

  private record Copy(SpillableBufferOwner owner, long hostAddress) {}

  private static final class Batch {
    private final List<Copy> copies = new ArrayList<>();
    private long bytes;
    private long startNanos;
    private DeviceEvent end;
  }

  SpillPass(SpillTransfers transfers, long wantedBytes) {
    this.transfers = transfers;
    this.wantedBytes = wantedBytes;
    this.lastEndNanos = transfers.nanoTime();
  }

  /**
   * Spills in the given order and returns the bytes spilled, or throws after the moves that have
   * begun are done. A quota whose disk fails or is full is skipped, so that it does not fail others
   * that can spill.
   *
   * @throws SpillException if a disk fails or is full, and nothing else could be spilled
   */
  long run(List<SpillableBufferOwner> owners) {
    FirstFailure failure = new FirstFailure();
    failure.run(() -> beginAll(owners));
    failure.run(this::finishRunning);
    failure.run(this::finishRunning);
    if (spilledBytes == 0) {
      refusals.values().forEach(failure::add);
    }
    failure.rethrow();
    return spilledBytes;
  }

  private void beginAll(List<SpillableBufferOwner> owners) {
    for (SpillableBufferOwner owner : owners) {
      if (spilledBytes + running.bytes + filling.bytes >= wantedBytes) {
        return;
      }
      if (!refusals.containsKey(owner.store()) && owner.beginMove()) {
        begin(owner);
      }
      if (filling.bytes >= BATCH_BYTES) {
        finishRunning();
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
    } catch (SpillException e) {
      refusals.put(owner.store(), e);
    } finally {
      if (!copying) {
        owner.endMove();
      }
    }
  }

  private boolean beginCopyToHost(SpillableBufferOwner owner) {
    long hostAddress = owner.store().allocateHost(owner);
    if (hostAddress == 0) {
      return false;
    }
    if (filling.copies.isEmpty()) {
      filling.startNanos = transfers.nanoTime();
    }
    try {
      DeviceStream stream = transfers.spillStream();
      owner.orderMove(stream);
      stream.copy(hostAddress, owner.keptAddress(), owner.size());
    } catch (RuntimeException | Error e) {
      owner.store().freeHost(owner, hostAddress);
      throw e;
    }
    filling.copies.add(new Copy(owner, hostAddress));
    filling.bytes += owner.size();
    return true;
  }

  // Running copies are finished first, so that their buffers are not locked during the disk write.
  private void moveToDisk(SpillableBufferOwner owner) {
    if (owner.store().hasDisk()) {
      finishRunning();
      finishRunning();
      owner.orderMove(transfers.spillStream());
      long address = owner.keptAddress();
      owner.store().copyToDisk(owner, SpillTier.DEVICE);
      owner.leftDevice(address, transfers.spillStream());
      spilledBytes += owner.size();
    }
  }

  /** Finishes the running batch while the copies enqueued since run as the next batch. */
  private void finishRunning() {
    Batch batch = running;
    running = filling;
    filling = new Batch();
    FirstFailure failure = new FirstFailure();
    failure.run(() -> markEnd(running));
    finish(batch, failure);
    failure.rethrow();
  }

  private void markEnd(Batch batch) {
    if (!batch.copies.isEmpty()) {
      batch.end = transfers.spillStream().recordEvent();
    }
  }

  private void finish(Batch batch, FirstFailure failure) {
    if (batch.copies.isEmpty()) {
      return;
    }
    FirstFailure copying = new FirstFailure();
    copying.run(() -> await(batch));
    long endNanos = transfers.nanoTime();
    long nanos = endNanos - Math.max(batch.startNanos, lastEndNanos);
    lastEndNanos = endNanos;
    for (Copy copy : batch.copies) {
      SpillableBufferOwner owner = copy.owner;
      if (copying.hasFailed()) {
        failure.run(() -> owner.store().freeHost(owner, copy.hostAddress));
      } else {
        failure.run(() -> arrive(copy, (long) ((double) nanos / batch.bytes * owner.size())));
      }
      owner.endMove();
    }
    failure.run(copying::rethrow);
  }

  private void await(Batch batch) {
    if (batch.end == null) {
      transfers.spillStream().synchronize();
      return;
    }
    try (DeviceEvent end = batch.end) {
      end.synchronize();
    }
  }

  private void arrive(Copy copy, long nanos) {
    SpillableBufferOwner owner = copy.owner;
    long address = owner.keptAddress();
    owner.movedToHost(copy.hostAddress);
    owner.store().arrivedOnHost(owner, nanos);
    spilledBytes += owner.size();
    owner.leftDevice(address, transfers.spillStream());
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The owners whose memory is on the device and may be spilled, and the clock that dates their
 * accesses. Owners are linked with each other, so that adding and removing an owner, which every
 * buffer pays for, allocates nothing. Thread-safe.
 */
final class SpillCandidates {
  private final AtomicLong ticks = new AtomicLong();
  private SpillableBufferOwner first;

  /** Advances the clock: each new owner is younger than all before it. */
  long nextTick() {
    return ticks.incrementAndGet();
  }

  long currentTick() {
    return ticks.get();
  }

  /** Adds {@code owner} unless it is in the list. */
  synchronized void add(SpillableBufferOwner owner) {
    if (contains(owner)) {
      return;
    }
    owner.next = first;
    if (first != null) {
      first.previous = owner;
    }
    first = owner;
  }

  /** Removes {@code owner} if it is in the list. */
  synchronized void remove(SpillableBufferOwner owner) {
    if (!contains(owner)) {
      return;
    }
    if (owner == first) {
      first = owner.next;
    } else {
      owner.previous.next = owner.next;
    }
    if (owner.next != null) {
      owner.next.previous = owner.previous;
    }
    owner.previous = null;
    owner.next = null;
  }

  private boolean contains(SpillableBufferOwner owner) {
    return owner == first || owner.previous != null;
  }

  synchronized List<SpillableBufferOwner> toList() {
    List<SpillableBufferOwner> owners = new ArrayList<>();
    for (SpillableBufferOwner owner = first; owner != null; owner = owner.next) {
      owners.add(owner);
    }
    return owners;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import java.util.ArrayList;
import java.util.List;

/**
 * A set of owners that are linked with each other, so that adding and removing one, which every
 * buffer pays for, allocates nothing. An owner is in one list at most. Thread-safe.
 */
final class SpillCandidates {
  private SpillableBufferOwner first;

  /** The place of one owner in its list, guarded by the list. */
  static final class Links {
    private SpillableBufferOwner previous;
    private SpillableBufferOwner next;
  }

  /** Adds {@code owner}, unless it is here. */
  synchronized void add(SpillableBufferOwner owner) {
    if (contains(owner)) {
      return;
    }
    owner.links().next = first;
    if (first != null) {
      first.links().previous = owner;
    }
    first = owner;
  }

  /** Removes {@code owner}, if it is here. */
  synchronized void remove(SpillableBufferOwner owner) {
    if (!contains(owner)) {
      return;
    }
    Links links = owner.links();
    if (owner == first) {
      first = links.next;
    } else {
      links.previous.links().next = links.next;
    }
    if (links.next != null) {
      links.next.links().previous = links.previous;
    }
    links.previous = null;
    links.next = null;
  }

  private boolean contains(SpillableBufferOwner owner) {
    return owner == first || owner.links().previous != null;
  }

  synchronized List<SpillableBufferOwner> toList() {
    List<SpillableBufferOwner> owners = new ArrayList<>();
    for (SpillableBufferOwner owner = first; owner != null; owner = owner.links().next) {
      owners.add(owner);
    }
    return owners;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * Gives each reader the next range when it has read one. Holds the snapshot that all of them read
 * until each reader was told that there is nothing more.
 */
final class KeyRangeEnumerator implements SplitEnumerator<KeyRange, Collection<KeyRange>> {
  private final SplitEnumeratorContext<KeyRange> context;
  private final TableSnapshot snapshot;
  private final Optional<Collection<KeyRange>> restored;
  private final Deque<KeyRange> unassigned = new ArrayDeque<>();
  private final Set<Integer> finished = new HashSet<>();

  /**
   * @param restored the ranges of a checkpoint that no reader has; empty if the table is to be
   *     split
   */
  KeyRangeEnumerator(
      SplitEnumeratorContext<KeyRange> context,
      TableSnapshot snapshot,
      Optional<Collection<KeyRange>> restored) {
    this.context = context;
    this.snapshot = snapshot;
    this.restored = restored;
  }

  @Override
  public void start() {
    try {
      snapshot.open();
      Collection<KeyRange> ranges = restored.isPresent() ? restored.get() : snapshot.split();
      unassigned.addAll(ranges);
    } catch (SQLException e) {
      snapshot.close();
      throw new FlinkRuntimeException(
          "PostgreSQL: the table cannot be split: " + e.getMessage(), e);
    }
  }

  @Override
  public void handleSplitRequest(int subtask, String hostname) {
    if (!context.registeredReaders().containsKey(subtask)) {
      return;
    }
    KeyRange next = unassigned.poll();
    if (next != null) {
      context.assignSplit(next.withSnapshot(snapshot.name()), subtask);
      return;
    }
    context.signalNoMoreSplits(subtask);
    finished.add(subtask);
    if (finished.size() == context.currentParallelism()) {
      snapshot.close();
    }
  }

  @Override
  public void addSplitsBack(List<KeyRange> ranges, int subtask) {
    finished.remove(subtask);
    ranges.forEach(unassigned::addFirst);
    try {
      // The reader may have failed since the database restarted, which ended the snapshot.
      snapshot.openAgainIfBroken();
    } catch (SQLException e) {
      throw new FlinkRuntimeException(
          "PostgreSQL: there is no snapshot of the table: " + e.getMessage(), e);
    }
  }

  /** Readers ask for their ranges. */
  @Override
  public void addReader(int subtask) {}

  @Override
  public Collection<KeyRange> snapshotState(long checkpointId) {
    return unassigned.stream().map(range -> range.withSnapshot(KeyRange.OWN_SNAPSHOT)).toList();
  }

  @Override
  public void close() {
    snapshot.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;

/** Gives each subtask its own split as soon as it is there, and no other's. */
final class InterleavedNumberEnumerator
    implements SplitEnumerator<InterleavedNumbers, Collection<InterleavedNumbers>> {
  private final SplitEnumeratorContext<InterleavedNumbers> context;
  private final List<InterleavedNumbers> unassigned;

  InterleavedNumberEnumerator(
      SplitEnumeratorContext<InterleavedNumbers> context,
      Collection<InterleavedNumbers> unassigned) {
    this.context = context;
    this.unassigned = new ArrayList<>(unassigned);
  }

  @Override
  public void start() {}

  // Readers ask for nothing: they get all they will have when they register.
  @Override
  public void handleSplitRequest(int subtask, String hostname) {}

  @Override
  public void addSplitsBack(List<InterleavedNumbers> splits, int subtask) {
    unassigned.addAll(splits);
  }

  @Override
  public void addReader(int subtask) {
    List<InterleavedNumbers> splits =
        unassigned.stream()
            .filter(split -> split.index() % context.currentParallelism() == subtask)
            .toList();
    unassigned.removeAll(splits);
    splits.forEach(split -> context.assignSplit(split, subtask));
    context.signalNoMoreSplits(subtask);
  }

  @Override
  public Collection<InterleavedNumbers> snapshotState(long checkpointId) {
    return List.copyOf(unassigned);
  }

  @Override
  public void close() {}
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;

/**
 * Gives the numbers of a subtask's splits in batches. Of several splits, which a subtask has after
 * the job was scaled down, it takes the one with the lowest number next, so that event times stay
 * close together.
 */
final class InterleavedNumberReader implements SourceReader<NumberBatch, InterleavedNumbers> {
  private final Queue<InterleavedNumbers> splits =
      new PriorityQueue<>(Comparator.comparingLong(split -> split.number(0)));
  private final int batchRows;
  private CompletableFuture<Void> available = new CompletableFuture<>();
  private boolean noMoreSplits;

  /**
   * @param batchRows the most numbers of a batch
   */
  InterleavedNumberReader(int batchRows) {
    this.batchRows = batchRows;
  }

  @Override
  public void start() {}

  @Override
  public InputStatus pollNext(ReaderOutput<NumberBatch> output) {
    InterleavedNumbers split = splits.poll();
    if (split != null) {
      InterleavedNumbers rest = split.rest(batchRows);
      add(rest);
      long following = (splits.isEmpty() ? rest : splits.peek()).number(0);
      output.collect(new NumberBatch(split.first(batchRows), following));
    }
    if (!splits.isEmpty()) {
      return InputStatus.MORE_AVAILABLE;
    }
    if (noMoreSplits) {
      return InputStatus.END_OF_INPUT;
    }
    if (available.isDone()) {
      available = new CompletableFuture<>();
    }
    return InputStatus.NOTHING_AVAILABLE;
  }

  private void add(InterleavedNumbers split) {
    if (!split.isEmpty()) {
      splits.add(split);
    }
  }

  @Override
  public List<InterleavedNumbers> snapshotState(long checkpointId) {
    return List.copyOf(splits);
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    return available;
  }

  @Override
  public void addSplits(List<InterleavedNumbers> added) {
    added.forEach(this::add);
    available.complete(null);
  }

  @Override
  public void notifyNoMoreSplits() {
    noMoreSplits = true;
    available.complete(null);
  }

  @Override
  public void close() {}
}

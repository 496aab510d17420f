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
 * Gives the numbers of a subtask's splits. Of several splits, which a subtask has after the job was
 * scaled down, it gives the lowest number first, so that event time goes on in order.
 */
final class InterleavedNumberReader implements SourceReader<Long, InterleavedNumbers> {
  private final Queue<InterleavedNumbers> splits =
      new PriorityQueue<>(Comparator.comparingLong(InterleavedNumbers::next));
  private CompletableFuture<Void> available = new CompletableFuture<>();
  private boolean noMoreSplits;

  @Override
  public void start() {}

  @Override
  public InputStatus pollNext(ReaderOutput<Long> output) {
    InterleavedNumbers split = splits.poll();
    if (split != null) {
      output.collect(split.next());
      add(split.rest());
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

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import io.millrace.column.StringBytes;
import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.annotation.Internal;

/**
 * Batches in flight to the host, and the events that must stay behind them. All leave in the order
 * they came; a batch that does not fit host memory leaves in several tables.
 *
 * <p>Copies begin as soon as a batch's row count is known, and how much memory large string columns
 * use of what they have. They run on the chain's download stream, beside the chain's work. Where
 * the host is the device, nothing is copied and everything leaves at once. Knows nothing of Flink's
 * operators. Used by one thread.
 */
@Internal
public final class DownloadQueue implements AutoCloseable {
  // Copying as much takes as long as asking the device how much of it is used.
  private static final long LARGE_STRING_BYTES = 1 << 20;

  private final DeviceContext context;
  private final HostTransfer transfer;
  private final int batchesInFlight;
  private final long largeStringBytes;
  private final Deque<Entry> entries = new ArrayDeque<>();
  private int batches;

  /** An entry of the queue. */
  private interface Entry {
    /** Enqueues its copy if that needs no waiting. */
    void startIfKnown();

    boolean isDone();

    /** Waits for it and hands it on; it is the first of the queue. */
    void finish();

    void close();
  }

  /**
   * @param batchesInFlight how many batches may be on their way before {@link #add} waits
   */
  public DownloadQueue(DeviceContext context, int batchesInFlight) {
    this.context = context;
    this.transfer = new HostTransfer(context);
    this.batchesInFlight = batchesInFlight;
    this.largeStringBytes =
        context.device().isHostAccessible() ? Long.MAX_VALUE : LARGE_STRING_BYTES;
  }

  /** Whether nothing is on its way. */
  public boolean isEmpty() {
    return entries.isEmpty();
  }

  /**
   * Sends a batch to the host. Waits for the first one on its way if there are too many.
   *
   * @param batch stays the caller's too
   * @param consumer borrows the batch's {@linkplain ColumnBatch#table table} in host memory, or one
   *     after the other its parts
   */
  public void add(ColumnBatch batch, Consumer<Table> consumer) {
    add(batch, batch.table(), consumer);
  }

  /** As {@link #add}, but with the {@linkplain EventTimeColumn event times} of the rows. */
  public void addWithEventTimes(ColumnBatch batch, Consumer<Table> consumer) {
    add(batch, batch.tableWithEventTimes(), consumer);
  }

  private void add(ColumnBatch batch, Table table, Consumer<Table> consumer) {
    entries.add(new BatchEntry(batch.retain(), table, consumer));
    batches++;
    poll();
    while (batches > batchesInFlight) {
      finishFirst();
    }
  }

  /** Does {@code step} when all batches before it were handed on, at once if there are none. */
  public void add(Runnable step) {
    entries.add(new StepEntry(step));
    poll();
  }

  /** Emits the batches that have arrived, without waiting for the device. */
  public void poll() {
    List.copyOf(entries).forEach(Entry::startIfKnown);
    while (!entries.isEmpty() && entries.peek().isDone()) {
      finishFirst();
    }
  }

  /**
   * Waits for everything and hands it on.
   *
   * @throws org.apache.flink.runtime.execution.CancelTaskException as from all that hand on, if the
   *     task was canceled
   */
  public void drain() {
    while (!entries.isEmpty()) {
      finishFirst();
    }
  }

  private void finishFirst() {
    context.checkNotCanceled();
    Entry first = entries.peek();
    try {
      context.sendTime().measure(first::finish);
    } finally {
      entries.remove();
      first.close();
    }
  }

  /** Drops the batches in flight. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    entries.forEach(entry -> failure.run(entry::close));
    entries.clear();
    failure.run(transfer::close);
    failure.rethrow();
  }

  private record StepEntry(Runnable step) implements Entry {
    @Override
    public void startIfKnown() {}

    @Override
    public boolean isDone() {
      return true;
    }

    @Override
    public void finish() {
      step.run();
    }

    @Override
    public void close() {}
  }

  private final class BatchEntry implements Entry {
    private final ColumnBatch batch;
    // Owned by the batch.
    private final Table table;
    private final Consumer<Table> consumer;
    // null before the row count is known.
    private StringBytes stringBytes;
    private boolean started;
    // null before the copy is enqueued, and if the batch was emitted in parts.
    private Download download;

    private record Part(Download download, boolean isWhole) {}

    private BatchEntry(ColumnBatch batch, Table table, Consumer<Table> consumer) {
      this.batch = batch;
      this.table = table;
      this.consumer = consumer;
    }

    @Override
    public void startIfKnown() {
      if (!started && table.isRowCountKnown() && stringBytes().isKnown()) {
        start();
      }
    }

    private StringBytes stringBytes() {
      if (stringBytes == null) {
        stringBytes =
            context
                .retry()
                .withRetry(
                    () -> StringBytes.read(table, largeStringBytes, context.downloadStream()));
      }
      return stringBytes;
    }

    private void start() {
      started = true;
      try (Table narrow = stringBytes().narrow()) {
        context
            .retry()
            .withSplitAndRetry(
                narrow, part -> new Part(transfer.download(part), part == narrow), this::take);
      }
    }

    // A part is emitted before the next part is copied: there is no memory for both.
    private void take(Part part) {
      if (part.isWhole()) {
        download = part.download();
        return;
      }
      try (Download copied = part.download()) {
        while (entries.peek() != this) {
          finishFirst();
        }
        consumer.accept(copied.await());
      }
    }

    @Override
    public boolean isDone() {
      return started && (download == null || download.isDone());
    }

    @Override
    public void finish() {
      if (!started) {
        start();
      }
      if (download != null) {
        consumer.accept(download.await());
      }
    }

    @Override
    public void close() {
      batches--;
      FirstFailure failure = new FirstFailure();
      if (stringBytes != null) {
        failure.run(stringBytes::close);
      }
      if (download != null) {
        failure.run(download::close);
      }
      failure.run(batch::release);
      failure.rethrow();
    }
  }
}

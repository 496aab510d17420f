// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.EventLine;
import io.millrace.state.lookup.LookupTable;
import io.millrace.state.lookup.LookupTableBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.util.FatalExitExceptionHandler;
import org.apache.flink.util.clock.Clock;
import org.apache.flink.util.clock.SystemClock;
import org.apache.flink.util.concurrent.ExecutorThreadFactory;

/**
 * The copy of a dimension table in the memory of a device, which the subtasks of a job in this
 * process share. A thread of its own reads the table when the first subtask opens, and again at
 * intervals: the new table takes the place of the old one when it is whole; if a read fails, the
 * old one stays. With the last subtask the thread ends and the memory is released. Thread-safe.
 */
final class SharedDimension {
  // Its lock guards the counts of users.
  private static final Map<Key, SharedDimension> OPEN = new HashMap<>();

  private final Key key;
  private final DimensionTable definition;
  private final DeviceContext context;
  private final Clock clock;
  private final ScheduledExecutorService thread;
  private final ScheduledFuture<?> refreshing;
  private final CompletableFuture<Void> first = new CompletableFuture<>();
  private int users;
  // Guarded by this, from here on. null before the first read.
  private Version current;
  private DimensionReader reading;
  private boolean closing;
  private long refreshes;
  private long failures;
  private String lastFailure = "";
  // null unless the thread has ended with one.
  private Error error;

  private record Key(JobID job, Device device, DimensionTable definition) {}

  /** A table with its users, the last of whom closes it. */
  static final class Version implements AutoCloseable {
    private final LookupTable table;
    private final long readNanos;
    private int users = 1;

    /**
     * @param readNanos when the read began
     */
    private Version(LookupTable table, long readNanos) {
      this.table = table;
      this.readNanos = readNanos;
    }

    LookupTable table() {
      return table;
    }

    private synchronized Version retain() {
      users++;
      return this;
    }

    @Override
    public synchronized void close() {
      if (--users == 0) {
        table.close();
      }
    }
  }

  private SharedDimension(Key key, DeviceContext context, Clock clock) {
    this.key = key;
    this.definition = key.definition();
    this.context = context;
    this.clock = clock;
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            new ExecutorThreadFactory(
                "millrace dimension " + definition.name(), FatalExitExceptionHandler.INSTANCE));
    long interval = definition.refresh().interval().toMillis();
    this.refreshing =
        thread.scheduleWithFixedDelay(this::refresh, 0, interval, TimeUnit.MILLISECONDS);
  }

  /**
   * The copy for an operator that is being opened, which calls {@link #release} when it closes.
   *
   * @param device of the operator
   */
  static SharedDimension acquire(
      AbstractStreamOperator<?> operator, Device device, DimensionTable definition) {
    JobID job = operator.getContainingTask().getEnvironment().getJobID();
    Key key = new Key(job, device, definition);
    synchronized (OPEN) {
      SharedDimension open = OPEN.get(key);
      if (open == null) {
        DeviceContext context = DeviceContext.openShared(operator, device);
        open = new SharedDimension(key, context, SystemClock.getInstance());
        OPEN.put(key, open);
      }
      open.users++;
      return open;
    }
  }

  /** Ends an operator's use. The last one waits for the thread and releases the memory. */
  void release() {
    synchronized (OPEN) {
      if (--users > 0) {
        return;
      }
      OPEN.remove(key);
    }
    close();
  }

  /**
   * Waits for the first read.
   *
   * @throws IOException if it failed
   */
  void awaitFirst() throws IOException, InterruptedException {
    try {
      first.get();
    } catch (ExecutionException e) {
      throw new IOException(
          "the dimension table " + definition.name() + " cannot be read: " + reason(e.getCause()),
          e.getCause());
    }
  }

  /**
   * The table of now, behind {@link #awaitFirst}; the caller closes it.
   *
   * @throws IllegalStateException if it is older than {@link RefreshOptions#maxAge}, or a refresh
   *     ended with an error that is no exception
   */
  synchronized Version current() {
    if (error != null) {
      throw new IllegalStateException(
          "the dimension table " + definition.name() + " cannot be read any more", error);
    }
    Duration age = Duration.ofNanos(clock.relativeTimeNanos() - current.readNanos);
    if (age.compareTo(definition.refresh().maxAge()) > 0) {
      throw new IllegalStateException(
          "the dimension table "
              + definition.name()
              + " was read "
              + age.toSeconds()
              + " s ago, and may be "
              + definition.refresh().maxAge().toSeconds()
              + " s old"
              + (lastFailure.isEmpty() ? "" : "; the last refresh failed: " + lastFailure));
    }
    return current.retain();
  }

  /** The time since the begin of the last read that succeeded; -1 before the first. */
  synchronized long ageMillis() {
    return current == null
        ? -1
        : TimeUnit.NANOSECONDS.toMillis(clock.relativeTimeNanos() - current.readNanos);
  }

  /** Reads that succeeded. */
  synchronized long refreshes() {
    return refreshes;
  }

  /** Reads that failed. */
  synchronized long failures() {
    return failures;
  }

  synchronized long rowCount() {
    return current == null ? 0 : current.table.rowCount();
  }

  private void refresh() {
    if (first.isCompletedExceptionally()) {
      return;
    }
    long start = clock.relativeTimeNanos();
    try {
      replace(new Version(load(), start));
      first.complete(null);
    } catch (Exception e) {
      failed(e);
    } catch (Error e) {
      end(e);
    }
  }

  // Such as a class that is missing: it would not go away.
  private synchronized void end(Error e) {
    error = e;
    first.completeExceptionally(e);
    thread.shutdown();
  }

  private LookupTable load() throws Exception {
    try (LookupTableBuilder builder =
        new LookupTableBuilder(
            definition.schema(), definition.keys(), context.stream(), context.resource())) {
      try (DimensionReader reader = definition.open(context)) {
        begin(reader);
        reader.read(part -> add(part, builder));
      } finally {
        begin(null);
      }
      return context.retry().withRetry(builder::build);
    }
  }

  private synchronized void begin(DimensionReader reader) {
    if (closing && reader != null) {
      throw new CancellationException("the last subtask has ended");
    }
    reading = reader;
  }

  private void add(Table part, LookupTableBuilder builder) {
    try (part) {
      context
          .retry()
          .withSplitAndRetry(
              part,
              rows -> {
                builder.add(rows);
                return rows;
              },
              rows -> {});
    }
  }

  private void replace(Version version) {
    Version old;
    synchronized (this) {
      old = current;
      current = version;
      refreshes++;
      lastFailure = "";
    }
    if (old != null) {
      old.close();
    }
  }

  private void failed(Exception e) {
    long age;
    synchronized (this) {
      if (closing) {
        return;
      }
      failures++;
      lastFailure = reason(e);
      age = ageMillis();
    }
    new EventLine("dimension_refresh_failed")
        .with("table", definition.name())
        .with("age_ms", age)
        .with("reason", reason(e))
        .log();
    first.completeExceptionally(e);
  }

  private static String reason(Throwable e) {
    return e.getMessage() == null ? e.getClass().getName() : e.getMessage();
  }

  private void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(this::cancelRead);
    refreshing.cancel(true);
    thread.shutdown();
    failure.run(this::awaitThread);
    if (current != null) {
      failure.run(current::close);
    }
    failure.run(context::close);
    failure.rethrow();
  }

  private synchronized void cancelRead() {
    closing = true;
    if (reading != null) {
      reading.cancel();
    }
  }

  // A canceled task is interrupted, but the thread uses memory until it ends.
  private void awaitThread() {
    boolean isInterrupted = false;
    for (boolean isDone = false; !isDone; ) {
      try {
        isDone = thread.awaitTermination(1, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.resource.StatisticsResourceAdaptor;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.DoubleConsumer;
import java.util.stream.Stream;

/**
 * What a snapshot of a {@link StateTable} costs, by the size of the state: the time of {@link
 * StateTable#snapshot}, the rate at which another thread reads all blocks on a stream of its own,
 * and updates of {@value #ROWS} rows with uniformly distributed keys before and meanwhile. State
 * and memory are those of an operator: {@link StateUpdateBenchmark#schema}, spillable, nothing
 * spilled. Prints a Markdown table. The time of an update includes its result, as in {@link
 * StateUpdateBenchmark}.
 *
 * <p>A snapshot is read with nothing beside it, then with updates beside it, some times in turn. An
 * update is "meanwhile" if it begins before all blocks are read.
 */
public final class StateSnapshotBenchmark {
  private static final List<Long> MEGABYTES = List.of(1L, 100L, 1_000L, 10_000L);
  private static final int ROWS = 1 << 16;
  private static final int BATCHES = 8;
  private static final int FILL_ROWS = 1 << 20;
  private static final long WARM_UP_NANOS = 1_000_000_000;
  private static final long MEASURED_NANOS = 3_000_000_000L;
  private static final int MIN_SNAPSHOTS = 5;
  private static final int MAX_SNAPSHOTS = 200;
  private static final int MIN_UPDATES = 20;

  private final DeviceStream stream;
  private final StatisticsResourceAdaptor allocations;
  private final MemoryResource memory;
  private final ExecutorService readers = Executors.newSingleThreadExecutor();
  private int next;

  private StateSnapshotBenchmark(
      DeviceStream stream, StatisticsResourceAdaptor allocations, MemoryResource memory) {
    this.stream = stream;
    this.allocations = allocations;
    this.memory = memory;
  }

  /** Runs the benchmark. Arguments: sizes of the rows in megabytes; the usual ones if none. */
  public static void main(String[] arguments) throws Exception {
    List<Long> sizes =
        arguments.length == 0 ? MEGABYTES : Stream.of(arguments).map(Long::valueOf).toList();
    Device device = Device.current();
    StatisticsResourceAdaptor allocations =
        new StatisticsResourceAdaptor(PerDeviceResource.of(device));
    try (SpillManager manager =
            new SpillManager(
                allocations,
                new PinnedHostMemoryResource(device),
                Long.MAX_VALUE,
                true,
                new SpillStatistics(1),
                System::nanoTime);
        SpillQuota quota = manager.openQuota("the benchmark", SpillLimits.DEFAULT);
        DeviceStream stream = device.createStream()) {
      MemoryResource memory = quota.resource(MemoryBudget.unlimited());
      StateSnapshotBenchmark benchmark = new StateSnapshotBenchmark(stream, allocations, memory);
      try {
        benchmark.printAll(sizes);
      } finally {
        benchmark.readers.shutdown();
      }
    }
  }

  private void printAll(List<Long> sizes) throws Exception {
    System.out.printf(
        Locale.ROOT,
        "Copies of %d MiB of pinned memory to the host, one behind the other: %.1f GB/s%n%n",
        StateSnapshot.BLOCK_BYTES >> 20,
        plainCopyRate());
    System.out.println(
        "| state (MB) | keys | snapshots | snapshot() p50 (us) | max (us) | read alone (GB/s)"
            + " | meanwhile (GB/s) | update before: p50 (us) | p99 (us) | M rows/s"
            + " | meanwhile: p50 (us) | p99 (us) | M rows/s | of before"
            + " | first update behind a snapshot p50 (us) | copied on write per snapshot (MB) |");
    System.out.println("|" + "---:|".repeat(16));
    for (long megabytes : sizes) {
      long keys = megabytes * 1_000_000 / StateUpdateBenchmark.schema().rowBytes();
      try (StateTable table = new StateTable(StateUpdateBenchmark.schema(), stream, memory)) {
        fill(table, keys);
        List<Table> batches = batches(keys);
        try {
          System.out.printf(Locale.ROOT, "| %d | %d |%s%n", megabytes, keys, cells(table, batches));
        } finally {
          batches.forEach(Table::close);
        }
      }
    }
  }

  private void fill(StateTable table, long keys) {
    for (long first = 0; first < keys; first += FILL_ROWS) {
      long start = first;
      int count = (int) Math.min(FILL_ROWS, keys - first);
      try (Table batch =
          StateInputRows.batch(count, row -> StateInputRows.key(start + row), stream, memory)) {
        table.accumulate(batch);
      }
    }
    // Its scratch memory is that of larger batches.
    table.releaseScratch();
  }

  private List<Table> batches(long keys) {
    List<Table> batches = new ArrayList<>();
    for (int batch = 0; batch < BATCHES; batch++) {
      long number = batch;
      batches.add(
          StateInputRows.batch(
              ROWS, row -> StateInputRows.uniform(number, row, keys), stream, memory));
    }
    return batches;
  }

  private String cells(StateTable table, List<Table> batches) throws Exception {
    updateFor(table, batches, WARM_UP_NANOS, micros -> {});
    Times before = new Times();
    long bytesBefore = allocations.statistics().totalBytes();
    updateFor(table, batches, MEASURED_NANOS, before::add);
    double bytesOfUpdate =
        (double) (allocations.statistics().totalBytes() - bytesBefore) / before.count();

    Times synchronous = new Times();
    Times alone = new Times();
    Times beside = new Times();
    Times meanwhile = new Times();
    Times first = new Times();
    double copied = 0;
    long end = System.nanoTime() + MEASURED_NANOS;
    int snapshots = 0;
    for (; snapshots < MAX_SNAPSHOTS; snapshots++) {
      if (snapshots >= MIN_SNAPSHOTS && System.nanoTime() > end) {
        break;
      }
      long bytes = table.rowCount() * table.schema().rowBytes();
      alone.add(bytes / 1e3 / readLater(snapshot(table, synchronous)).get());
      Future<Double> reader = readLater(snapshot(table, synchronous));
      long allocated = allocations.statistics().totalBytes();
      int updates = 0;
      do {
        double micros = update(table, batches);
        meanwhile.add(micros);
        if (updates++ == 0) {
          first.add(micros);
        }
      } while (!reader.isDone());
      copied += allocations.statistics().totalBytes() - allocated - updates * bytesOfUpdate;
      beside.add(bytes / 1e3 / reader.get());
    }
    return String.format(
        Locale.ROOT,
        " %d | %.1f | %.1f | %.2f | %.2f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.0f %% | %.1f"
            + " | %.1f |",
        snapshots,
        synchronous.percentile(50),
        synchronous.percentile(100),
        alone.percentile(50),
        beside.percentile(50),
        before.percentile(50),
        before.percentile(99),
        ROWS / before.mean(),
        meanwhile.percentile(50),
        meanwhile.percentile(99),
        ROWS / meanwhile.mean(),
        100 * before.mean() / meanwhile.mean(),
        first.percentile(50),
        copied / snapshots / 1e6);
  }

  private void updateFor(StateTable table, List<Table> batches, long nanos, DoubleConsumer times) {
    long end = System.nanoTime() + nanos;
    for (int i = 0; i < MIN_UPDATES || System.nanoTime() < end; i++) {
      times.accept(update(table, batches));
    }
  }

  private double update(StateTable table, List<Table> batches) {
    long start = System.nanoTime();
    table.update(batches.get(next++ % BATCHES)).close();
    return (System.nanoTime() - start) / 1e3;
  }

  private static StateSnapshot snapshot(StateTable table, Times times) {
    long start = System.nanoTime();
    StateSnapshot snapshot = table.snapshot();
    times.add((System.nanoTime() - start) / 1e3);
    return snapshot;
  }

  /** Reads all blocks on another thread and closes the snapshot; the result is in microseconds. */
  private Future<Double> readLater(StateSnapshot snapshot) {
    return readers.submit(
        () -> {
          try (snapshot;
              DeviceStream own = stream.device().createStream()) {
            long start = System.nanoTime();
            snapshot.read(own, block -> {});
            return (System.nanoTime() - start) / 1e3;
          }
        });
  }

  private double plainCopyRate() {
    int copies = 256;
    int bytes = StateSnapshot.BLOCK_BYTES;
    try (StagingBuffer target = stream.device().stagingPool().acquire(bytes);
        Buffer source = Buffer.allocate(bytes, stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      long address = source.access(AccessMode.WRITE, scope);
      stream.fill(address, (byte) 1, bytes);
      stream.synchronize();
      long start = System.nanoTime();
      for (int i = 0; i < copies; i++) {
        stream.copy(target.address(), address, bytes);
      }
      stream.synchronize();
      return (double) copies * bytes / (System.nanoTime() - start);
    }
  }

  /** Measured times, or rates. */
  private static final class Times {
    private final List<Double> values = new ArrayList<>();

    void add(double value) {
      values.add(value);
    }

    int count() {
      return values.size();
    }

    double mean() {
      return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
    }

    double percentile(int percent) {
      List<Double> sorted = values.stream().sorted().toList();
      return sorted.get(Math.min(sorted.size() - 1, sorted.size() * percent / 100));
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.Device;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import io.millrace.memory.spill.SpillableResourceAdaptor;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * A random program over buffers that threads share, with limits, budgets and failures that follow
 * from a seed. Each {@link Handle} knows the bytes that its buffer must have. With one thread the
 * seed alone decides what happens.
 */
final class BufferProgram {
  private static final int STEPS = 300;
  private static final long TIMEOUT_SECONDS = 300;

  private final long seed;
  private final Device device;
  private final TrackingResourceAdaptor deviceMemory;
  private final TrackingResourceAdaptor hostMemory;
  private final SpillManager manager;
  private final List<SpillQuota> quotas = new ArrayList<>();
  private final List<Budget> budgets = new ArrayList<>();
  private final List<SpillableResourceAdaptor> resources = new ArrayList<>();
  private final Queue<Handle> handedOver = new ConcurrentLinkedQueue<>();
  private final AccessMode writeMode;

  /** A buffer of one thread and its content. */
  static final class Handle {
    final Buffer buffer;
    final byte[] content;
    final boolean copiesOnWrite;
    boolean exposed;
    long exposedAddress;

    Handle(Buffer buffer, byte[] content, boolean copiesOnWrite) {
      this.buffer = buffer;
      this.content = content;
      this.copiesOnWrite = copiesOnWrite;
    }

    Handle derive(Buffer derived, byte[] derivedContent) {
      return new Handle(derived, derivedContent, copiesOnWrite);
    }
  }

  /** A budget that must be whole at the end. */
  private static final class Budget implements MemoryBudget {
    private final long bytes;
    private final AtomicLong reserved = new AtomicLong();

    Budget(long bytes) {
      this.bytes = bytes;
    }

    @Override
    public boolean tryReserve(long more) {
      if (reserved.addAndGet(more) <= bytes) {
        return true;
      }
      reserved.addAndGet(-more);
      return false;
    }

    @Override
    public void release(long fewer) {
      reserved.addAndGet(-fewer);
    }
  }

  /**
   * @param writeMode how the program says that it writes; only WRITE is right
   */
  BufferProgram(
      long seed, Device device, MemoryResource memory, Path directory, AccessMode writeMode) {
    this.seed = seed;
    this.device = device;
    this.writeMode = writeMode;
    RandomGenerator random = new SplittableRandom(seed);
    double failures = random.nextInt(3) == 0 ? random.nextDouble(0.3) : 0;
    deviceMemory = new TrackingResourceAdaptor(memory, false);
    hostMemory = new TrackingResourceAdaptor(new PinnedHostMemoryResource(device), false);
    manager =
        new SpillManager(
            FailingResourceAdaptor.randomShare(
                new LimitingResourceAdaptor(deviceMemory, limit(random, 50_000)), failures, seed),
            FailingResourceAdaptor.randomShare(hostMemory, failures, seed),
            limit(random, 50_000),
            random.nextInt(8) > 0,
            new SpillStatistics(1),
            System::nanoTime);
    for (int i = 0; i < 2; i++) {
      SpillLimits limits =
          SpillLimits.DEFAULT
              .withDeviceBytes(limit(random, 40_000))
              .withHostBytes(limit(random, 0))
              .withCopyOnWrite(random.nextInt(8) > 0)
              .withStatisticsLevel(random.nextInt(3));
      boolean hasDisk = random.nextInt(4) > 0;
      SpillQuota quota =
          manager.openQuota(
              "quota " + i,
              hasDisk ? limits.withDisk(List.of(directory), limit(random, 0)) : limits);
      quotas.add(quota);
      for (int payer = 0; payer < 2; payer++) {
        Budget budget = new Budget(limit(random, 0));
        budgets.add(budget);
        resources.add(quota.resource(budget));
      }
    }
  }

  private static long limit(RandomGenerator random, int minimum) {
    return random.nextInt(3) == 0 ? Long.MAX_VALUE : minimum + random.nextInt(100_000);
  }

  Device device() {
    return device;
  }

  SpillManager manager() {
    return manager;
  }

  MemoryResource resource(RandomGenerator random) {
    return resources.get(random.nextInt(resources.size()));
  }

  AccessMode writeMode() {
    return writeMode;
  }

  /** Gives a handle to whichever thread takes it. */
  void handOver(Handle handle) {
    handedOver.add(handle);
  }

  /** A handle that was handed over, or null. */
  Handle take() {
    return handedOver.poll();
  }

  /** Runs the whole program in the calling thread and checks that nothing is held. */
  void run() {
    try (BufferProgramThread thread = new BufferProgramThread(this, seed)) {
      for (int i = 0; i < STEPS; i++) {
        thread.step();
        checkAccounts();
      }
    } finally {
      closeHandedOver();
    }
    finish();
  }

  /** Runs the program with several threads and checks that nothing is held. */
  void run(int threads) throws InterruptedException {
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> runs = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        long threadSeed = seed + i;
        runs.add(executor.submit(() -> runThread(threadSeed)));
      }
      for (Future<?> run : runs) {
        await(run);
      }
    } finally {
      executor.shutdownNow();
      closeHandedOver();
    }
    finish();
  }

  private void runThread(long threadSeed) {
    try (BufferProgramThread thread = new BufferProgramThread(this, threadSeed)) {
      for (int i = 0; i < STEPS; i++) {
        thread.step();
      }
    }
  }

  private static void await(Future<?> run) throws InterruptedException {
    try {
      run.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError("no end in sight:\n" + threadDump(), e);
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause().toString(), e.getCause());
    }
  }

  private static String threadDump() {
    return Arrays.stream(ManagementFactory.getThreadMXBean().dumpAllThreads(true, true))
        .map(ThreadInfo::toString)
        .collect(Collectors.joining());
  }

  private void checkAccounts() {
    assertThat(deviceMemory.heldBytes()).isEqualTo(manager.deviceBytes());
    assertThat(deviceMemory.heldBytes()).isEqualTo(sum(SpillQuota::deviceBytes));
    assertThat(hostMemory.heldBytes()).isEqualTo(sum(SpillQuota::hostBytes));
    assertThat(hostMemory.heldBytes())
        .isEqualTo(budgets.stream().mapToLong(budget -> budget.reserved.get()).sum());
  }

  private long sum(ToLongFunction<SpillQuota> bytes) {
    return quotas.stream().mapToLong(bytes).sum();
  }

  private void closeHandedOver() {
    for (Handle left = take(); left != null; left = take()) {
      left.buffer.close();
    }
  }

  private void finish() {
    checkAccounts();
    assertThat(deviceMemory.heldBytes()).isZero();
    assertThat(hostMemory.heldBytes()).isZero();
    assertThat(sum(SpillQuota::diskBytes)).isZero();
    quotas.forEach(SpillQuota::close);
    manager.close();
  }
}

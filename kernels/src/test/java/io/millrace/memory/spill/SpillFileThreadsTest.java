// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.HostMemory;
import io.millrace.memory.spill.SpillFile.Region;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests of a file that serves several tasks of a job, which Flink cancels by interrupting them. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SpillFileThreadsTest {
  private static final int THREADS = 4;
  private static final int BYTES = 2 << 20;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();
  @TempDir Path directory;

  private final Queue<Thread> started = new ConcurrentLinkedQueue<>();
  private final AtomicInteger roundTrips = new AtomicInteger();
  private SpillFile file;
  private long memory;
  private ExecutorService threads;

  @BeforeEach
  void open() {
    file = SpillFile.in(List.of(directory), Long.MAX_VALUE);
    memory = device.hostMemory().allocate(THREADS * (long) BYTES, device.hostStream());
    threads = Executors.newFixedThreadPool(THREADS);
  }

  @AfterEach
  void close() throws InterruptedException {
    threads.shutdown();
    file.close();
    assertThat(threads.awaitTermination(240, TimeUnit.SECONDS)).isTrue();
    device.hostMemory().free(memory, THREADS * (long) BYTES, device.hostStream());
  }

  private List<? extends Future<?>> onAllThreads(int rounds) {
    return IntStream.range(0, THREADS)
        .mapToObj(
            thread ->
                threads.submit(
                    () -> {
                      started.add(Thread.currentThread());
                      writeReadFree(thread, rounds);
                    }))
        .toList();
  }

  /** Moves memory of random sizes, each thread its own, to the file and back. */
  private void writeReadFree(int thread, int rounds) {
    Random values = new Random(random.seed() + thread);
    long address = memory + (long) thread * BYTES;
    for (int round = 0; round < rounds; round++) {
      byte[] content = new byte[1 + values.nextInt(BYTES)];
      values.nextBytes(content);
      HostMemory.copyFromArray(address, content, 0, content.length);
      Region region = file.write(address, content.length);
      HostMemory.fill(address, content.length, (byte) 0);
      file.read(region, address);
      file.free(region);
      byte[] read = new byte[content.length];
      HostMemory.copyToArray(read, 0, address, read.length);
      assertThat(read).isEqualTo(content);
      roundTrips.incrementAndGet();
    }
  }

  @Test
  void threadsDoNotDisturbEachOther() throws InterruptedException, ExecutionException {
    for (Future<?> work : onAllThreads(30)) {
      work.get();
    }
    assertThat(file.heldBytes()).isZero();
    assertThat(file.fileBytes()).isZero();
  }

  @Test
  void anInterruptedThreadWorksOnAndStaysInterrupted() {
    Thread.currentThread().interrupt();
    writeReadFree(0, 3);
    assertThat(Thread.interrupted()).isTrue();
    writeReadFree(0, 1);
  }

  @Test
  void interruptsDuringTransfersBreakNothing() throws InterruptedException, ExecutionException {
    List<? extends Future<?>> all = onAllThreads(30);
    while (!all.stream().allMatch(Future::isDone)) {
      started.forEach(Thread::interrupt);
      Thread.sleep(0, 100_000);
    }
    for (Future<?> work : all) {
      work.get();
    }
    writeReadFree(0, 1);
    assertThat(file.heldBytes()).isZero();
    assertThat(file.fileBytes()).isZero();
  }

  @Test
  void closingEndsTheTransfersOfOthers() throws InterruptedException {
    List<? extends Future<?>> all = onAllThreads(Integer.MAX_VALUE);
    while (roundTrips.get() < 2 * THREADS && all.stream().noneMatch(Future::isDone)) {
      Thread.sleep(1);
    }
    file.close();
    for (Future<?> work : all) {
      try {
        work.get();
      } catch (ExecutionException e) {
        assertThat(e)
            .cause()
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("the spill file is closed");
      }
    }
    assertThat(roundTrips).hasValueGreaterThanOrEqualTo(2 * THREADS);
    assertThat(file.heldBytes()).isZero();
  }
}

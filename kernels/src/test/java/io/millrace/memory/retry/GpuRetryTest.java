// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillException;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each rung of the ladder, its end, and that nothing is left behind. */
@Timeout(300)
class GpuRetryTest {
  private static final long BYTES = 1 << 16;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final GpuSemaphore semaphore = new GpuSemaphore(2, System::nanoTime);
  private SpillManager manager;
  private SpillQuota quota;
  private GpuRetry retry;

  @BeforeEach
  void open() {
    open(device.memory());
  }

  private void open(MemoryResource memory) {
    closeShare();
    manager =
        new SpillManager(
            memory,
            new PinnedHostMemoryResource(device.device()),
            Long.MAX_VALUE,
            true,
            new SpillStatistics(1),
            System::nanoTime);
    quota = manager.openQuota("the test", SpillLimits.DEFAULT);
    retry = new GpuRetry(quota, semaphore);
  }

  private void closeShare() {
    if (quota != null) {
      assertThat(quota.deviceBytes()).isZero();
      assertThat(quota.hostBytes()).isZero();
      quota.close();
      manager.close();
    }
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(240, TimeUnit.SECONDS)).isTrue();
    assertThat(semaphore.availablePermits()).isEqualTo(2);
    closeShare();
  }

  private Buffer allocate(long bytes) {
    return Buffer.allocate(bytes, device.stream(), quota.resource(MemoryBudget.unlimited()));
  }

  private Supplier<Buffer> failing(AtomicInteger attempts, int failures) {
    return () -> {
      assertThat(semaphore.isHeldByCurrentThread()).isTrue();
      if (attempts.incrementAndGet() <= failures) {
        throw new GpuOutOfMemoryException("failure " + attempts);
      }
      return allocate(BYTES);
    };
  }

  @Test
  void anAttemptThatSucceedsIsMadeOnceAndGivesItsPermitBack() {
    AtomicInteger attempts = new AtomicInteger();
    retry.withRetry(failing(attempts, 0)).close();
    assertThat(attempts).hasValue(1);
    assertThat(semaphore.isHeldByCurrentThread()).isFalse();
    assertThat(retry.retries()).isZero();
    assertThat(retry.waitedNanos()).isZero();
  }

  @Test
  void theSecondAttemptFindsAllThatWasInUseSpilled() {
    open(new LimitingResourceAdaptor(device.memory(), 2 * BYTES));
    try (Buffer first = allocate(BYTES);
        Buffer second = allocate(BYTES)) {
      List<SpillTier> tiers = new ArrayList<>();
      AtomicInteger attempts = new AtomicInteger();
      Buffer made =
          retry.withRetry(
              () -> {
                tiers.add(first.tier());
                if (attempts.incrementAndGet() > 1) {
                  return allocate(2 * BYTES);
                }
                try (AccessScope scope = AccessScope.on(device.stream())) {
                  first.access(AccessMode.READ, scope);
                  return allocate(2 * BYTES);
                }
              });
      made.close();
      assertThat(tiers).containsExactly(SpillTier.DEVICE, SpillTier.HOST);
      assertThat(second.tier()).isEqualTo(SpillTier.HOST);
      assertThat(retry.retries()).isEqualTo(1);
    }
  }

  @Test
  void anInjectedFailureOfEachAllocationIsRetried() {
    for (int failing = 1; failing <= 3; failing++) {
      FailingResourceAdaptor memory = FailingResourceAdaptor.nth(device.memory(), failing);
      open(memory);
      List<Buffer> made =
          retry.withRetry(
              () -> {
                List<Buffer> buffers = new ArrayList<>();
                try {
                  for (int i = 0; i < 3; i++) {
                    buffers.add(allocate(BYTES));
                  }
                  return buffers;
                } catch (RuntimeException e) {
                  buffers.forEach(Buffer::close);
                  throw e;
                }
              });
      made.forEach(Buffer::close);
      assertThat(memory.failures()).isEqualTo(1);
      assertThat(memory.requests()).isGreaterThan(3);
    }
  }

  @Test
  void theThirdAttemptWaitsForTheOtherUsersOfTheDevice() throws Exception {
    open(new LimitingResourceAdaptor(device.memory(), BYTES));
    CountDownLatch held = new CountDownLatch(1);
    AtomicInteger attempts = new AtomicInteger();
    Thread waiting = Thread.currentThread();
    Future<?> other =
        threads.submit(
            () ->
                retry.withRetry(
                    () -> {
                      try (Buffer buffer = allocate(BYTES);
                          AccessScope scope = AccessScope.on(device.stream())) {
                        buffer.access(AccessMode.WRITE, scope);
                        held.countDown();
                        while (attempts.get() < 2 || waiting.getState() != Thread.State.WAITING) {
                          Thread.onSpinWait();
                        }
                        return null;
                      }
                    }));
    held.await();
    retry
        .withRetry(
            () -> {
              attempts.incrementAndGet();
              return allocate(BYTES);
            })
        .close();
    other.get();
    assertThat(attempts).hasValue(3);
    assertThat(retry.retries()).isEqualTo(2);
    assertThat(retry.waitedNanos()).isPositive();
  }

  @Test
  void afterThreeAttemptsTheErrorSaysWhatWasTriedAndWhatIsHeld() {
    AtomicInteger attempts = new AtomicInteger();
    try (Buffer kept = allocate(BYTES)) {
      GpuOutOfMemoryException failure =
          catchThrowableOfType(
              GpuOutOfMemoryException.class,
              () -> retry.withRetry(failing(attempts, Integer.MAX_VALUE)));
      assertThat(kept.tier()).isEqualTo(SpillTier.HOST);
      assertThat(failure)
          .hasMessageContaining("3 attempts")
          .hasMessageContaining("spilling " + BYTES + " bytes")
          .hasMessageContaining("failure 3")
          .hasMessageContaining("the test holds 0 bytes on the device, " + BYTES + " bytes on the")
          .hasMessageContaining("millrace.spill.device-limit")
          .hasMessageContaining("millrace.device.memory-limit");
      assertThat(failure.getCause()).hasMessage("failure 3");
      assertThat(failure.getSuppressed())
          .extracting(Throwable::getMessage)
          .containsExactly("failure 2", "failure 1");
    }
    assertThat(attempts).hasValue(3);
    assertThat(retry.retries()).isEqualTo(2);
  }

  @Test
  void otherFailuresAreNotRetried() {
    AtomicInteger attempts = new AtomicInteger();
    assertThatThrownBy(
            () ->
                retry.withRetry(
                    () -> {
                      attempts.incrementAndGet();
                      throw new SpillException("the disk is full");
                    }))
        .hasMessage("the disk is full");
    assertThat(attempts).hasValue(1);
  }

  @Test
  void anAttemptWithinAnAttemptIsPartOfIt() {
    AtomicInteger inner = new AtomicInteger();
    AtomicInteger outer = new AtomicInteger();
    retry
        .withRetry(
            () -> {
              outer.incrementAndGet();
              return retry.withRetry(failing(inner, 2));
            })
        .close();
    assertThat(outer).hasValue(3);
    assertThat(inner).hasValue(3);
  }

  @Test
  void aThreadThatIsInterruptedWhileItWaitsToBeAloneGivesUp() throws Exception {
    semaphore.acquire();
    AtomicInteger attempts = new AtomicInteger();
    Future<?> cancelled =
        threads.submit(
            () -> {
              assertThatThrownBy(
                      () ->
                          retry.withRetry(
                              () -> {
                                if (attempts.incrementAndGet() == 2) {
                                  Thread.currentThread().interrupt();
                                }
                                throw new GpuOutOfMemoryException("failure " + attempts);
                              }))
                  .isInstanceOf(CancellationException.class)
                  .satisfies(e -> assertThat(e.getSuppressed()).hasSize(2));
              assertThat(Thread.interrupted()).isTrue();
            });
    cancelled.get();
    assertThat(attempts).hasValue(2);
    semaphore.release();
  }

  private Table table(int rows) {
    Object[] values = new Object[rows];
    for (int i = 0; i < rows; i++) {
      values[i] = (long) i;
    }
    return new TableBuilder().column("id", DataType.INT64, values).build(device);
  }

  /** Works as long as a part has no more rows than fit. */
  private Function<Table, List<Object>> fitting(int rows, List<Integer> attempted) {
    return part -> {
      attempted.add(part.rowCount());
      if (part.rowCount() > rows) {
        throw new GpuOutOfMemoryException(part.rowCount() + " rows");
      }
      allocate(BYTES).close();
      return device.rows(part).stream().map(row -> row.get(0)).toList();
    };
  }

  @Test
  void whatDoesNotFitIsSplitInHalvesInOrder() {
    List<Integer> attempted = new ArrayList<>();
    List<List<Object>> results = new ArrayList<>();
    try (Table table = table(7)) {
      retry.withSplitAndRetry(
          table,
          fitting(2, attempted),
          result -> {
            assertThat(semaphore.isHeldByCurrentThread()).isFalse();
            results.add(result);
          });
      assertThat(results)
          .containsExactly(List.of(0L), List.of(1L, 2L), List.of(3L, 4L), List.of(5L, 6L));
      assertThat(retry.splits()).isEqualTo(3);
      assertThat(attempted).containsExactly(7, 7, 7, 3, 3, 3, 1, 2, 4, 4, 4, 2, 2);
    }
  }

  @Test
  void anAttemptWithinAnAttemptIsNotSplit() {
    List<Integer> attempted = new ArrayList<>();
    List<List<Object>> results = new ArrayList<>();
    try (Table table = table(7)) {
      assertThatThrownBy(
              () ->
                  retry.withRetry(
                      () -> {
                        retry.withSplitAndRetry(table, fitting(4, attempted), results::add);
                        return results;
                      }))
          .isInstanceOf(GpuOutOfMemoryException.class);
    }
    assertThat(attempted).containsExactly(7, 7, 7);
    assertThat(results).isEmpty();
    assertThat(retry.splits()).isZero();
  }

  @Test
  void oneRowThatDoesNotFitEndsTheWork() {
    List<Integer> attempted = new ArrayList<>();
    try (Table table = table(4)) {
      assertThatThrownBy(() -> retry.withSplitAndRetry(table, fitting(0, attempted), result -> {}))
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessageContaining(": 1 rows. Now");
    }
    assertThat(attempted).containsExactly(4, 4, 4, 2, 2, 2, 1, 1, 1);
  }

  @Test
  void whatTheConsumerThrowsIsNotRetried() {
    List<Integer> attempted = new ArrayList<>();
    try (Table table = table(4)) {
      assertThatThrownBy(
              () ->
                  retry.withSplitAndRetry(
                      table,
                      fitting(4, attempted),
                      result -> {
                        throw new GpuOutOfMemoryException("downstream");
                      }))
          .hasMessage("downstream");
    }
    assertThat(attempted).containsExactly(4);
  }

  @Test
  void hostWorkNeedsNoPermitUntilTheLastAttempt() {
    List<Boolean> held = new ArrayList<>();
    int attempts =
        retry.withHostRetry(
            () -> {
              held.add(semaphore.isHeldByCurrentThread());
              if (held.size() < 3) {
                throw new GpuOutOfMemoryException("failure " + held.size());
              }
              return held.size();
            });
    assertThat(attempts).isEqualTo(3);
    assertThat(held).containsExactly(false, false, true);
  }
}

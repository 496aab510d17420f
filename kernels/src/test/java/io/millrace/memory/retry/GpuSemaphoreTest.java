// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class GpuSemaphoreTest {
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicLong nanos = new AtomicLong();

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    assertThat(threads.awaitTermination(240, TimeUnit.SECONDS)).isTrue();
  }

  private GpuSemaphore semaphore(int permits) {
    return new GpuSemaphore(permits, nanos::incrementAndGet);
  }

  /** Runs {@code work} in a thread of its own and returns once that waits for something. */
  private Future<?> runUntilItWaits(Runnable work) throws Exception {
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    Future<?> future =
        threads.submit(
            () -> {
              thread.complete(Thread.currentThread());
              work.run();
            });
    while (thread.get().getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    return future;
  }

  @Test
  void workOfTheHostLeavesThePermitToOthers() throws Exception {
    GpuSemaphore semaphore = semaphore(1);
    semaphore.acquire();
    semaphore.acquire();
    Future<?> other =
        runUntilItWaits(
            () -> {
              semaphore.acquire();
              semaphore.release();
            });

    Object result =
        GpuSemaphore.withoutPermit(
            () -> {
              assertThat(semaphore.isHeldByCurrentThread()).isFalse();
              Thread.currentThread().interrupt();
              return join(other);
            });

    assertThat(result).isEqualTo("done");
    assertThat(Thread.interrupted()).isTrue();
    assertThat(semaphore.availablePermits()).isZero();
    semaphore.release();
    assertThat(semaphore.isHeldByCurrentThread()).isTrue();
    semaphore.release();
    assertThat(semaphore.availablePermits()).isOne();
  }

  private static Object join(Future<?> future) {
    while (!future.isDone()) {
      Thread.onSpinWait();
    }
    return "done";
  }

  @Test
  void workOfTheHostKeepsExclusiveAccess() {
    GpuSemaphore semaphore = semaphore(2);
    semaphore.acquireExclusively();
    assertThat(GpuSemaphore.<Integer>withoutPermit(semaphore::availablePermits)).isZero();
    semaphore.release();
    assertThat(GpuSemaphore.<Integer>withoutPermit(semaphore::availablePermits)).isEqualTo(2);
  }

  @Test
  void workOfTheHostThatFailsLeavesThePermitHeld() {
    GpuSemaphore semaphore = semaphore(1);
    semaphore.acquire();
    assertThatThrownBy(
            () ->
                GpuSemaphore.withoutPermit(
                    () -> {
                      throw new IllegalStateException("failed");
                    }))
        .hasMessage("failed");
    assertThat(semaphore.isHeldByCurrentThread()).isTrue();
    semaphore.release();
  }

  @Test
  void noMoreThreadsHoldPermitsThanThereAre() throws Exception {
    GpuSemaphore semaphore = semaphore(2);
    AtomicInteger working = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Future<?>> futures = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      futures.add(
          threads.submit(
              () -> {
                for (int j = 0; j < 2_000; j++) {
                  semaphore.acquire();
                  most.accumulateAndGet(working.incrementAndGet(), Math::max);
                  working.decrementAndGet();
                  semaphore.release();
                }
              }));
    }
    for (Future<?> future : futures) {
      future.get();
    }
    assertThat(most.get()).isBetween(1, 2);
    assertThat(semaphore.availablePermits()).isEqualTo(2);
  }

  @Test
  void permitsAreGivenInTheOrderOfAsking() throws Exception {
    GpuSemaphore semaphore = semaphore(1);
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> futures = new ArrayList<>();
    semaphore.acquire();
    for (int i = 0; i < 5; i++) {
      int number = i;
      futures.add(
          runUntilItWaits(
              () -> {
                semaphore.acquire();
                order.add(number);
                semaphore.release();
              }));
    }
    semaphore.release();
    for (Future<?> future : futures) {
      future.get();
    }
    assertThat(order).containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void whoWantsToBeAloneIsNotOvertaken() throws Exception {
    GpuSemaphore semaphore = semaphore(2);
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    semaphore.acquire();
    Future<?> alone =
        runUntilItWaits(
            () -> {
              semaphore.acquireExclusively();
              assertThat(semaphore.availablePermits()).isZero();
              order.add("alone");
              semaphore.release();
            });
    Future<?> other =
        runUntilItWaits(
            () -> {
              semaphore.acquire();
              order.add("other");
              semaphore.release();
            });
    semaphore.release();
    alone.get();
    other.get();
    assertThat(order).containsExactly("alone", "other");
    assertThat(semaphore.availablePermits()).isEqualTo(2);
  }

  @Test
  void aThreadMayAskAgainForWhatItHolds() {
    GpuSemaphore semaphore = semaphore(1);
    assertThat(semaphore.acquire()).isZero();
    assertThat(semaphore.acquire()).isZero();
    semaphore.release();
    assertThat(semaphore.isHeldByCurrentThread()).isTrue();
    assertThat(semaphore.availablePermits()).isZero();
    semaphore.release();
    assertThat(semaphore.isHeldByCurrentThread()).isFalse();
    assertThat(semaphore.availablePermits()).isEqualTo(1);
  }

  @Test
  void whoHoldsAPermitCannotWaitToBeAlone() {
    GpuSemaphore semaphore = semaphore(2);
    semaphore.acquire();
    assertThatIllegalStateException().isThrownBy(semaphore::acquireExclusively);
    semaphore.release();
    assertThat(semaphore.availablePermits()).isEqualTo(2);
  }

  @Test
  void anInterruptedThreadStopsWaitingAndStaysInterrupted() throws Exception {
    GpuSemaphore semaphore = semaphore(1);
    semaphore.acquire();
    CompletableFuture<Thread> waiting = new CompletableFuture<>();
    Future<Boolean> interrupted =
        threads.submit(
            () -> {
              waiting.complete(Thread.currentThread());
              assertThatThrownBy(semaphore::acquire)
                  .isInstanceOf(CancellationException.class)
                  .hasCauseInstanceOf(InterruptedException.class);
              assertThat(semaphore.isHeldByCurrentThread()).isFalse();
              return Thread.interrupted();
            });
    waiting.get().interrupt();
    assertThat(interrupted.get()).isTrue();
    semaphore.release();
    assertThat(semaphore.availablePermits()).isEqualTo(1);
  }

  @Test
  void waitingIsMeasured() throws Exception {
    GpuSemaphore semaphore = semaphore(1);
    semaphore.acquire();
    AtomicLong waited = new AtomicLong();
    Future<?> waiting =
        runUntilItWaits(
            () -> {
              waited.set(semaphore.acquire());
              semaphore.release();
            });
    nanos.set(1_000);
    semaphore.release();
    waiting.get();
    assertThat(waited.get()).isBetween(900L, 1_001L);
  }

  @Test
  void misuseIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> semaphore(0));
    assertThatIllegalStateException().isThrownBy(semaphore(1)::release);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.retry;

import io.millrace.annotation.PublicEvolving;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Limits the number of threads of a process that work on one device at once, and so the memory that
 * is in use and cannot be spilled. Permits are granted in the order of the requests. Thread-safe.
 *
 * <p>A thread that holds a permit must not wait for other threads' work: not for room in a network
 * buffer, and so not in a collector. It may acquire its permit again, and releases it as often.
 */
@PublicEvolving
public final class GpuSemaphore {
  // The semaphore of which the thread acquired a permit last, and has not given it back.
  private static final ThreadLocal<GpuSemaphore> HELD = new ThreadLocal<>();

  private final int permits;
  private final LongSupplier nanoClock;
  private final Semaphore semaphore;
  private final ThreadLocal<Hold> holds = ThreadLocal.withInitial(Hold::new);

  /** The permit of a thread. */
  private static final class Hold {
    private int depth;
    private int permits;
    private boolean isExclusive;
  }

  /**
   * @param permits how many threads may work at once
   * @param nanoClock measures how long threads wait
   * @throws IllegalArgumentException if {@code permits} is less than 1
   */
  public GpuSemaphore(int permits, LongSupplier nanoClock) {
    if (permits < 1) {
      throw new IllegalArgumentException("expected at least 1 permit, got " + permits);
    }
    this.permits = permits;
    this.nanoClock = nanoClock;
    this.semaphore = new Semaphore(permits, true);
  }

  /** The number of threads that may work at once. */
  public int permits() {
    return permits;
  }

  /** The number of permits available now. */
  public int availablePermits() {
    return semaphore.availablePermits();
  }

  /** Whether the calling thread holds a permit. */
  public boolean isHeldByCurrentThread() {
    return holds.get().depth > 0;
  }

  /**
   * Waits for a permit, which the calling thread holds until {@link #release}.
   *
   * @return the nanoseconds waited
   * @throws CancellationException if the thread is interrupted, which it still is then
   */
  public long acquire() {
    return acquire(1, false);
  }

  /**
   * Waits until no other thread holds a permit; none gets one until {@link #release}.
   *
   * @return the nanoseconds waited
   * @throws IllegalStateException if the calling thread holds a permit, so that two such threads
   *     would wait for each other
   * @throws CancellationException if the thread is interrupted, which it still is then
   */
  public long acquireExclusively() {
    if (isHeldByCurrentThread()) {
      throw new IllegalStateException(
          "a thread that holds a permit cannot wait for exclusive access");
    }
    return acquire(permits, true);
  }

  private long acquire(int count, boolean isExclusive) {
    Hold hold = holds.get();
    long waitedNanos = hold.depth == 0 ? await(count) : 0;
    if (hold.depth++ == 0) {
      hold.permits = count;
      hold.isExclusive = isExclusive;
      HELD.set(this);
    }
    return waitedNanos;
  }

  private long await(int count) {
    try {
      // Unlike tryAcquire without a timeout, this does not overtake waiting threads.
      if (semaphore.tryAcquire(count, 0, TimeUnit.NANOSECONDS)) {
        return 0;
      }
      long startNanos = nanoClock.getAsLong();
      semaphore.acquire(count);
      return nanoClock.getAsLong() - startNanos;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      CancellationException cancellation =
          new CancellationException("interrupted while waiting for the device");
      cancellation.initCause(e);
      throw cancellation;
    }
  }

  /**
   * Gives back what the calling thread acquired last.
   *
   * @throws IllegalStateException if it holds no permit
   */
  public void release() {
    Hold hold = holds.get();
    if (hold.depth == 0) {
      throw new IllegalStateException("the thread holds no permit");
    }
    if (--hold.depth == 0) {
      HELD.remove();
      semaphore.release(hold.permits);
    }
  }

  /**
   * Runs work of the host without the permit that the calling thread holds, so that other threads
   * may use the device meanwhile, and waits for a permit again, also if the thread is interrupted.
   * A thread that has exclusive access keeps it; one that holds no permit just runs the work.
   *
   * <p>Memory that the thread still needs must be free to be spilled meanwhile: no permit counts
   * it.
   */
  public static <T> T withoutPermit(Supplier<T> work) {
    GpuSemaphore semaphore = HELD.get();
    if (semaphore == null || semaphore.holds.get().isExclusive) {
      return work.get();
    }
    return semaphore.releasedDuring(work);
  }

  private <T> T releasedDuring(Supplier<T> work) {
    Hold hold = holds.get();
    int depth = hold.depth;
    hold.depth = 0;
    HELD.remove();
    semaphore.release(hold.permits);
    try {
      return work.get();
    } finally {
      semaphore.acquireUninterruptibly(hold.permits);
      hold.depth = depth;
      HELD.set(this);
    }
  }
}

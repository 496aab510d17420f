// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.retry;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.spill.SpillException;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Retries device work that runs out of memory: after spilling everything that can be spilled, then
 * alone on the device, then in halves. Each attempt holds a permit of the device's {@link
 * GpuSemaphore}; none is held between attempts.
 *
 * <p>An attempt that fails leaves everything as it was: it has closed what it made and changed no
 * state. Its inputs are spilled between attempts if no access scope of the caller is open on them.
 * An attempt must not wait for other tasks, so it never emits.
 *
 * <p>An attempt within an attempt is part of it: it is made once and not split, and its failure is
 * the outer's.
 *
 * <p>Thread-safe.
 */
@PublicEvolving
public final class GpuRetry {
  private final SpillQuota quota;
  private final GpuSemaphore semaphore;
  private final LongAdder retries = new LongAdder();
  private final LongAdder splits = new LongAdder();
  private final LongAdder waitedNanos = new LongAdder();

  /**
   * @param quota the quota that the attempts allocate from
   * @param semaphore the semaphore of the quota's device
   */
  public GpuRetry(SpillQuota quota, GpuSemaphore semaphore) {
    this.quota = quota;
    this.semaphore = semaphore;
  }

  /**
   * The number of attempts made because an earlier attempt ran out of memory, attempts of parts
   * included.
   */
  public long retries() {
    return retries.sum();
  }

  /** Inputs that were split, once for each pair of halves. */
  public long splits() {
    return splits.sum();
  }

  /** The time that threads waited for permits. */
  public long waitedNanos() {
    return waitedNanos.sum();
  }

  /**
   * Returns the result of {@code attempt}, which runs at most three times: at once; after
   * everything that can be spilled was spilled; and again after spilling, while no other thread
   * works on the device.
   *
   * @throws GpuOutOfMemoryException if the last attempt runs out of memory too; the message states
   *     the attempts and the memory held
   * @throws SpillException if memory cannot be spilled because a disk fails or is full
   * @throws java.util.concurrent.CancellationException if the thread is interrupted while it waits
   *     for a permit; it still is then
   */
  public <T> T withRetry(Supplier<? extends T> attempt) {
    return firstAttempt(attempt, this::withPermit);
  }

  /**
   * As {@link #withRetry}, for work of the host alone, such as encoding: only the last attempt
   * needs a permit.
   */
  public <T> T withHostRetry(Supplier<? extends T> attempt) {
    return firstAttempt(attempt, Supplier::get);
  }

  /** Runs the attempts that other threads may work beside. */
  private interface Mode {
    <T> T make(Supplier<T> attempt);
  }

  private <T> T firstAttempt(Supplier<? extends T> attempt, Mode mode) {
    if (semaphore.isHeldByCurrentThread()) {
      return attempt.get();
    }
    GpuOutOfMemoryException failure;
    try {
      return mode.make(attempt);
    } catch (GpuOutOfMemoryException e) {
      failure = e;
    }
    try {
      return secondAttempt(attempt, mode);
    } catch (RuntimeException | Error e) {
      e.addSuppressed(failure);
      throw e;
    }
  }

  private <T> T withPermit(Supplier<T> attempt) {
    countWait(semaphore.acquire());
    try {
      return attempt.get();
    } finally {
      semaphore.release();
    }
  }

  private <T> T secondAttempt(Supplier<? extends T> attempt, Mode mode) {
    long spilledBytes = spillAll();
    GpuOutOfMemoryException failure;
    try {
      retries.increment();
      return mode.make(attempt);
    } catch (GpuOutOfMemoryException e) {
      failure = e;
    }
    try {
      return lastAttempt(attempt, spilledBytes);
    } catch (RuntimeException | Error e) {
      e.addSuppressed(failure);
      throw e;
    }
  }

  private <T> T lastAttempt(Supplier<? extends T> attempt, long spilledBefore) {
    long nanos = semaphore.acquireExclusively();
    countWait(nanos);
    try {
      long spilledBytes = spilledBefore + spillAll();
      retries.increment();
      try {
        return attempt.get();
      } catch (GpuOutOfMemoryException e) {
        throw exhausted(e, spilledBytes, nanos);
      }
    } finally {
      semaphore.release();
    }
  }

  private long spillAll() {
    return quota.manager().spill(Long.MAX_VALUE);
  }

  private void countWait(long nanos) {
    if (nanos > 0) {
      waitedNanos.add(nanos);
    }
  }

  private GpuOutOfMemoryException exhausted(
      GpuOutOfMemoryException last, long spilledBytes, long nanos) {
    SpillManager manager = quota.manager();
    SpillLimits limits = quota.limits();
    GpuOutOfMemoryException exhausted =
        new GpuOutOfMemoryException(
            "out of memory in 3 attempts, two of them after spilling "
                + spilledBytes
                + " bytes and the last alone on "
                + manager.device().description()
                + " after a wait of "
                + TimeUnit.NANOSECONDS.toMillis(nanos)
                + " ms: "
                + last.getMessage()
                + ". Now "
                + quota.name()
                + " holds "
                + held(quota.deviceBytes(), limits.deviceBytes())
                + " on the device, "
                + held(quota.hostBytes(), limits.hostBytes())
                + " on the host and "
                + held(quota.diskBytes(), limits.diskBytes())
                + " on disk, and all jobs hold "
                + held(manager.deviceBytes(), manager.deviceLimitBytes())
                + " on the device. Smaller batches, a larger millrace.spill.device-limit"
                + " or millrace.device.memory-limit"
                + (limits.isEnabled() ? "" : ", millrace.spill.enabled")
                + ", a smaller millrace.gpu.concurrency or fewer jobs on the device would help");
    exhausted.initCause(last);
    return exhausted;
  }

  private static String held(long bytes, long limitBytes) {
    return bytes + " bytes" + (limitBytes == Long.MAX_VALUE ? "" : " of at most " + limitBytes);
  }

  /**
   * Runs {@code attempt} on all of {@code input}, which the caller keeps, each part as {@link
   * #withRetry} does: an input that does not fit is split in halves, processed one after the other.
   * The result of an attempt is handed on before the next part begins, without a permit, so that no
   * more memory is held than one part needs.
   *
   * @param attempt gives a result that holds no pointer into its argument, which may be a part that
   *     is closed afterwards
   * @param consumer takes the results, in order; mostly one; may wait for other tasks
   * @throws GpuOutOfMemoryException if a part that cannot be split runs out of memory too
   * @throws SpillException as {@link #withRetry}
   * @throws java.util.concurrent.CancellationException as {@link #withRetry}
   */
  public <I extends Splittable<I>, T> void withSplitAndRetry(
      I input, Function<? super I, ? extends T> attempt, Consumer<? super T> consumer) {
    T result;
    try {
      result = withRetry(() -> attempt.apply(input));
    } catch (GpuOutOfMemoryException e) {
      List<I> halves = semaphore.isHeldByCurrentThread() ? List.of() : input.halves();
      if (halves.isEmpty()) {
        throw e;
      }
      splits.increment();
      eachWithSplitAndRetry(halves, attempt, consumer);
      return;
    }
    consumer.accept(result);
  }

  private <I extends Splittable<I>, T> void eachWithSplitAndRetry(
      List<I> inputs, Function<? super I, ? extends T> attempt, Consumer<? super T> consumer) {
    FirstFailure failure = new FirstFailure();
    for (I input : inputs) {
      if (!failure.hasFailed()) {
        failure.run(() -> withSplitAndRetry(input, attempt, consumer));
      }
      failure.run(input::close);
    }
    failure.rethrow();
  }
}

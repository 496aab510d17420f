package io.millrace.memory;

import io.millrace.device.GpuOutOfMemoryException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Does device work again when it runs out of memory: after spilling all that can be spilled, then
 * alone on the device, then in halves. Each attempt holds a permit of the device's {@link
 * GpuSemaphore}; none is held between attempts.
 *
 * <p>An attempt that fails leaves everything as it was: it has closed what it made and changed no
 * state. Its inputs are spilled between attempts if no access scope of the caller is open on them.
 * An attempt must not wait for other tasks, so it never emits.
 *
 * <p>An attempt within an attempt is part of it: it is made once, and its failure is the outer's.
 *
 * <p>Thread-safe.
 */
public final class GpuRetry {
  private final SpillShare share;
  private final GpuSemaphore semaphore;
  private final LongAdder retries = new LongAdder();
  private final LongAdder splits = new LongAdder();
  private final LongAdder waitedNanos = new LongAdder();

  /**
   * @param share whose memory the attempts allocate
   * @param semaphore of the share's device
   */
  public GpuRetry(SpillShare share, GpuSemaphore semaphore) {
    this.share = share;
    this.semaphore = semaphore;
  }

  /** Attempts that were made because one before had run out of memory; those of parts too. */
  public long retries() {
    return retries.sum();
  }

  /** Inputs that were split, once for each pair of halves. */
  public long splits() {
    return splits.sum();
  }

  /** How long threads waited for permits. */
  public long waitedNanos() {
    return waitedNanos.sum();
  }

  /**
   * What {@code attempt} gives, which is made three times at most: at once; after all memory that
   * can be spilled was spilled; and so again while no one else works on the device.
   *
   * @throws GpuOutOfMemoryException if the last attempt runs out of memory too; says what was tried
   *     and what is held
   * @throws SpillException if memory cannot be spilled because a disk fails or is full
   * @throws java.util.concurrent.CancellationException if the thread is interrupted while it waits
   *     for a permit; it still is then
   */
  public <T> T withRetry(Supplier<? extends T> attempt) {
    if (semaphore.isHeldByCurrentThread()) {
      return attempt.get();
    }
    GpuOutOfMemoryException failure;
    try {
      return withPermit(attempt);
    } catch (GpuOutOfMemoryException e) {
      failure = e;
    }
    try {
      return retry(attempt);
    } catch (RuntimeException | Error e) {
      e.addSuppressed(failure);
      throw e;
    }
  }

  private <T> T withPermit(Supplier<? extends T> attempt) {
    countWait(semaphore.acquire());
    try {
      return attempt.get();
    } finally {
      semaphore.release();
    }
  }

  private <T> T retry(Supplier<? extends T> attempt) {
    long spilledBytes = spillAll();
    GpuOutOfMemoryException failure;
    try {
      retries.increment();
      return withPermit(attempt);
    } catch (GpuOutOfMemoryException e) {
      failure = e;
    }
    try {
      return retryAlone(attempt, spilledBytes);
    } catch (RuntimeException | Error e) {
      e.addSuppressed(failure);
      throw e;
    }
  }

  private <T> T retryAlone(Supplier<? extends T> attempt, long spilledBefore) {
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
    return share.manager().spill(Long.MAX_VALUE);
  }

  private void countWait(long nanos) {
    if (nanos > 0) {
      waitedNanos.add(nanos);
    }
  }

  private GpuOutOfMemoryException exhausted(
      GpuOutOfMemoryException last, long spilledBytes, long nanos) {
    SpillManager manager = share.manager();
    SpillLimits limits = share.limits();
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
                + share.name()
                + " holds "
                + held(share.deviceBytes(), limits.deviceBytes())
                + " on the device, "
                + held(share.hostBytes(), limits.hostBytes())
                + " on the host and "
                + held(share.diskBytes(), limits.diskBytes())
                + " on disk, and all jobs hold "
                + held(manager.deviceBytes(), manager.deviceLimitBytes())
                + " on the device. Smaller batches, a larger millrace.spill.device-limit"
                + (limits.spills() ? "" : ", millrace.spill.enabled")
                + " or fewer jobs on the device would help");
    exhausted.initCause(last);
    return exhausted;
  }

  private static String held(long bytes, long limitBytes) {
    return bytes + " bytes" + (limitBytes == Long.MAX_VALUE ? "" : " of at most " + limitBytes);
  }

  /**
   * What {@code attempt} gives for all of {@code input}, each part as by {@link #withRetry}: an
   * input that does not fit is split in halves, which are attempted one after the other. The input
   * stays the caller's, and so do the results.
   *
   * @param attempt gives a result that holds no pointer into its argument, which may be a part that
   *     is closed afterwards
   * @param discard frees a result that will not be given because a later part failed
   * @return one result for each part, in order; mostly one
   * @throws GpuOutOfMemoryException if a part that cannot be split runs out of memory too
   * @throws SpillException as {@link #withRetry}
   * @throws java.util.concurrent.CancellationException as {@link #withRetry}
   */
  public <I extends Splittable<I>, T> List<T> withSplitAndRetry(
      I input, Function<? super I, ? extends T> attempt, Consumer<? super T> discard) {
    List<T> results = new ArrayList<>(1);
    try {
      attemptAll(input, attempt, results);
      return results;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      results.forEach(result -> failure.run(() -> discard.accept(result)));
      throw e;
    }
  }

  private <I extends Splittable<I>, T> void attemptAll(
      I input, Function<? super I, ? extends T> attempt, List<T> results) {
    List<I> halves;
    try {
      results.add(withRetry(() -> attempt.apply(input)));
      return;
    } catch (GpuOutOfMemoryException e) {
      halves = input.halves();
      if (halves.isEmpty()) {
        throw e;
      }
    }
    splits.increment();
    FirstFailure failure = new FirstFailure();
    for (I half : halves) {
      if (!failure.hasFailed()) {
        failure.run(() -> attemptAll(half, attempt, results));
      }
      failure.run(half::close);
    }
    failure.rethrow();
  }
}

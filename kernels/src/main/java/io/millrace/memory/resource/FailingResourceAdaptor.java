// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Fails chosen allocations, to test programs that run out of memory. Requests for 0 bytes neither
 * fail nor count.
 */
@PublicEvolving
public final class FailingResourceAdaptor implements MemoryResource {
  private final MemoryResource upstream;
  private final FailureCondition condition;
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();

  /** Decides which allocations fail. */
  @FunctionalInterface
  public interface FailureCondition {

    /**
     * Called once for each allocation, in the requesting thread and possibly in several threads at
     * once.
     *
     * @param number the number of the allocation, from 1
     * @param bytes the bytes requested
     */
    boolean fails(long number, long bytes);
  }

  public FailingResourceAdaptor(MemoryResource upstream, FailureCondition condition) {
    this.upstream = upstream;
    this.condition = condition;
  }

  /**
   * Fails one allocation.
   *
   * @param number the first is 1; one that never comes fails nothing
   */
  public static FailingResourceAdaptor nth(MemoryResource upstream, long number) {
    return new FailingResourceAdaptor(upstream, (request, bytes) -> request == number);
  }

  /**
   * Fails each allocation whose number is a multiple of {@code interval}.
   *
   * @throws IllegalArgumentException if {@code interval} is less than 1
   */
  public static FailingResourceAdaptor everyNth(MemoryResource upstream, long interval) {
    if (interval < 1) {
      throw new IllegalArgumentException("expected an interval of at least 1, got " + interval);
    }
    return new FailingResourceAdaptor(upstream, (request, bytes) -> request % interval == 0);
  }

  /**
   * Fails a random share of the allocations: the same ones, by their number, for the same seed.
   *
   * @param share from 0 for none to 1 for all
   * @throws IllegalArgumentException if {@code share} is not in this range
   */
  public static FailingResourceAdaptor randomShare(
      MemoryResource upstream, double share, long seed) {
    if (!(share >= 0 && share <= 1)) {
      throw new IllegalArgumentException("expected a share from 0 to 1, got " + share);
    }
    long base = new SplittableRandom(seed).nextLong();
    return new FailingResourceAdaptor(
        upstream, (request, bytes) -> new SplittableRandom(base ^ request).nextDouble() < share);
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  /**
   * {@inheritDoc}
   *
   * @throws GpuOutOfMemoryException also if the condition says so; the upstream is not asked then
   */
  @Override
  public long allocate(long bytes, DeviceStream stream) {
    if (bytes > 0) {
      long number = requests.incrementAndGet();
      if (condition.fails(number, bytes)) {
        failures.incrementAndGet();
        throw new GpuOutOfMemoryException(
            "injected failure of allocation " + number + ", of " + bytes + " bytes");
      }
    }
    return upstream.allocate(bytes, stream);
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    upstream.free(address, bytes, stream);
  }

  /** The number of allocations requested, failed allocations included. */
  public long requests() {
    return requests.get();
  }

  /** Allocations that this adaptor failed. */
  public long failures() {
    return failures.get();
  }
}

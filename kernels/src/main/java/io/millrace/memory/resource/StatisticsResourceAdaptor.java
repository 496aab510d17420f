// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;

/**
 * Counts bytes and allocations: held now, at the peak, and in all. Scopes nest: after {@link
 * #pushCounters} everything is counted from zero, and {@link #popCounters} adds what the scope
 * counted to the scope around it. A scope is the adaptor's, not a thread's. Counting allocates no
 * objects.
 */
@PublicEvolving
public final class StatisticsResourceAdaptor implements MemoryResource {
  private final MemoryResource upstream;
  private Counters innermost = new Counters(null);

  /**
   * A snapshot of the counters of a scope. Bytes held are negative in a scope that frees more than
   * it allocates.
   */
  public record Statistics(
      long heldBytes,
      long peakBytes,
      long totalBytes,
      long heldAllocations,
      long peakAllocations,
      long totalAllocations) {}

  public StatisticsResourceAdaptor(MemoryResource upstream) {
    this.upstream = upstream;
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    long address = upstream.allocate(bytes, stream);
    synchronized (this) {
      innermost.bytes.add(bytes);
      innermost.allocations.add(1);
    }
    return address;
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    upstream.free(address, bytes, stream);
    synchronized (this) {
      innermost.bytes.held -= bytes;
      innermost.allocations.held--;
    }
  }

  /** The counters of the innermost scope: since the last push, or since the adaptor was created. */
  public synchronized Statistics statistics() {
    return innermost.statistics();
  }

  /**
   * Opens a scope, which counts from zero.
   *
   * @return what the scope around it counted so far
   */
  public synchronized Statistics pushCounters() {
    Statistics before = innermost.statistics();
    innermost = new Counters(innermost);
    return before;
  }

  /**
   * Closes the innermost scope. The scope around it counts on as if it had counted everything
   * itself.
   *
   * @return what the closed scope counted
   * @throws IllegalStateException if no scope is open
   */
  public synchronized Statistics popCounters() {
    Counters closed = innermost;
    if (closed.outer == null) {
      throw new IllegalStateException("no counters were pushed");
    }
    closed.outer.bytes.addScope(closed.bytes);
    closed.outer.allocations.addScope(closed.allocations);
    innermost = closed.outer;
    return closed.statistics();
  }

  private static final class Counters {
    private final Counters outer;
    private final Counter bytes = new Counter();
    private final Counter allocations = new Counter();

    private Counters(Counters outer) {
      this.outer = outer;
    }

    private Statistics statistics() {
      return new Statistics(
          bytes.held,
          bytes.peak,
          bytes.total,
          allocations.held,
          allocations.peak,
          allocations.total);
    }
  }

  private static final class Counter {
    private long held;
    private long peak;
    private long total;

    private void add(long amount) {
      held += amount;
      total += amount;
      peak = Math.max(peak, held);
    }

    private void addScope(Counter scope) {
      peak = Math.max(peak, held + scope.peak);
      held += scope.held;
      total += scope.total;
    }
  }
}

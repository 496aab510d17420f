// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Remembers who holds what: for each allocation that is held its place in the sequence of all, its
 * thread and, if wanted, the stack that it was made from. Catches frees that match no allocation.
 */
@PublicEvolving
public final class TrackingResourceAdaptor implements MemoryResource {
  private final MemoryResource upstream;
  private final boolean captureStacks;
  private final AtomicLong sequence = new AtomicLong();
  private final Map<Long, Allocation> allocations = new ConcurrentHashMap<>();

  private record Allocation(long bytes, long number, String thread, Throwable site) {
    List<StackTraceElement> stack() {
      return site == null ? List.of() : List.of(site.getStackTrace());
    }
  }

  /** Allocations that were made in one place. */
  private record Site(List<StackTraceElement> stack, List<Allocation> allocations) {
    private static final Comparator<Site> LARGEST_FIRST =
        Comparator.comparingLong(Site::bytes)
            .reversed()
            .thenComparing(site -> site.allocations.get(0).number);

    private static Site of(List<StackTraceElement> stack, List<Allocation> allocations) {
      List<Allocation> inOrder = new ArrayList<>(allocations);
      inOrder.sort(Comparator.comparingLong(Allocation::number));
      return new Site(stack, inOrder);
    }

    private long bytes() {
      return allocations.stream().mapToLong(Allocation::bytes).sum();
    }

    private String report() {
      String threads =
          allocations.stream().collect(groupingBy(Allocation::thread)).entrySet().stream()
              .sorted(Map.Entry.comparingByKey())
              .map(Site::report)
              .collect(joining("; "));
      StringBuilder report = new StringBuilder();
      report.append(bytes()).append(" bytes in ").append(allocations.size());
      report.append(" allocations: ").append(threads).append('\n');
      stack.forEach(frame -> report.append("\tat ").append(frame).append('\n'));
      return report.toString();
    }

    private static String report(Map.Entry<String, List<Allocation>> thread) {
      return thread.getValue().stream()
          .map(allocation -> "#" + allocation.number)
          .collect(joining(" ", "thread " + thread.getKey() + " ", ""));
    }
  }

  /** Records a stack for each allocation, which takes some microseconds. */
  public TrackingResourceAdaptor(MemoryResource upstream) {
    this(upstream, true);
  }

  /**
   * @param captureStacks whether each allocation records the stack that it was made from
   */
  public TrackingResourceAdaptor(MemoryResource upstream, boolean captureStacks) {
    this.upstream = upstream;
    this.captureStacks = captureStacks;
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    long address = upstream.allocate(bytes, stream);
    if (bytes > 0) {
      allocations.put(
          address,
          new Allocation(
              bytes,
              sequence.incrementAndGet(),
              Thread.currentThread().getName(),
              captureStacks ? new Throwable("allocated here") : null));
    }
    return address;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if nothing, or another size, is held at {@code address}
   */
  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    Allocation allocation = bytes == 0 ? null : remove(address, bytes);
    try {
      upstream.free(address, bytes, stream);
    } catch (RuntimeException | Error e) {
      if (allocation != null) {
        allocations.put(address, allocation);
      }
      throw e;
    }
  }

  // Before the upstream frees the memory, or another thread may have been given it.
  private Allocation remove(long address, long bytes) {
    Allocation allocation = allocations.get(address);
    if (allocation == null
        || allocation.bytes != bytes
        || !allocations.remove(address, allocation)) {
      throw new IllegalStateException(
          "freeing "
              + bytes
              + " bytes at an address that holds "
              + (allocation == null ? 0 : allocation.bytes));
    }
    return allocation;
  }

  public long heldBytes() {
    return allocations.values().stream().mapToLong(Allocation::bytes).sum();
  }

  /**
   * The memory held, by the call site that allocated it, largest first: bytes, the allocations'
   * threads and numbers, and the stack. Empty if no memory is held.
   */
  public String report() {
    return allocations.values().stream().collect(groupingBy(Allocation::stack)).entrySet().stream()
        .map(site -> Site.of(site.getKey(), site.getValue()))
        .sorted(Site.LARGEST_FIRST)
        .map(Site::report)
        .collect(joining());
  }
}

package io.millrace.memory;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Remembers each allocation that is held and where it was made, and catches frees that do not match
 * one. For tests and for finding leaks: each allocation records a stack trace.
 */
public final class TrackingResourceAdaptor implements MemoryResource {
  private final MemoryResource upstream;
  private final Map<Long, Allocation> allocations = new ConcurrentHashMap<>();

  private record Allocation(long bytes, Throwable site) {}

  public TrackingResourceAdaptor(MemoryResource upstream) {
    this.upstream = upstream;
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    long address = upstream.allocate(bytes, stream);
    if (bytes > 0) {
      allocations.put(address, new Allocation(bytes, new Throwable("allocated here")));
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
    if (bytes > 0) {
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
    }
    upstream.free(address, bytes, stream);
  }

  public long heldBytes() {
    return allocations.values().stream().mapToLong(Allocation::bytes).sum();
  }

  /** Each held allocation with its size and site; empty if nothing is held. */
  public String report() {
    StringWriter report = new StringWriter();
    PrintWriter writer = new PrintWriter(report);
    for (Allocation allocation : allocations.values()) {
      writer.println(allocation.bytes + " bytes");
      allocation.site.printStackTrace(writer);
    }
    return report.toString();
  }
}

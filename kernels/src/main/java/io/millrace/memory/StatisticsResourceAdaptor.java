package io.millrace.memory;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;

/** Counts bytes and allocations: held now, at the peak, and in all. */
public final class StatisticsResourceAdaptor implements MemoryResource {
  private final MemoryResource upstream;
  private long heldBytes;
  private long peakBytes;
  private long totalBytes;
  private long heldAllocations;
  private long totalAllocations;

  /** What was counted up to one moment. */
  public record Statistics(
      long heldBytes,
      long peakBytes,
      long totalBytes,
      long heldAllocations,
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
      heldBytes += bytes;
      totalBytes += bytes;
      peakBytes = Math.max(peakBytes, heldBytes);
      heldAllocations++;
      totalAllocations++;
    }
    return address;
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    upstream.free(address, bytes, stream);
    synchronized (this) {
      heldBytes -= bytes;
      heldAllocations--;
    }
  }

  public synchronized Statistics statistics() {
    return new Statistics(heldBytes, peakBytes, totalBytes, heldAllocations, totalAllocations);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.CudaMemoryResource;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.resource.PoolMemoryResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the bandwidth of moves between the tiers against plain copies of as many bytes in pieces
 * of the same size. {@code bytes} is the total of all buffers.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 1000, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class SpillBenchmark {
  private static final long PIECE_BYTES = 64L << 20;

  /** As much pinned as device memory, and a stream. */
  @State(Scope.Benchmark)
  public static class PlainMemory {
    @Param("1073741824")
    public long bytes;

    @Param({"65536", "1048576", "4194304", "16777216", "67108864"})
    public long bufferBytes;

    final Device device = Device.current();
    DeviceStream stream;
    long pinnedAddress;
    long deviceAddress;

    @Setup
    public void allocate() {
      stream = device.createStream();
      pinnedAddress = device.allocatePinned(bytes);
      deviceAddress = device.allocate(bytes);
      stream.fill(deviceAddress, (byte) 1, bytes);
      stream.copy(pinnedAddress, deviceAddress, bytes);
      stream.synchronize();
    }

    void copy(long target, long source) {
      for (long offset = 0; offset < bytes; offset += bufferBytes) {
        stream.copy(target + offset, source + offset, bufferBytes);
      }
      stream.synchronize();
    }

    @TearDown
    public void free() {
      stream.close();
      device.freePinned(pinnedAddress);
      device.free(deviceAddress);
    }
  }

  /** Buffers of one quota, and a way to have all of them in one tier. */
  @State(Scope.Benchmark)
  public abstract static class Buffers {
    @Param({"65536", "1048576", "4194304", "16777216", "67108864"})
    public long bufferBytes;

    private final List<Buffer> buffers = new ArrayList<>();
    private PoolMemoryResource memory;
    private PoolMemoryResource pinned;
    private SpillManager manager;
    private SpillQuota quota;
    private DeviceStream stream;

    abstract long bytes();

    abstract SpillLimits limits() throws IOException;

    @Setup
    public void create() throws IOException {
      Device device = Device.current();
      stream = device.createStream();
      memory = pool(new CudaMemoryResource(device));
      pinned = pool(new PinnedHostMemoryResource(device));
      manager =
          new SpillManager(
              memory, pinned, Long.MAX_VALUE, true, new SpillStatistics(1), System::nanoTime);
      quota = manager.openQuota("the benchmark", limits());
      SpillableResourceAdaptor spillable = quota.resource(MemoryBudget.unlimited());
      for (long offset = 0; offset < bytes(); offset += bufferBytes) {
        Buffer buffer = Buffer.allocate(bufferBytes, stream, spillable);
        buffers.add(buffer);
        try (AccessScope scope = AccessScope.on(stream)) {
          stream.fill(buffer.access(AccessMode.WRITE, scope), (byte) buffers.size(), bufferBytes);
        }
      }
    }

    private static PoolMemoryResource pool(MemoryResource upstream) {
      return new PoolMemoryResource(upstream, PIECE_BYTES, Long.MAX_VALUE);
    }

    /** Moves all buffers off the device. */
    long spill() {
      long spilled = manager.spill(bytes());
      if (spilled != bytes()) {
        throw new IllegalStateException(spilled + " bytes were spilled of " + bytes());
      }
      return spilled;
    }

    /** Uses every buffer on the device, in turn, and waits. */
    void access() {
      for (Buffer buffer : buffers) {
        try (AccessScope scope = AccessScope.on(stream)) {
          buffer.access(AccessMode.READ, scope);
        }
      }
      stream.synchronize();
    }

    /** Unpins the pinned memory that holds no buffer. */
    void unpin() {
      pinned.trim(stream);
    }

    @TearDown
    public void close() {
      buffers.forEach(Buffer::close);
      buffers.clear();
      quota.close();
      manager.close();
      unpin();
      memory.trim(stream);
      stream.close();
    }
  }

  /** Buffers that spill to pinned host memory. */
  public static class HostBuffers extends Buffers {
    @Param("1073741824")
    public long bytes;

    @Override
    long bytes() {
      return bytes;
    }

    @Override
    SpillLimits limits() {
      return SpillLimits.DEFAULT;
    }
  }

  /** Buffers that spill to a file of {@code java.io.tmpdir}. */
  public static class DiskBuffers extends Buffers {
    @Param("268435456")
    public long bytes;

    private Path directory;

    @Override
    long bytes() {
      return bytes;
    }

    @Override
    SpillLimits limits() throws IOException {
      directory = Files.createTempDirectory("spill-benchmark");
      return SpillLimits.DEFAULT.withHostBytes(0).withDisk(List.of(directory), Long.MAX_VALUE);
    }

    @TearDown
    public void delete() throws IOException {
      Files.delete(directory);
    }
  }

  /** All buffers are on the device when a call begins, and memory is pinned for all of them. */
  public static class OnDevice extends HostBuffers {
    @Setup(Level.Invocation)
    public void unspillAll() {
      access();
    }
  }

  /** All buffers are on the device when a call begins, and no host memory is pinned. */
  public static class OnDeviceFirstTime extends OnDevice {
    @Setup(Level.Invocation)
    public void unpinAll() {
      unpin();
    }
  }

  /** All buffers are in host memory when a call begins. */
  public static class OnHost extends HostBuffers {
    @Setup(Level.Invocation)
    public void spillAll() {
      spill();
    }
  }

  /** All buffers are on the device when a call begins, and there is no room on the host. */
  public static class OnDeviceBesideDisk extends DiskBuffers {
    @Setup(Level.Invocation)
    public void unspillAll() {
      access();
    }
  }

  /** All buffers are on disk when a call begins. */
  public static class OnDisk extends DiskBuffers {
    @Setup(Level.Invocation)
    public void spillAll() {
      spill();
    }
  }

  /** Copies from the device in pieces that are enqueued one after the other, and waits once. */
  @Benchmark
  public void plainCopyToHost(PlainMemory memory) {
    memory.copy(memory.pinnedAddress, memory.deviceAddress);
  }

  /** Copies to the device in pieces that are enqueued one after the other, and waits once. */
  @Benchmark
  public void plainCopyToDevice(PlainMemory memory) {
    memory.copy(memory.deviceAddress, memory.pinnedAddress);
  }

  /** gpu => cpu, into memory that is pinned already. */
  @Benchmark
  public long spillToHost(OnDevice buffers) {
    return buffers.spill();
  }

  /** gpu => cpu, pinning the memory. */
  @Benchmark
  public long spillToHostFirstTime(OnDeviceFirstTime buffers) {
    return buffers.spill();
  }

  /** cpu => gpu, as each buffer is used. */
  @Benchmark
  public void unspillFromHost(OnHost buffers) {
    buffers.access();
  }

  /** gpu => disk. */
  @Benchmark
  public long spillToDisk(OnDeviceBesideDisk buffers) {
    return buffers.spill();
  }

  /** disk => gpu, as each buffer is used. */
  @Benchmark
  public void unspillFromDisk(OnDisk buffers) {
    buffers.access();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.kernel.cast.Cast;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.CudaAsyncMemoryResource;
import io.millrace.memory.resource.CudaMemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Measures the overhead of the device layer: allocations, copies and launches. */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class DeviceBenchmark {
  private static final int SMALL_BATCH = 64;

  /** A stream of the current device. */
  @State(Scope.Benchmark)
  public static class OpenStream {
    final Device device = Device.current();
    DeviceStream stream;

    @Setup
    public void open() {
      stream = device.createStream();
    }

    @TearDown
    public void close() {
      stream.close();
    }
  }

  /** The ways to allocate memory. */
  public enum Resource {
    POOL,
    CUDA_ASYNC,
    CUDA
  }

  /** An allocation's size in bytes and source. */
  @State(Scope.Benchmark)
  public static class Allocation {
    @Param({"65536", "1048576", "16777216"})
    public long size;

    @Param public Resource resource;

    MemoryResource memory;

    @Setup
    public void choose(OpenStream open) {
      memory =
          switch (resource) {
            case POOL -> PerDeviceResource.of(open.device);
            case CUDA_ASYNC -> new CudaAsyncMemoryResource(open.device);
            case CUDA -> new CudaMemoryResource(open.device);
          };
    }
  }

  /** A pinned and a device buffer of one size. */
  @State(Scope.Benchmark)
  public static class Transfer {
    @Param({"65536", "1048576", "16777216", "268435456"})
    public long bytes;

    long pinnedAddress;
    long deviceAddress;

    @Setup
    public void allocate(OpenStream open) {
      pinnedAddress = open.device.allocatePinned(bytes);
      deviceAddress = open.device.allocate(bytes);
      HostMemory.fill(pinnedAddress, bytes, (byte) 1);
    }

    @TearDown
    public void free(OpenStream open) {
      open.device.freePinned(pinnedAddress);
      open.device.free(deviceAddress);
    }
  }

  /** A column so small that only the launch takes time. */
  @State(Scope.Benchmark)
  public static class SmallColumn {
    MemoryResource memory;
    Column column;

    @Setup
    public void create(OpenStream open) {
      memory = PerDeviceResource.of(open.device);
      Buffer data = Buffer.allocate(SMALL_BATCH * Integer.BYTES, open.stream, memory);
      column = new Column(DataType.INT32, SMALL_BATCH, 0, data, null, List.of());
    }

    @TearDown
    public void close() {
      column.close();
    }
  }

  /** Allocates, and frees at once. */
  @Benchmark
  public void allocate(OpenStream open, Allocation allocation) {
    long address = allocation.memory.allocate(allocation.size, open.stream);
    allocation.memory.free(address, allocation.size, open.stream);
  }

  /** Copies pinned host memory to the device and waits. */
  @Benchmark
  public void copyToDevice(OpenStream open, Transfer transfer) {
    open.stream.copy(transfer.deviceAddress, transfer.pinnedAddress, transfer.bytes);
    open.stream.synchronize();
  }

  /** Copies device memory to pinned host memory and waits. */
  @Benchmark
  public void copyToHost(OpenStream open, Transfer transfer) {
    open.stream.copy(transfer.pinnedAddress, transfer.deviceAddress, transfer.bytes);
    open.stream.synchronize();
  }

  /** Allocates the output of one kernel over 64 rows, launches it and waits. */
  @Benchmark
  public int launch(OpenStream open, SmallColumn input) {
    try (Column output = Cast.cast(input.column, DataType.INT64, open.stream, input.memory)) {
      open.stream.synchronize();
      return output.size();
    }
  }

  /** Records an event on an idle stream and makes the stream wait for it. */
  @Benchmark
  public void recordEvent(OpenStream open) {
    try (DeviceEvent event = open.stream.recordEvent()) {
      open.stream.waitFor(event);
    }
  }

  /** Waits for an idle stream. */
  @Benchmark
  public void synchronize(OpenStream open) {
    open.stream.synchronize();
  }
}

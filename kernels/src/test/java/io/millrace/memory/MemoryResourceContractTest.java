package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuException;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every memory resource and every adaptor. */
class MemoryResourceContractTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  static Stream<Named<Supplier<MemoryResource>>> resources() {
    Device current = Device.current();
    MemoryResource upstream = MemoryResource.of(current);
    return Stream.of(
        Named.of("host", () -> HostMemoryResource.INSTANCE),
        Named.of("pinned", () -> new PinnedMemoryResource(current)),
        Named.of("pinned-host", () -> new PinnedHostMemoryResource(current)),
        Named.of(
            "pinned-host-pool",
            () -> new PoolMemoryResource(new PinnedHostMemoryResource(current), 1 << 20, 8 << 20)),
        Named.of(
            "failure-callback", () -> new FailureCallbackResourceAdaptor(upstream, b -> false)),
        Named.of("cuda", () -> new CudaMemoryResource(current)),
        Named.of("cuda-async", () -> new CudaAsyncMemoryResource(current)),
        Named.of("pool", () -> new PoolMemoryResource(new CudaMemoryResource(current))),
        Named.of("limiting", () -> new LimitingResourceAdaptor(upstream, 1L << 30)),
        Named.of("statistics", () -> new StatisticsResourceAdaptor(upstream)),
        Named.of("tracking", () -> new TrackingResourceAdaptor(upstream)));
  }

  private DeviceStream createStream(MemoryResource resource) {
    return resource.device().createStream();
  }

  @ParameterizedTest
  @MethodSource("resources")
  void memoryIsAlignedDistinctAndKeepsWhatIsWritten(Supplier<MemoryResource> source) {
    MemoryResource resource = source.get();
    try (DeviceStream stream = createStream(resource)) {
      long[] sizes = {1, 63, 64, 65, 1_000, 1 << 20};
      List<Long> addresses = new ArrayList<>();
      for (int i = 0; i < sizes.length; i++) {
        long address = resource.allocate(sizes[i], stream);
        assertThat(address).isNotZero();
        assertThat(address % 64).isZero();
        stream.fill(address, (byte) (i + 1), sizes[i]);
        addresses.add(address);
      }
      for (int i = 0; i < sizes.length; i++) {
        assertThat(read(addresses.get(i), stream)).isEqualTo((byte) (i + 1));
        assertThat(read(addresses.get(i) + sizes[i] - 1, stream)).isEqualTo((byte) (i + 1));
        resource.free(addresses.get(i), sizes[i], stream);
      }
      trim(resource, stream);
    }
  }

  @ParameterizedTest
  @MethodSource("resources")
  void noBytesTakeNoMemory(Supplier<MemoryResource> source) {
    MemoryResource resource = source.get();
    try (DeviceStream stream = createStream(resource)) {
      assertThat(resource.allocate(0, stream)).isZero();
      resource.free(0, 0, stream);
    }
  }

  @ParameterizedTest
  @MethodSource("resources")
  void tooMuchIsRefusedAndWhatFollowsWorks(Supplier<MemoryResource> source) {
    MemoryResource resource = source.get();
    try (DeviceStream stream = createStream(resource)) {
      assertThatThrownBy(() -> resource.allocate(1L << 55, stream))
          .isInstanceOf(GpuException.class);
      long address = resource.allocate(100, stream);
      assertThat(address).isNotZero();
      resource.free(address, 100, stream);
      trim(resource, stream);
    }
  }

  @ParameterizedTest
  @MethodSource("resources")
  void threadsDoNotGetEachOthersMemory(Supplier<MemoryResource> source) throws Exception {
    MemoryResource resource = source.get();
    int threads = 4;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<Set<Long>>> tasks = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        byte mark = (byte) (thread + 1);
        tasks.add(() -> allocateAndCheck(resource, mark));
      }
      for (Future<Set<Long>> result : executor.invokeAll(tasks)) {
        assertThat(result.get()).isNotEmpty();
      }
    } finally {
      executor.shutdown();
    }
    try (DeviceStream stream = createStream(resource)) {
      trim(resource, stream);
    }
  }

  private Set<Long> allocateAndCheck(MemoryResource resource, byte mark) {
    Random random = new Random(mark);
    Set<Long> addresses = new HashSet<>();
    try (DeviceStream stream = createStream(resource)) {
      for (int round = 0; round < 50; round++) {
        int bytes = 1 + random.nextInt(10_000);
        long address = resource.allocate(bytes, stream);
        stream.fill(address, mark, bytes);
        assertThat(read(address, stream)).isEqualTo(mark);
        assertThat(read(address + bytes - 1, stream)).isEqualTo(mark);
        addresses.add(address);
        resource.free(address, bytes, stream);
      }
    }
    return addresses;
  }

  private byte read(long address, DeviceStream stream) {
    try (StagingBuffer staging = device.device().stagingPool().acquire(1)) {
      stream.copy(staging.address(), address, 1);
      stream.synchronize();
      return HostMemory.getByte(staging.address());
    }
  }

  private static void trim(MemoryResource resource, DeviceStream stream) {
    if (resource instanceof PoolMemoryResource pool) {
      assertThat(pool.heldBytes()).isZero();
      pool.trim(stream);
      assertThat(pool.reservedBytes()).isZero();
    }
  }

  @ParameterizedTest
  @MethodSource("resources")
  void theDeviceIsTheOneWhoseStreamsOrderTheMemory(Supplier<MemoryResource> source) {
    Device owner = source.get().device();
    assertThat(owner).isIn(device.device(), HostDevice.INSTANCE);
    if (device.device().kind() == DeviceKind.HOST) {
      assertThat(owner).isSameAs(HostDevice.INSTANCE);
    }
  }
}

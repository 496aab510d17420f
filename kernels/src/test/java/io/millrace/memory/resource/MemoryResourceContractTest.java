// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.DeferredDevice;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuException;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.MemoryResource;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract of every memory resource, every adaptor, and stacks of adaptors. */
class MemoryResourceContractTest {
  private static final int THREADS = 4;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** Makes the resource under test. */
  interface Recipe {
    MemoryResource make(WatchedResources of);
  }

  private record Allocation(long address, int bytes, byte mark, DeviceStream stream) {}

  static Stream<Named<Recipe>> resources() {
    return Stream.concat(
        Stream.of(
            Named.of("host", WatchedResources::host), Named.of("pinned", WatchedResources::pinned)),
        deviceResources());
  }

  /** Resources that are ordered by streams of the device. */
  static Stream<Named<Recipe>> deviceResources() {
    return Stream.of(
        Named.of("cuda", WatchedResources::cuda),
        Named.of("cuda-async", WatchedResources::cudaAsync),
        Named.of("pinned-host", WatchedResources::pinnedHost),
        Named.of("pool", of -> of.pool(of.cuda())),
        Named.of("pool of pinned-host", of -> of.pool(of.pinnedHost())),
        Named.of("limiting", of -> new LimitingResourceAdaptor(of.cuda(), 1L << 30)),
        Named.of("statistics", of -> new StatisticsResourceAdaptor(of.cudaAsync())),
        Named.of("tracking", of -> new TrackingResourceAdaptor(of.pool(of.cuda()))),
        Named.of("tracking threads", of -> new TrackingResourceAdaptor(of.cuda(), false)),
        Named.of("logging", of -> logging(of.pool(of.cuda()))),
        Named.of(
            "failure-callback",
            of -> new FailureCallbackResourceAdaptor(of.pool(of.cuda()), bytes -> false)),
        Named.of("failing", of -> FailingResourceAdaptor.nth(of.pool(of.cuda()), Long.MAX_VALUE)),
        Named.of(
            "tried again after each third fails",
            of ->
                new FailureCallbackResourceAdaptor(
                    FailingResourceAdaptor.everyNth(of.pool(of.cuda()), 3),
                    bytes -> bytes < 1 << 30)),
        Named.of(
            "failure-alternate after each third fails",
            of ->
                new FailureAlternateResourceAdaptor(
                    FailingResourceAdaptor.everyNth(of.pool(of.cuda()), 3), of.cudaAsync())),
        Named.of("spillable", of -> of.spillable(of.pool(of.cuda()))),
        Named.of(
            "statistics, limiting, logging, tracking over pool",
            of ->
                new StatisticsResourceAdaptor(
                    new LimitingResourceAdaptor(
                        logging(new TrackingResourceAdaptor(of.pool(of.cuda()))), 1L << 30))),
        Named.of(
            "pool over limiting and logging",
            of -> of.pool(new LimitingResourceAdaptor(logging(of.cuda()), 1L << 30))));
  }

  private static MemoryResource logging(MemoryResource upstream) {
    return new LoggingResourceAdaptor(
        upstream, new StringWriter(), new AtomicLong()::incrementAndGet);
  }

  private final List<WatchedResources> opened = new ArrayList<>();

  private WatchedResources watch(WatchedResources watched) {
    opened.add(watched);
    return watched;
  }

  @AfterEach
  void close() {
    opened.forEach(WatchedResources::close);
  }

  @ParameterizedTest
  @MethodSource("resources")
  void memoryIsAlignedDistinctAndKeepsWhatIsWritten(Recipe recipe) {
    WatchedResources watched = watch(new WatchedResources(device.device()));
    MemoryResource resource = recipe.make(watched);
    try (DeviceStream stream = resource.device().createStream()) {
      int[] sizes = {1, 63, 64, 65, 1_000, 1 << 20};
      List<Allocation> held = new ArrayList<>();
      for (int i = 0; i < sizes.length; i++) {
        held.add(allocate(resource, sizes[i], (byte) (i + 1), stream));
      }
      for (Allocation allocation : held) {
        assertKept(allocation, stream);
        resource.free(allocation.address, allocation.bytes, stream);
      }
    }
    watched.assertNothingHeld();
  }

  private static Allocation allocate(
      MemoryResource resource, int bytes, byte mark, DeviceStream stream) {
    long address = resource.allocate(bytes, stream);
    assertThat(address).isNotZero();
    assertThat(address % 64).isZero();
    stream.fill(address, mark, bytes);
    return new Allocation(address, bytes, mark, stream);
  }

  private void assertKept(Allocation allocation, DeviceStream stream) {
    try (StagingBuffer staging = device.device().stagingPool().acquire(2)) {
      copyEnds(allocation, staging.address(), stream);
      stream.synchronize();
      assertEnds(allocation.mark, staging.address());
    }
  }

  private static void copyEnds(Allocation allocation, long target, DeviceStream stream) {
    stream.copy(target, allocation.address, 1);
    stream.copy(target + 1, allocation.address + allocation.bytes - 1, 1);
  }

  private static void assertEnds(byte mark, long address) {
    assertThat(HostMemory.getByte(address)).isEqualTo(mark);
    assertThat(HostMemory.getByte(address + 1)).isEqualTo(mark);
  }

  @ParameterizedTest
  @MethodSource("resources")
  void noBytesTakeNoMemory(Recipe recipe) {
    WatchedResources watched = watch(new WatchedResources(device.device()));
    MemoryResource resource = recipe.make(watched);
    try (DeviceStream stream = resource.device().createStream()) {
      assertThat(resource.allocate(0, stream)).isZero();
      watched.assertNothingHeld();
      resource.free(0, 0, stream);
    }
  }

  @ParameterizedTest
  @MethodSource("resources")
  void tooMuchIsRefusedAndWhatFollowsWorks(Recipe recipe) {
    WatchedResources watched = watch(new WatchedResources(device.device()));
    MemoryResource resource = recipe.make(watched);
    try (DeviceStream stream = resource.device().createStream()) {
      assertThatThrownBy(() -> resource.allocate(1L << 55, stream))
          .isInstanceOf(GpuException.class);
      watched.assertNothingHeld();
      Allocation allocation = allocate(resource, 100, (byte) 7, stream);
      assertKept(allocation, stream);
      resource.free(allocation.address, allocation.bytes, stream);
    }
    watched.assertNothingHeld();
  }

  @ParameterizedTest
  @MethodSource("resources")
  void memoryIsFreedAfterItsStreamIsClosed(Recipe recipe) {
    freeAfterItsStreamIsClosed(recipe, device.device());
  }

  @ParameterizedTest
  @MethodSource("deviceResources")
  void memoryIsFreedAfterItsStreamIsClosedOnADeviceThatDefersWork(Recipe recipe) {
    freeAfterItsStreamIsClosed(recipe, new DeferredDevice());
  }

  private void freeAfterItsStreamIsClosed(Recipe recipe, Device on) {
    WatchedResources watched = watch(new WatchedResources(on));
    MemoryResource resource = recipe.make(watched);
    DeviceStream closed = resource.device().createStream();
    Allocation first = allocate(resource, 5_000, (byte) 1, closed);
    Allocation second = allocate(resource, 5_000, (byte) 2, closed);
    closed.close();
    resource.free(first.address, first.bytes, closed);
    try (DeviceStream stream = resource.device().createStream()) {
      Allocation third = allocate(resource, 5_000, (byte) 3, stream);
      assertKept(second, stream);
      assertKept(third, stream);
      resource.free(third.address, third.bytes, stream);
    }
    resource.free(second.address, second.bytes, closed);
    watched.assertNothingHeld();
  }

  @ParameterizedTest
  @MethodSource("resources")
  void failuresOfTheDriverLeaveNothingHeld(Recipe recipe) {
    Random values = random.random();
    List<FailingResourceAdaptor> failing = new ArrayList<>();
    WatchedResources watched =
        watch(
            new WatchedResources(
                device.device(),
                bottom -> {
                  failing.add(FailingResourceAdaptor.randomShare(bottom, 0.5, random.seed()));
                  return failing.get(0);
                }));
    MemoryResource resource = recipe.make(watched);
    try (DeviceStream stream = resource.device().createStream()) {
      List<Allocation> held = new ArrayList<>();
      for (int step = 0; step < 200; step++) {
        if (held.size() > 20) {
          Allocation freed = held.remove(values.nextInt(held.size()));
          resource.free(freed.address, freed.bytes, stream);
        }
        try {
          held.add(allocate(resource, 1 + values.nextInt(30_000), (byte) step, stream));
        } catch (GpuOutOfMemoryException e) {
          assertThat(e).hasMessageStartingWith("injected failure");
        }
      }
      for (Allocation allocation : held) {
        assertKept(allocation, stream);
        resource.free(allocation.address, allocation.bytes, stream);
      }
    }
    assertThat(failing.get(0).failures()).isPositive();
    watched.assertNothingHeld();
  }

  @ParameterizedTest
  @MethodSource("deviceResources")
  void memoryThatAnotherStreamReusesIsOrderedBehindItsLastUse(Recipe recipe) {
    runStreams(recipe, device.device());
    runStreams(recipe, new DeferredDevice());
  }

  // Each stream checks its memory before it frees it. Nothing is waited for until the end, so
  // memory
  // that is given to another stream too early is overwritten before it is read.
  private void runStreams(Recipe recipe, Device on) {
    int allocations = 300;
    Random values = random.random();
    WatchedResources watched = watch(new WatchedResources(on));
    MemoryResource resource = recipe.make(watched);
    List<DeviceStream> streams = Stream.generate(on::createStream).limit(3).toList();
    long results = on.allocatePinned(2L * allocations);
    List<Allocation> held = new ArrayList<>();
    List<Byte> marks = new ArrayList<>();
    while (marks.size() < allocations) {
      if (held.size() > values.nextInt(20)) {
        Allocation checked = held.remove(values.nextInt(held.size()));
        copyEnds(checked, results + 2L * marks.size(), checked.stream);
        marks.add(checked.mark);
        resource.free(checked.address, checked.bytes, checked.stream);
      } else {
        DeviceStream stream = streams.get(values.nextInt(3));
        held.add(allocate(resource, 1 + values.nextInt(20_000), (byte) values.nextInt(), stream));
      }
      if (values.nextInt(50) == 0) {
        watched.trim(streams.get(values.nextInt(3)));
      }
    }
    held.forEach(rest -> resource.free(rest.address, rest.bytes, rest.stream));
    streams.forEach(DeviceStream::close);
    for (int i = 0; i < allocations; i++) {
      assertEnds(marks.get(i), results + 2L * i);
    }
    on.freePinned(results);
    watched.assertNothingHeld();
  }

  @ParameterizedTest
  @MethodSource("resources")
  void threadsDoNotGetEachOthersMemory(Recipe recipe) throws Exception {
    WatchedResources watched = watch(new WatchedResources(device.device()));
    MemoryResource resource = recipe.make(watched);
    BlockingQueue<Allocation> shared = new ArrayBlockingQueue<>(THREADS);
    List<DeviceStream> streams =
        Stream.generate(resource.device()::createStream).limit(THREADS).toList();
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    try {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        Random values = new Random(random.seed() + thread);
        DeviceStream stream = streams.get(thread);
        tasks.add(() -> allocateAndHandOver(resource, values, stream, shared));
      }
      for (Future<Void> result : executor.invokeAll(tasks)) {
        result.get();
      }
    } finally {
      executor.shutdown();
    }
    shared.forEach(rest -> resource.free(rest.address, rest.bytes, rest.stream));
    streams.forEach(DeviceStream::close);
    watched.assertNothingHeld();
  }

  // Each thread checks and frees memory that another thread allocated, in the order of its own
  // stream.
  private Void allocateAndHandOver(
      MemoryResource resource,
      Random values,
      DeviceStream stream,
      BlockingQueue<Allocation> shared) {
    for (int round = 0; round < 100; round++) {
      int bytes = 1 + values.nextInt(10_000);
      Allocation own = allocate(resource, bytes, (byte) values.nextInt(), stream);
      assertKept(own, stream);
      Allocation freed = shared.offer(own) ? shared.poll() : own;
      if (freed != null) {
        stream.waitFor(freed.stream);
        assertKept(freed, stream);
        resource.free(freed.address, freed.bytes, stream);
      }
    }
    return null;
  }

  @ParameterizedTest
  @MethodSource("resources")
  void theDeviceIsTheOneWhoseStreamsOrderTheMemory(Recipe recipe) {
    Device owner = recipe.make(watch(new WatchedResources(device.device()))).device();
    assertThat(owner).isIn(device.device(), HostDevice.INSTANCE);
  }

  @ParameterizedTest
  @MethodSource("deviceResources")
  void memoryOfADeviceBelongsToIt(Recipe recipe) {
    Device owner = new DeferredDevice();
    assertThat(recipe.make(watch(new WatchedResources(owner))).device()).isSameAs(owner);
  }
}

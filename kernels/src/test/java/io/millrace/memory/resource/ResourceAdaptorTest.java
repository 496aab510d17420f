// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuException;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostDevice;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.StatisticsResourceAdaptor.Statistics;
import io.millrace.testing.DeviceExtension;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the behaviour that each adaptor adds to its upstream resource. */
class ResourceAdaptorTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void limitingRefusesTheByteBeyondTheLimit() {
    LimitingResourceAdaptor limited = new LimitingResourceAdaptor(device.memory(), 100);
    long first = limited.allocate(60, device.stream());
    long second = limited.allocate(40, device.stream());
    assertThat(limited.heldBytes()).isEqualTo(100);
    assertThatThrownBy(() -> limited.allocate(1, device.stream()))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessage("1 bytes more would pass the limit of 100 bytes; 100 are held");
    limited.free(first, 60, device.stream());
    long third = limited.allocate(60, device.stream());
    assertThatThrownBy(() -> limited.allocate(Long.MAX_VALUE, device.stream()))
        .isInstanceOf(GpuOutOfMemoryException.class);
    limited.free(second, 40, device.stream());
    limited.free(third, 60, device.stream());
    assertThat(limited.heldBytes()).isZero();
  }

  @Test
  void theAlternateGivesWhatTheUpstreamRefusesAndGetsItBack() {
    LimitingResourceAdaptor fast = new LimitingResourceAdaptor(device.memory(), 100);
    LimitingResourceAdaptor slow = new LimitingResourceAdaptor(device.memory(), 100);
    MemoryResource both = new FailureAlternateResourceAdaptor(fast, slow);
    long first = both.allocate(60, device.stream());
    long second = both.allocate(60, device.stream());
    assertThat(List.of(fast.heldBytes(), slow.heldBytes())).containsExactly(60L, 60L);
    assertThatThrownBy(() -> both.allocate(60, device.stream()))
        .isInstanceOf(GpuOutOfMemoryException.class);
    both.free(first, 60, device.stream());
    assertThat(List.of(fast.heldBytes(), slow.heldBytes())).containsExactly(0L, 60L);
    both.free(second, 60, device.stream());
    assertThat(List.of(fast.heldBytes(), slow.heldBytes())).containsExactly(0L, 0L);
  }

  @Test
  void limitingForgetsWhatTheUpstreamRefused() {
    LimitingResourceAdaptor small = new LimitingResourceAdaptor(device.memory(), 10);
    LimitingResourceAdaptor large = new LimitingResourceAdaptor(small, 100);
    assertThatThrownBy(() -> large.allocate(50, device.stream()))
        .isInstanceOf(GpuOutOfMemoryException.class);
    assertThat(large.heldBytes()).isZero();
  }

  @Test
  void theLimitHoldsAndIsGivenBackInFullWithManyThreads() throws Exception {
    StatisticsResourceAdaptor counted = new StatisticsResourceAdaptor(device.memory());
    MemoryResource failing = FailingResourceAdaptor.everyNth(counted, 7);
    LimitingResourceAdaptor limited = new LimitingResourceAdaptor(failing, 1_000);
    ExecutorService executor = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Integer>> tasks = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        Random values = new Random(thread);
        tasks.add(() -> allocateAndFree(limited, values));
      }
      int refused = 0;
      for (Future<Integer> result : executor.invokeAll(tasks)) {
        refused += result.get();
      }
      assertThat(refused).isPositive();
    } finally {
      executor.shutdown();
    }
    assertThat(counted.statistics().peakBytes()).isLessThanOrEqualTo(1_000);
    assertThat(limited.heldBytes()).isZero();
  }

  private int allocateAndFree(MemoryResource limited, Random values) {
    int refused = 0;
    Deque<long[]> held = new ArrayDeque<>();
    for (int step = 0; step < 2_000; step++) {
      long bytes = 1L + values.nextInt(200);
      try {
        held.add(new long[] {limited.allocate(bytes, device.stream()), bytes});
      } catch (GpuOutOfMemoryException e) {
        refused++;
        for (long[] block = held.poll(); block != null; block = held.poll()) {
          limited.free(block[0], block[1], device.stream());
        }
      }
    }
    held.forEach(block -> limited.free(block[0], block[1], device.stream()));
    return refused;
  }

  @Test
  void statisticsCountNowAtThePeakAndInAll() {
    StatisticsResourceAdaptor counted = new StatisticsResourceAdaptor(device.memory());
    long first = counted.allocate(100, device.stream());
    long second = counted.allocate(50, device.stream());
    counted.free(first, 100, device.stream());
    long third = counted.allocate(20, device.stream());
    assertThat(counted.statistics()).isEqualTo(new Statistics(70, 150, 170, 2, 2, 3));
    counted.free(second, 50, device.stream());
    counted.free(third, 20, device.stream());
    assertThat(counted.statistics()).isEqualTo(new Statistics(0, 150, 170, 0, 2, 3));
  }

  @Test
  void aStatisticsScopeCountsFromZeroAndIsAddedToTheScopeAroundIt() {
    StatisticsResourceAdaptor counted = new StatisticsResourceAdaptor(device.memory());
    long first = counted.allocate(100, device.stream());
    assertThat(counted.pushCounters()).isEqualTo(new Statistics(100, 100, 100, 1, 1, 1));
    assertThat(counted.statistics()).isEqualTo(new Statistics(0, 0, 0, 0, 0, 0));
    long second = counted.allocate(30, device.stream());
    counted.free(first, 100, device.stream());
    assertThat(counted.pushCounters()).isEqualTo(new Statistics(-70, 30, 30, 0, 1, 1));
    long third = counted.allocate(500, device.stream());
    counted.free(third, 500, device.stream());
    assertThat(counted.popCounters()).isEqualTo(new Statistics(0, 500, 500, 0, 1, 1));
    assertThat(counted.popCounters()).isEqualTo(new Statistics(-70, 430, 530, 0, 1, 2));
    assertThat(counted.statistics()).isEqualTo(new Statistics(30, 530, 630, 1, 2, 3));
    counted.free(second, 30, device.stream());
    assertThatIllegalStateException().isThrownBy(counted::popCounters);
  }

  @Test
  void countingAllocatesNoObjects() {
    StatisticsResourceAdaptor counted = new StatisticsResourceAdaptor(new ConstantResource());
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < 20_000; i++) {
      counted.free(counted.allocate(64, device.stream()), 64, device.stream());
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 10_000; i++) {
      counted.free(counted.allocate(64, device.stream()), 64, device.stream());
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
  }

  /** Gives the same address each time. */
  private static final class ConstantResource implements MemoryResource {
    @Override
    public Device device() {
      return HostDevice.INSTANCE;
    }

    @Override
    public long allocate(long bytes, DeviceStream stream) {
      return 64;
    }

    @Override
    public void free(long address, long bytes, DeviceStream stream) {}
  }

  @Test
  void trackingReportsSitesWithTheLargestFirst() throws InterruptedException {
    TrackingResourceAdaptor tracked = new TrackingResourceAdaptor(device.memory());
    assertThat(tracked.report()).isEmpty();
    List<Long> addresses = new ArrayList<>();
    addresses.add(tracked.allocate(100, device.stream()));
    Thread worker =
        new Thread(
            () -> {
              for (int i = 0; i < 2; i++) {
                addresses.add(tracked.allocate(60, device.stream()));
              }
            },
            "worker");
    worker.start();
    worker.join();
    assertThat(tracked.heldBytes()).isEqualTo(220);
    assertThat(tracked.report().lines())
        .filteredOn(line -> !line.startsWith("\tat "))
        .containsExactly(
            "120 bytes in 2 allocations: thread worker #2 #3",
            "100 bytes in 1 allocations: thread main #1");
    assertThat(tracked.report()).contains("trackingReportsSitesWithTheLargestFirst");
    for (int i = 0; i < 3; i++) {
      tracked.free(addresses.get(i), i == 0 ? 100 : 60, device.stream());
    }
    assertThat(tracked.report()).isEmpty();
  }

  @Test
  void trackingWithoutStacksReportsThreadsAlone() {
    TrackingResourceAdaptor tracked = new TrackingResourceAdaptor(device.memory(), false);
    long first = tracked.allocate(100, device.stream());
    long second = tracked.allocate(50, device.stream());
    assertThat(tracked.report()).isEqualTo("150 bytes in 2 allocations: thread main #1 #2\n");
    tracked.free(first, 100, device.stream());
    tracked.free(second, 50, device.stream());
  }

  @Test
  void trackingCatchesFreesThatMatchNoAllocation() {
    TrackingResourceAdaptor tracked = new TrackingResourceAdaptor(device.memory());
    long address = tracked.allocate(100, device.stream());
    assertThatIllegalStateException()
        .isThrownBy(() -> tracked.free(address, 99, device.stream()))
        .withMessage("freeing 99 bytes at an address that holds 100");
    tracked.free(address, 100, device.stream());
    assertThatIllegalStateException()
        .isThrownBy(() -> tracked.free(address, 100, device.stream()))
        .withMessage("freeing 100 bytes at an address that holds 0");
  }

  @Test
  void theFailureCallbackMakesRoomUntilTheAllocationSucceeds() {
    LimitingResourceAdaptor limited = new LimitingResourceAdaptor(device.memory(), 100);
    Deque<Long> held = new ArrayDeque<>();
    List<Long> asked = new ArrayList<>();
    FailureCallbackResourceAdaptor adaptor =
        new FailureCallbackResourceAdaptor(
            limited,
            bytes -> {
              asked.add(bytes);
              limited.free(held.remove(), 40, device.stream());
              return true;
            });
    held.add(adaptor.allocate(40, device.stream()));
    held.add(adaptor.allocate(40, device.stream()));
    assertThat(asked).isEmpty();
    long large = adaptor.allocate(90, device.stream());
    assertThat(asked).containsExactly(90L, 90L);
    assertThat(held).isEmpty();
    adaptor.free(large, 90, device.stream());
    assertThat(limited.heldBytes()).isZero();
  }

  @Test
  void theUpstreamsFailurePassesWhenTheCallbackGivesUp() {
    LimitingResourceAdaptor limited = new LimitingResourceAdaptor(device.memory(), 10);
    AtomicInteger calls = new AtomicInteger();
    MemoryResource adaptor =
        new FailureCallbackResourceAdaptor(limited, bytes -> calls.incrementAndGet() < 3);
    assertThatThrownBy(() -> adaptor.allocate(11, device.stream()))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessageContaining("limit of 10 bytes");
    assertThat(calls).hasValue(3);
    assertThat(limited.heldBytes()).isZero();
  }

  @Test
  void whatCouldNotBeFreedIsStillHeld() {
    MemoryResource stuck =
        new MemoryResource() {
          @Override
          public Device device() {
            return device.device();
          }

          @Override
          public long allocate(long bytes, DeviceStream stream) {
            return 64;
          }

          @Override
          public void free(long address, long bytes, DeviceStream stream) {
            throw new GpuException("on purpose");
          }
        };
    TrackingResourceAdaptor tracked = new TrackingResourceAdaptor(stuck);
    LimitingResourceAdaptor limited = new LimitingResourceAdaptor(tracked, 100);
    StatisticsResourceAdaptor counted = new StatisticsResourceAdaptor(limited);
    long address = counted.allocate(100, device.stream());
    assertThatThrownBy(() -> counted.free(address, 100, device.stream())).hasMessage("on purpose");
    assertThat(tracked.heldBytes()).isEqualTo(100);
    assertThat(limited.heldBytes()).isEqualTo(100);
    assertThat(counted.statistics().heldBytes()).isEqualTo(100);
  }

  @Test
  void pinnedMemoryCatchesFreesThatMatchNoAllocation() {
    StagingMemoryResource pinned = new StagingMemoryResource(device.device());
    long address = pinned.allocate(100, device.hostStream());
    pinned.free(address, 100, device.hostStream());
    assertThatIllegalStateException()
        .isThrownBy(() -> pinned.free(address, 100, device.hostStream()));
  }
}

package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.StatisticsResourceAdaptor.Statistics;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What each adaptor adds to the memory it adapts. */
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
  void limitingForgetsWhatTheUpstreamRefused() {
    LimitingResourceAdaptor small = new LimitingResourceAdaptor(device.memory(), 10);
    LimitingResourceAdaptor large = new LimitingResourceAdaptor(small, 100);
    assertThatThrownBy(() -> large.allocate(50, device.stream()))
        .isInstanceOf(GpuOutOfMemoryException.class);
    assertThat(large.heldBytes()).isZero();
  }

  @Test
  void statisticsCountNowAtThePeakAndInAll() {
    StatisticsResourceAdaptor counted = new StatisticsResourceAdaptor(device.memory());
    long first = counted.allocate(100, device.stream());
    long second = counted.allocate(50, device.stream());
    counted.free(first, 100, device.stream());
    long third = counted.allocate(20, device.stream());
    assertThat(counted.statistics()).isEqualTo(new Statistics(70, 150, 170, 2, 3));
    counted.free(second, 50, device.stream());
    counted.free(third, 20, device.stream());
    assertThat(counted.statistics()).isEqualTo(new Statistics(0, 150, 170, 0, 3));
  }

  @Test
  void trackingReportsWhatIsHeldAndWhereItWasAllocated() {
    TrackingResourceAdaptor tracked = new TrackingResourceAdaptor(device.memory());
    assertThat(tracked.report()).isEmpty();
    long address = tracked.allocate(100, device.stream());
    assertThat(tracked.heldBytes()).isEqualTo(100);
    assertThat(tracked.report())
        .contains("100 bytes", "trackingReportsWhatIsHeldAndWhereItWasAllocated");
    tracked.free(address, 100, device.stream());
    assertThat(tracked.report()).isEmpty();
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
  void pinnedMemoryCatchesFreesThatMatchNoAllocation() {
    PinnedMemoryResource pinned = new PinnedMemoryResource(device.device());
    long address = pinned.allocate(100, device.hostStream());
    pinned.free(address, 100, device.hostStream());
    assertThatIllegalStateException()
        .isThrownBy(() -> pinned.free(address, 100, device.hostStream()));
  }
}

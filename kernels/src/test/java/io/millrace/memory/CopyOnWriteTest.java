// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.sun.management.ThreadMXBean;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import io.millrace.testing.DeviceExtension;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The worked examples of cuDF's page on copy-on-write, and its rules. */
class CopyOnWriteTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private Buffer series(int... values) {
    try (StagingBuffer host = device.device().stagingPool().acquire(4L * values.length)) {
      for (int i = 0; i < values.length; i++) {
        HostMemory.putInt(host.address() + 4L * i, values[i]);
      }
      Buffer buffer =
          Buffer.copyOf(host.address(), 4L * values.length, device.stream(), device.fixedMemory());
      device.stream().synchronize();
      return buffer;
    }
  }

  private List<Integer> values(Buffer buffer) {
    int count = (int) (buffer.size() / 4);
    try (StagingBuffer host = device.device().stagingPool().acquire(buffer.size());
        AccessScope scope = AccessScope.on(device.stream())) {
      device.stream().copy(host.address(), buffer.access(AccessMode.READ, scope), buffer.size());
      device.stream().synchronize();
      return IntStream.range(0, count)
          .mapToObj(i -> HostMemory.getInt(host.address() + 4L * i))
          .toList();
    }
  }

  private long address(Buffer buffer) {
    try (AccessScope scope = AccessScope.on(device.stream())) {
      return buffer.access(AccessMode.READ, scope);
    }
  }

  private void writeFirstTwo(Buffer buffer, int value) {
    try (StagingBuffer host = device.device().stagingPool().acquire(8);
        AccessScope scope = AccessScope.on(device.stream())) {
      HostMemory.putInt(host.address(), value);
      HostMemory.putInt(host.address() + 4, value);
      device.stream().copy(buffer.access(AccessMode.WRITE, scope), host.address(), 8);
      device.stream().synchronize();
    }
  }

  @Test
  void shallowCopiesShareTheirAddressUntilOneIsWritten() {
    try (Buffer s1 = series(1, 2, 3, 4);
        Buffer s2 = s1.shallowCopy(device.stream());
        Buffer s3 = s2.shallowCopy(device.stream())) {
      long shared = address(s1);
      assertThat(address(s2)).isEqualTo(shared);
      assertThat(address(s3)).isEqualTo(shared);

      writeFirstTwo(s2, 10);
      assertThat(values(s2)).containsExactly(10, 10, 3, 4);
      assertThat(values(s1)).containsExactly(1, 2, 3, 4);
      assertThat(values(s3)).containsExactly(1, 2, 3, 4);
      assertThat(address(s1)).isEqualTo(shared);
      assertThat(address(s3)).isEqualTo(shared);
      long second = address(s2);
      assertThat(second).isNotEqualTo(shared);

      writeFirstTwo(s1, 11);
      assertThat(values(s1)).containsExactly(11, 11, 3, 4);
      assertThat(values(s2)).containsExactly(10, 10, 3, 4);
      assertThat(values(s3)).containsExactly(1, 2, 3, 4);
      assertThat(address(s2)).isEqualTo(second);
      assertThat(address(s3)).isEqualTo(shared);
      assertThat(address(s1)).isNotIn(shared, second);
    }
  }

  @Test
  void aShallowCopyDoesNotSeeWhatAnOpenScopeStillWrites() {
    try (Buffer buffer = series(1, 2, 3, 4)) {
      Buffer copy;
      try (AccessScope scope = AccessScope.on(device.stream())) {
        long address = buffer.access(AccessMode.WRITE, scope);
        copy = buffer.shallowCopy(device.stream());
        device.stream().fill(address, (byte) 0, 16);
      }
      try (copy;
          Buffer later = buffer.shallowCopy(device.stream())) {
        assertThat(values(copy)).containsExactly(1, 2, 3, 4);
        assertThat(values(buffer)).containsExactly(0, 0, 0, 0);
        assertThat(address(later)).isEqualTo(address(buffer));
      }
    }
  }

  @Test
  void aSliceThatIsWrittenCopiesItsOwnBytesOnly() {
    try (Buffer whole = series(1, 2, 3, 4);
        Buffer part = whole.slice(4, 8)) {
      long held = device.heldBytes();
      writeFirstTwo(part, 9);
      assertThat(device.heldBytes()).isEqualTo(held + 8);
      assertThat(values(part)).containsExactly(9, 9);
      assertThat(values(whole)).containsExactly(1, 2, 3, 4);
    }
  }

  @Test
  void aWriteToAnUnsharedBufferAllocatesNothing() {
    try (Buffer buffer = series(1, 2, 3, 4)) {
      buffer.shallowCopy(device.stream()).close();
      long address = address(buffer);
      long held = device.heldBytes();
      writeFirstTwo(buffer, 7);
      assertThat(address(buffer)).isEqualTo(address);
      assertThat(device.heldBytes()).isEqualTo(held);
      assertThat(values(buffer)).containsExactly(7, 7, 3, 4);
    }
  }

  @Test
  void aWriteToAnUnsharedBufferMakesNoGarbageButItsScope() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int writes = 20_000;
    try (Buffer buffer = series(1, 2, 3, 4)) {
      long before = 0;
      for (int i = 0; i < 2 * writes; i++) {
        if (i == writes) {
          before = threads.getCurrentThreadAllocatedBytes();
        }
        try (AccessScope scope = AccessScope.on(device.stream())) {
          buffer.access(AccessMode.WRITE, scope);
        }
      }
      long bytes = threads.getCurrentThreadAllocatedBytes() - before;
      assertThat(bytes / writes).isLessThan(512);
    }
  }

  @Test
  void exposingASharedBufferCopiesItAtOnceAndForGood() {
    try (Buffer s1 = series(1, 2, 3, 4);
        Buffer s2 = s1.shallowCopy(device.stream());
        AccessScope scope = AccessScope.on(device.stream())) {
      long shared = address(s2);
      long exposed = s1.expose(scope);
      assertThat(exposed).isNotEqualTo(shared);
      assertThat(s1.isExposed()).isTrue();
      assertThat(s2.isExposed()).isFalse();
      assertThat(address(s2)).isEqualTo(shared);
      assertThat(s2.liveSlices()).isEqualTo(1);
      assertThat(s1.expose(scope)).isEqualTo(exposed);
      try (Buffer s3 = s1.shallowCopy(device.stream())) {
        assertThat(address(s3)).isNotEqualTo(exposed);
        assertThat(s3.isExposed()).isFalse();
        assertThat(values(s3)).containsExactly(1, 2, 3, 4);
      }
    }
  }

  @Test
  void whoExposedABufferKeepsItsAddressWhileOthersMove() {
    try (Buffer s1 = series(1, 2, 3, 4);
        AccessScope scope = AccessScope.on(device.stream())) {
      long exposed = s1.expose(scope);
      try (Buffer s2 = s1.share()) {
        assertThatIllegalStateException()
            .isThrownBy(() -> s1.access(AccessMode.WRITE, scope))
            .withMessage("the buffer is shared by 2 slices");
        assertThat(s1.expose(scope)).isEqualTo(exposed);
        writeFirstTwo(s2, 9);
        assertThat(values(s1)).containsExactly(1, 2, 3, 4);
      }
    }
  }

  @Test
  void withoutCopyOnWriteShallowCopiesAreRealAndSharedMemoryIsNotWritten() {
    SpillLimits limits = SpillLimits.DEFAULT.withSpilling(false).withCopyOnWrite(false);
    try (SpillManager manager =
            new SpillManager(
                device.memory(),
                new PinnedHostMemoryResource(device.device()),
                Long.MAX_VALUE,
                false,
                new SpillStatistics(0),
                System::nanoTime);
        SpillQuota quota = manager.openQuota("test", limits);
        Buffer s1 = Buffer.allocate(16, device.stream(), quota.resource(MemoryBudget.unlimited()));
        Buffer s2 = s1.shallowCopy(device.stream());
        Buffer s3 = s1.share();
        AccessScope scope = AccessScope.on(device.stream())) {
      assertThat(address(s2)).isNotEqualTo(address(s1));
      assertThatIllegalStateException()
          .isThrownBy(() -> s1.access(AccessMode.WRITE, scope))
          .withMessage("the buffer is shared by 2 slices");
      assertThat(s3.access(AccessMode.READ, scope)).isEqualTo(address(s1));
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class FailingResourceAdaptorTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** The numbers of the allocations that fail, out of so many. */
  private List<Integer> failures(FailingResourceAdaptor failing, int allocations) {
    List<Integer> failed = new ArrayList<>();
    for (int number = 1; number <= allocations; number++) {
      try {
        long address = failing.allocate(8, device.stream());
        failing.free(address, 8, device.stream());
      } catch (GpuOutOfMemoryException e) {
        failed.add(number);
      }
    }
    assertThat(failing.requests()).isEqualTo(allocations);
    assertThat(failing.failures()).isEqualTo(failed.size());
    return failed;
  }

  @Test
  void theNthAllocationFailsAlone() {
    assertThat(failures(FailingResourceAdaptor.nth(device.memory(), 3), 10)).containsExactly(3);
    assertThat(failures(FailingResourceAdaptor.nth(device.memory(), 11), 10)).isEmpty();
  }

  @Test
  void everyNthAllocationFails() {
    assertThat(failures(FailingResourceAdaptor.everyNth(device.memory(), 3), 10))
        .containsExactly(3, 6, 9);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FailingResourceAdaptor.everyNth(device.memory(), 0));
  }

  @Test
  void aRandomShareFailsAndIsTheSameForTheSameSeed() {
    List<Integer> failed = failures(share(0.25, random.seed()), 4_000);
    assertThat(failed).hasSizeBetween(800, 1_200);
    assertThat(failures(share(0.25, random.seed()), 4_000)).isEqualTo(failed);
    assertThat(failures(share(0.25, random.seed() ^ 1), 4_000)).isNotEqualTo(failed);
    assertThat(failures(share(0, random.seed()), 100)).isEmpty();
    assertThat(failures(share(1, random.seed()), 100)).hasSize(100);
    assertThatIllegalArgumentException().isThrownBy(() -> share(1.5, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> share(Double.NaN, 0));
  }

  private FailingResourceAdaptor share(double share, long seed) {
    return FailingResourceAdaptor.randomShare(device.memory(), share, seed);
  }

  @Test
  void aConditionDecidesByTheAllocation() {
    FailingResourceAdaptor failing =
        new FailingResourceAdaptor(device.memory(), (number, bytes) -> bytes == 100);
    long address = failing.allocate(99, device.stream());
    assertThatThrownBy(() -> failing.allocate(100, device.stream()))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessage("injected failure of allocation 2, of 100 bytes");
    failing.free(address, 99, device.stream());
  }

  @Test
  void requestsForNoBytesNeverFail() {
    FailingResourceAdaptor failing = FailingResourceAdaptor.everyNth(device.memory(), 1);
    assertThat(failing.allocate(0, device.stream())).isZero();
    failing.free(0, 0, device.stream());
    assertThat(failing.requests()).isZero();
  }

  @Test
  void threadsShareTheCount() throws Exception {
    FailingResourceAdaptor failing = FailingResourceAdaptor.everyNth(device.memory(), 10);
    ExecutorService executor = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Integer>> tasks = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        tasks.add(() -> countFailures(failing));
      }
      int failed = 0;
      for (Future<Integer> result : executor.invokeAll(tasks)) {
        failed += result.get();
      }
      assertThat(failed).isEqualTo(400);
      assertThat(failing.failures()).isEqualTo(400);
    } finally {
      executor.shutdown();
    }
  }

  private int countFailures(FailingResourceAdaptor failing) {
    int failed = 0;
    for (int i = 0; i < 1_000; i++) {
      try {
        failing.free(failing.allocate(8, device.stream()), 8, device.stream());
      } catch (GpuOutOfMemoryException e) {
        failed++;
      }
    }
    return failed;
  }
}

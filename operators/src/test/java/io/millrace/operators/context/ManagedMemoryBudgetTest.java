// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.runtime.memory.MemoryManager;
import org.junit.jupiter.api.Test;

class ManagedMemoryBudgetTest {
  private static final long BYTES = 1 << 20;

  private final MemoryManager memoryManager =
      MemoryManager.create(BYTES, MemoryManager.DEFAULT_PAGE_SIZE);
  private final AtomicInteger warnings = new AtomicInteger();
  private final ManagedMemoryBudget budget =
      new ManagedMemoryBudget(memoryManager, warnings::incrementAndGet);

  @Test
  void operatorsOfAChainPayTogether() {
    budget.add(0.25);
    budget.add(0.5);
    assertThat(memoryManager.availableMemory()).isEqualTo(BYTES / 4);
    assertThat(budget.tryReserve(BYTES / 2 + 1)).isTrue();
    assertThat(budget.tryReserve(BYTES / 4)).isFalse();
    assertThat(budget.tryReserve(BYTES / 4 - 1)).isTrue();
    budget.release(BYTES / 4 - 1);
    budget.release(BYTES / 2 + 1);
    assertThat(budget.tryReserve(BYTES * 3 / 4)).isTrue();
    budget.release(BYTES * 3 / 4);
    budget.close();
    assertThat(memoryManager.verifyEmpty()).isTrue();
    assertThat(warnings).hasValue(0);
  }

  @Test
  void withoutManagedMemoryThereIsNoRoomAndAWarning() {
    budget.add(0);
    assertThat(budget.tryReserve(1)).isFalse();
    assertThat(warnings).hasValue(1);
    budget.close();
    assertThat(memoryManager.verifyEmpty()).isTrue();
  }

  @Test
  void memoryThatOthersHoldIsAnError() throws Exception {
    memoryManager.reserveMemory(this, BYTES);
    assertThatIllegalStateException()
        .isThrownBy(() -> budget.add(0.5))
        .withMessageContaining("managed memory");
    memoryManager.releaseMemory(this, BYTES);
    budget.close();
    assertThat(memoryManager.verifyEmpty()).isTrue();
  }
}

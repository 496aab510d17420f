// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.millrace.column.Table;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.testing.DeviceExtension;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The host allocates no heap memory per row and little per call. */
class HostGarbageTest {
  private static final int ROWS = 100_000;
  private static final int CALLS = 20;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static long garbageOfOneCall(Runnable call) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < CALLS; i++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      call.run();
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }

  private void assertPartitionedWithoutGarbage(Table table, HashFunction.Algorithm algorithm) {
    HashFunction function = new HashFunction(algorithm, 0);
    PartitionAssigner numbering = PartitionAssigner.subtasks(128, 8);
    long bytes =
        garbageOfOneCall(
            () ->
                HashPartition.hashPartition(
                        table,
                        List.of(0),
                        numbering,
                        function,
                        device.hostStream(),
                        device.hostMemory())
                    .close());
    assertThat(bytes).isLessThan(ROWS);
  }

  @ParameterizedTest
  @EnumSource
  void hashPartitionMakesNoGarbageForARow(HashFunction.Algorithm algorithm) {
    try (Table numbers =
        HostTwinBenchmark.numbers(ROWS, device.hostStream(), device.hostMemory())) {
      assertPartitionedWithoutGarbage(numbers, algorithm);
    }
    if (algorithm != HashFunction.Algorithm.IDENTITY) {
      try (Table texts = HostTwinBenchmark.texts(ROWS, device.hostStream(), device.hostMemory())) {
        assertPartitionedWithoutGarbage(texts, algorithm);
      }
    }
  }

  // Less than one byte per row and projection, even in the interpreter.
  @Test
  void aCalcAllocatesItsVectorsOnce() {
    try (Table rows = HostTwinBenchmark.numbers(ROWS, device.hostStream(), device.hostMemory());
        Table row = rows.slice(17, 1);
        Calc calc = HostTwinBenchmark.thirtyProjections()) {
      long bytes =
          garbageOfOneCall(() -> calc.apply(row, device.hostStream(), device.hostMemory()).close());
      assertThat(bytes).isLessThan(200_000);
      assertThat(
              garbageOfOneCall(
                  () -> calc.apply(rows, device.hostStream(), device.hostMemory()).close()))
          .isLessThan(30 * ROWS);
    }
  }
}

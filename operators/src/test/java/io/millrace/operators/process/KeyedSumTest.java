// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.PtxAssembler;
import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A function with kernels of its own. */
@ExtendWith(NothingHeldExtension.class)
class KeyedSumTest {
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.INT32, false), new Field("n", DataType.INT64, false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void theKernelsAssemble() throws Exception {
    assertThat(PtxAssembler.errors(KeyedSums.ptx())).isEmpty();
  }

  @Test
  void sumsOfKeysAreKept() throws Exception {
    Map<Integer, Long> sums = new TreeMap<>();
    long launches = device.device().launchCount();
    try (ProcessHarness harness = new Job(ROWS, List.of("k"), new KeyedSum()).open(device)) {
      for (int batch = 0; batch < 5; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        Set<Integer> keys = new LinkedHashSet<>();
        for (int i = 0; i < 1_000; i++) {
          int key = random.random().nextInt(700);
          long value = random.random().nextLong();
          rows.add(List.of(key, value));
          sums.merge(key, value, Long::sum);
          keys.add(key);
        }
        harness.send(0, rows);
        assertThat(harness.takeRows())
            .isEqualTo(keys.stream().map(key -> List.<Object>of(key, sums.get(key))).toList());
      }
    }
    if (device.isCuda()) {
      assertThat(device.device().launchCount() - launches).isGreaterThanOrEqualTo(10);
    }
  }
}

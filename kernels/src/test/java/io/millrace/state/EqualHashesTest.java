// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Table;
import io.millrace.kernel.hash.MurmurHash3;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests of keys that have the same hash, more than two buckets of the index hold. */
class EqualHashesTest {
  private static final int KEYS = 100;
  private static final int BATCHES = 20;
  private static final int BATCH_ROWS = 300;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  @Test
  void keysOfTheFirstBucketAreFound() {
    keysAreFound(0);
  }

  // The search goes on at the beginning of the index.
  @Test
  void keysOfTheLastBucketAreFound() {
    keysAreFound(-1);
  }

  @Test
  void keysOfABucketAreFound() {
    keysAreFound(seed.random().nextInt());
  }

  private void keysAreFound(int hash) {
    Random random = seed.random();
    Map<Long, Long> counts = new HashMap<>();
    try (StateTable table =
        new StateTable(StateUpdateBenchmark.schema(), device.stream(), device.memory())) {
      for (int number = 0; number < BATCHES; number++) {
        int known = 1 + number * KEYS / BATCHES;
        List<Long> keys = new ArrayList<>();
        for (int row = 0; row < BATCH_ROWS; row++) {
          boolean isOther = random.nextInt(4) == 0;
          keys.add(
              isOther
                  ? random.nextInt(50)
                  : StateInputRows.keyWithHash(hash, random.nextInt(known)));
        }
        keys.forEach(key -> counts.merge(key, 1L, Long::sum));
        assertThat(counts(table, keys)).isEqualTo(ofKeys(counts, keys));
      }
      assertThat(table.rowCount()).isEqualTo(counts.size());
    }
  }

  private static Map<Long, Long> ofKeys(Map<Long, Long> counts, List<Long> keys) {
    Map<Long, Long> some = new HashMap<>();
    keys.forEach(key -> some.put(key, counts.get(key)));
    return some;
  }

  // The number of rows of each key of a batch, behind the batch.
  private Map<Long, Long> counts(StateTable table, List<Long> keys) {
    try (Table batch =
            StateInputRows.batch(
                keys.size(), row -> keys.get((int) row), device.stream(), device.memory());
        Table changes = table.update(batch)) {
      List<List<Object>> rows = device.rows(changes);
      Map<Long, Long> counts = new HashMap<>();
      for (int after = 1; after < rows.size(); after += 2) {
        counts.put((Long) rows.get(after).get(0), (Long) rows.get(after).get(2));
      }
      assertThat(rows).hasSize(2 * counts.size());
      return counts;
    }
  }

  @Test
  void theKeysHaveTheHash() {
    for (int number = 0; number < KEYS; number++) {
      long finished = MurmurHash3.finish(StateInputRows.keyWithHash(-7, number));
      assertThat(finished).isEqualTo(-7L << Integer.SIZE | number);
    }
  }
}

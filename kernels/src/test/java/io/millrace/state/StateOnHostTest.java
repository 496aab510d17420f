// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.kernel.hash.MurmurHash3;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests of state that is larger than the device's limit: most rows stay in pinned host memory. */
class StateOnHostTest {
  private static final long LIMIT = 24L << 20;
  private static final int KEYS = 1_000_000;
  private static final int BATCH_ROWS = 1 << 14;
  private static final int UPDATES = 20;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void rowsAreUpdatedWhereTheyLie() throws IOException {
    StateSchema schema = StateUpdateBenchmark.schema();
    try (SpillManager manager =
            new SpillManager(
                device.memory(),
                new PinnedHostMemoryResource(device.device()),
                Long.MAX_VALUE,
                true,
                new SpillStatistics(1),
                System::nanoTime);
        SpillQuota quota =
            manager.openQuota("the test", SpillLimits.DEFAULT.withDeviceBytes(LIMIT))) {
      MemoryResource limited = quota.resource(MemoryBudget.unlimited());
      try (StateTable table = new StateTable(schema, device.stream(), limited);
          StateTable expected = new StateTable(schema, device.stream(), device.memory())) {
        for (int first = 0; first < KEYS; first += BATCH_ROWS) {
          updateBoth(table, expected, limited, first, KEYS);
        }
        long movedBack = quota.statistics().bytes(SpillTier.HOST, SpillTier.DEVICE);
        for (int update = 0; update < UPDATES; update++) {
          updateBoth(table, expected, limited, 31L * update, update % 2 == 0 ? KEYS : 100);
          if (update % 8 == 0) {
            long before = rowHash(table);
            try (StateSnapshot snapshot = table.snapshot()) {
              updateBoth(table, expected, limited, update, KEYS);
              assertThat(rowHash(snapshot)).isEqualTo(before);
            }
          }
        }
        long rowBytes = table.rowCount() * schema.rowBytes();
        assertThat(quota.hostBytes()).isGreaterThan(rowBytes / 2);
        assertThat(quota.statistics().bytes(SpillTier.HOST, SpillTier.DEVICE) - movedBack)
            .isLessThan(rowBytes);
        assertThat(rowHash(table)).isEqualTo(rowHash(expected));
      }
    }
  }

  private void updateBoth(
      StateTable table, StateTable expected, MemoryResource memory, long first, long keys) {
    try (Table batch =
            StateInputRows.batch(
                BATCH_ROWS,
                row -> StateInputRows.key((first + 7919 * row) % keys),
                device.stream(),
                memory);
        Table changes = table.update(batch);
        Table expectedChanges = expected.update(batch)) {
      assertThat(changes.rowCount()).isEqualTo(expectedChanges.rowCount());
    }
  }

  private long rowHash(StateTable table) throws IOException {
    try (StateSnapshot snapshot = table.snapshot()) {
      return rowHash(snapshot);
    }
  }

  private long rowHash(StateSnapshot snapshot) throws IOException {
    long[] hash = {snapshot.rowCount()};
    snapshot.read(
        device.stream(),
        block -> {
          for (long i = 0; i < block.byteCount(); i += Long.BYTES) {
            hash[0] = MurmurHash3.finish(hash[0] + HostMemory.getLong(block.address() + i));
          }
        });
    return hash[0];
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
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
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests of state that is larger than the device's limit: most rows stay in pinned host memory. */
class StateOnHostTest {
  private static final long LIMIT = 24L << 20;
  private static final int KEYS = 1_000_000;
  private static final int BATCH_ROWS = 1 << 14;
  private static final int UPDATES = 20;
  private static final long SMALL_LIMIT = 4L << 20;
  private static final long LIMIT_BELOW_INDEX = 8L << 20;
  private static final Schema STRINGS =
      Schema.of(
          Field.of("name", DataType.STRING),
          Field.of("number", DataType.INT64),
          new Field("value", DataType.FLOAT64, false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private SpillManager manager() {
    return new SpillManager(
        device.memory(),
        new PinnedHostMemoryResource(device.device()),
        Long.MAX_VALUE,
        true,
        new SpillStatistics(1),
        System::nanoTime);
  }

  @Test
  void rowsAreUpdatedWhereTheyLie() throws IOException {
    StateSchema schema = StateUpdateBenchmark.schema();
    try (SpillManager manager = manager();
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

  @Test
  void theIndexIsUsedWhereItLies() throws IOException {
    StateSchema schema = StateUpdateBenchmark.schema();
    try (SpillManager manager = manager();
        SpillQuota quota =
            manager.openQuota("the test", SpillLimits.DEFAULT.withDeviceBytes(LIMIT_BELOW_INDEX))) {
      MemoryResource limited = quota.resource(MemoryBudget.unlimited());
      try (StateTable table = new StateTable(schema, device.stream(), limited);
          StateTable expected = new StateTable(schema, device.stream(), device.memory())) {
        for (int first = 0; first < KEYS; first += BATCH_ROWS) {
          updateBoth(table, expected, limited, first, KEYS);
        }
        long indexBytes = table.indexSlots() * Long.BYTES;
        assertThat(indexBytes).isGreaterThan(LIMIT_BELOW_INDEX);
        long movedBack = quota.statistics().bytes(SpillTier.HOST, SpillTier.DEVICE);
        for (int update = 0; update < UPDATES; update++) {
          compareChanges(table, expected, limited, 31L * update, update % 2 == 0 ? KEYS : 5_000);
        }
        assertThat(quota.statistics().bytes(SpillTier.HOST, SpillTier.DEVICE) - movedBack)
            .isLessThan(UPDATES * indexBytes / 4);
        assertThat(rowHash(table)).isEqualTo(rowHash(expected));
      }
    }
  }

  @Test
  void eachChunkHasABit() {
    int chunks = 70;
    long bytes = chunks * StateRows.CHUNK_BYTES;
    try (SpillManager manager = manager();
        SpillQuota quota =
            manager.openQuota("the test", SpillLimits.DEFAULT.withDeviceBytes(bytes / 2));
        StateRows rows =
            new StateRows(32, device.stream(), quota.resource(MemoryBudget.unlimited()))) {
      rows.reserve(1);
      assertThat(rows.hostChunks()).isEmpty();
      rows.reserve(bytes / 32);
      long[] bits = rows.hostChunks();
      assertThat(bits).hasSize(2);
      assertThat(BitSet.valueOf(bits).get(0)).isTrue();
      assertThat(BitSet.valueOf(bits).get(chunks - 1)).isFalse();
    }
  }

  private void updateBoth(
      StateTable table, StateTable expected, MemoryResource memory, long first, long keys) {
    try (Table batch = batch(memory, first, keys);
        Table changes = table.update(batch);
        Table expectedChanges = expected.update(batch)) {
      assertThat(changes.rowCount()).isEqualTo(expectedChanges.rowCount());
    }
  }

  private void compareChanges(
      StateTable table, StateTable expected, MemoryResource memory, long first, long keys) {
    try (Table batch = batch(memory, first, keys);
        Table changes = table.update(batch);
        Table expectedChanges = expected.update(batch)) {
      assertThat(device.rows(changes)).isEqualTo(device.rows(expectedChanges));
    }
  }

  private Table batch(MemoryResource memory, long first, long keys) {
    return StateInputRows.batch(
        BATCH_ROWS,
        row ->
            row % 64 == 0
                ? StateInputRows.keyWithHash(1, (int) (row / 64) % 100)
                : StateInputRows.key((first + 7919 * row) % keys),
        device.stream(),
        memory);
  }

  // Keys of strings and nulls, sums in the order of the rows, and rows that expire.
  @Test
  void rowsOfManyWordsAreUpdatedWhereTheyLie() throws IOException {
    Random random = seed.random();
    StateSchema schema =
        new StateSchema(
            STRINGS,
            List.of(0, 1),
            List.of(
                Accumulator.updateTime("time"),
                new Accumulator("sum", Function.SUM, 2),
                new Accumulator("last", Function.LAST, 1),
                new Accumulator("max", Function.MAX, 1)),
            StateSchema.NO_KINDS);
    try (SpillManager manager = manager();
        SpillQuota quota =
            manager.openQuota("the test", SpillLimits.DEFAULT.withDeviceBytes(SMALL_LIMIT))) {
      MemoryResource limited = quota.resource(MemoryBudget.unlimited());
      try (StateTable table = new StateTable(schema, device.stream(), limited);
          StateTable expected = new StateTable(schema, device.stream(), device.memory())) {
        for (int batch = 0; batch < 60; batch++) {
          UpdateTime time = new UpdateTime(batch, batch - 20);
          try (Table rows = TableBuilder.ofRows(STRINGS, rows(random)).build(device);
              Table changes = table.update(rows, time);
              Table expectedChanges = expected.update(rows, time)) {
            assertThat(device.rows(changes)).isEqualTo(device.rows(expectedChanges));
          }
        }
        assertThat(quota.hostBytes()).isGreaterThan(SMALL_LIMIT);
        assertThat(rowHash(table)).isEqualTo(rowHash(expected));
      }
    }
  }

  private static List<List<Object>> rows(Random random) {
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < 2_000; row++) {
      int key = random.nextInt(random.nextBoolean() ? 80_000 : 50);
      String name = "x".repeat(key % 30) + key;
      rows.add(Arrays.asList(key % 7 == 0 ? null : name, (long) key, random.nextDouble()));
    }
    return rows;
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

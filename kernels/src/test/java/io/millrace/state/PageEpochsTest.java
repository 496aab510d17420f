// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which pages of state changed between two snapshots. */
class PageEpochsTest {
  private static final Schema INPUT =
      Schema.of(
          new Field("k", DataType.INT64, false),
          Field.of("s", DataType.STRING),
          new Field("v", DataType.INT64, false),
          new Field("x", DataType.FLOAT64, false));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  // Rows of 224 and 256 bytes.
  private static StateSchema schema(int key) {
    return new StateSchema(
        INPUT,
        List.of(key),
        IntStream.range(0, 27)
            .mapToObj(i -> new Accumulator("sum" + i, Function.SUM, i == 0 ? 3 : 2))
            .toList(),
        StateSchema.NO_KINDS);
  }

  private StateTable newTable(int key) {
    return new StateTable(schema(key), device.stream(), device.memory());
  }

  private Table batch(LongStream keys) {
    List<List<Object>> rows = new ArrayList<>();
    keys.forEach(
        key -> {
          String string = key % 3 == 0 ? "" + key : "a string of more than 12 bytes: " + key;
          rows.add(List.of(key, string, 1L, 0.5));
        });
    return TableBuilder.ofRows(INPUT, rows).build(device);
  }

  private void update(StateTable table, LongStream keys) {
    try (Table batch = batch(keys)) {
      table.update(batch).close();
    }
  }

  private void accumulate(StateTable table, LongStream keys) {
    try (Table batch = batch(keys)) {
      table.accumulate(batch);
    }
  }

  private void mergeBlocks(StateTable table, LongStream keys) {
    try (StateTable other = new StateTable(table.schema(), device.stream(), device.memory())) {
      update(other, keys);
      try (StateSnapshot rows = other.snapshot()) {
        rows.read(device.stream(), table::merge);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private void mergeExtents(StateTable table, LongStream keys) {
    try (StateTable other = new StateTable(table.schema(), device.stream(), device.memory())) {
      update(other, keys);
      try (StateSnapshot rows = other.snapshot()) {
        IntStream.range(0, rows.extentCount()).forEach(extent -> table.merge(rows, extent));
      }
    }
  }

  // The pages that changed behind the snapshot with an epoch.
  private List<Integer> changed(StateTable table, long since) {
    try (StateSnapshot now = table.snapshot()) {
      long[] epochs = now.pageEpochs(device.stream());
      return IntStream.range(0, epochs.length)
          .filter(page -> epochs[page] > since)
          .boxed()
          .toList();
    }
  }

  private static long epoch(StateTable table) {
    try (StateSnapshot snapshot = table.snapshot()) {
      return snapshot.epoch();
    }
  }

  private static int pageRows(StateTable table) {
    try (StateSnapshot snapshot = table.snapshot()) {
      return snapshot.pageRows();
    }
  }

  private List<BiConsumer<StateTable, LongStream>> writes() {
    return List.of(this::update, this::accumulate, this::mergeBlocks, this::mergeExtents);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void eachWayToWriteARowTellsItsPage(int key) {
    for (BiConsumer<StateTable, LongStream> write : writes()) {
      try (StateTable table = newTable(key)) {
        int page = pageRows(table);
        assertThat((long) page * table.schema().rowBytes()).isBetween(128L << 10, 256L << 10);
        write.accept(table, LongStream.range(0, 4L * page));
        assertThat(changed(table, 0)).containsExactly(0, 1, 2, 3);
        long before = epoch(table);
        assertThat(changed(table, before)).isEmpty();
        write.accept(table, LongStream.of(3L * page - 1, 3L * page - 1));
        assertThat(changed(table, before)).containsExactly(2);
        long later = epoch(table);
        write.accept(table, LongStream.of(0, 4L * page));
        assertThat(changed(table, before)).containsExactly(0, 2, 4);
        assertThat(changed(table, later)).containsExactly(0, 4);
      }
    }
  }

  @Test
  void noRowsHaveNoPages() {
    try (StateTable table = newTable(0)) {
      assertThat(changed(table, 0)).isEmpty();
    }
  }

  @Test
  void aSnapshotHasTheEpochsOfItsMoment() {
    try (StateTable table = newTable(0);
        StateSnapshot empty = table.snapshot()) {
      update(table, LongStream.of(1));
      try (StateSnapshot first = table.snapshot()) {
        assertThat(first.tableId()).isEqualTo(empty.tableId());
        long[] before = first.pageEpochs(device.stream());
        update(table, LongStream.of(1));
        assertThat(first.pageEpochs(device.stream())).isEqualTo(before);
        assertThat(changed(table, first.epoch())).containsExactly(0);
      }
      try (StateTable other = newTable(0);
          StateSnapshot rows = other.snapshot()) {
        assertThat(rows.tableId()).isNotEqualTo(empty.tableId());
      }
    }
  }

  // More pages than there is room for at first.
  @Test
  void pagesThatAreNotToldHaveTheSameBytes() {
    Random numbers = random.random();
    for (int key : new int[] {0, 1}) {
      try (StateTable table = newTable(key)) {
        int page = pageRows(table);
        int keys = 0;
        List<List<Long>> before = List.of();
        long epoch = 0;
        for (int round = 0; round < 12; round++) {
          int added = numbers.nextInt(3) == 0 ? numbers.nextInt(12 * page) : 0;
          long hot = numbers.nextInt(keys + 1);
          int all = keys;
          LongStream updated = numbers.ints(20, 0, 50).mapToLong(i -> Math.min(hot + i, all));
          writes()
              .get(numbers.nextInt(writes().size()))
              .accept(table, LongStream.concat(LongStream.range(keys, keys + added), updated));
          keys = (int) table.rowCount();
          try (StateSnapshot now = table.snapshot()) {
            long[] epochs = now.pageEpochs(device.stream());
            List<List<Long>> pages = pages(now);
            for (int i = 0; i < before.size(); i++) {
              if (epochs[i] <= epoch) {
                assertThat(pages.get(i)).as("page %d", i).isEqualTo(before.get(i));
              }
            }
            before = pages;
            epoch = now.epoch();
          }
        }
      }
    }
  }

  private List<List<Long>> pages(StateSnapshot snapshot) {
    List<List<Long>> pages = new ArrayList<>();
    for (long row = 0; row < snapshot.rowCount(); row += snapshot.pageRows()) {
      long end = Math.min(row + snapshot.pageRows(), snapshot.rowCount());
      try (StateSnapshot.Blocks blocks = snapshot.blocks(row, end, device.stream());
          StateBlock block = blocks.next()) {
        pages.add(SnapshotWords.of(block));
      }
    }
    return pages;
  }
}

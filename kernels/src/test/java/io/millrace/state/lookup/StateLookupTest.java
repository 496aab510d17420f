// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.state.StateSnapshot;
import io.millrace.state.StateTable;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys that are looked up, compared with maps. */
class StateLookupTest {
  private static final long TTL = 100;
  private static final Schema ROWS =
      Schema.of(
          Field.of("name", DataType.STRING),
          new Field("id", DataType.INT64, false),
          Field.of("s", DataType.STRING),
          Field.of("d", DataType.decimal(30, 2)),
          Field.of("n", DataType.INT32),
          Field.of("t", DataType.timestamp(9)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private final StateSchema keys = schema(List.of(Accumulator.countRows("n")));

  private static StateSchema schema(List<Accumulator> accumulators) {
    return new StateSchema(ROWS, List.of(0, 1), accumulators, StateSchema.NO_KINDS);
  }

  private static List<Accumulator> values() {
    return List.of(
        new Accumulator("last s", Function.LAST, 2),
        new Accumulator("largest s", Function.MAX, 2),
        new Accumulator("d", Function.LAST, 3),
        new Accumulator("sum", Function.SUM, 3),
        new Accumulator("n", Function.LAST, 4),
        new Accumulator("t", Function.LAST, 5),
        Accumulator.countRows("rows"));
  }

  private static List<Accumulator> expiringValues() {
    List<Accumulator> values = new ArrayList<>(values());
    values.add(0, Accumulator.updateTime("time"));
    return values;
  }

  private StateTable newTable(StateSchema schema) {
    return new StateTable(schema, device.stream(), device.memory());
  }

  private StateLookup lookup() {
    return new StateLookup(device.stream(), device.memory());
  }

  private static List<Object> row(Random random, int keyCount) {
    int key = random.nextInt(keyCount);
    String name =
        switch (key % 4) {
          case 0 -> null;
          case 1 -> "a";
          case 2 -> "a name of more than twelve bytes: " + key % 7;
          default -> "twelve bytes";
        };
    return Arrays.asList(
        name,
        (long) key,
        "a string" + " of many bytes".repeat(random.nextInt(3)) + random.nextInt(100),
        BigDecimal.valueOf(random.nextLong(), 2),
        random.nextInt(),
        LocalDateTime.of(2026, 1, 1, 0, 0).plusNanos(random.nextLong(1L << 50)));
  }

  private static List<List<Object>> rows(Random random, int count, int keyCount) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(row(random, keyCount));
    }
    return rows;
  }

  private Table build(List<List<Object>> rows) {
    return TableBuilder.ofRows(ROWS, rows).build(device);
  }

  private static List<Object> key(List<Object> row) {
    return row.subList(0, 2);
  }

  private static Set<List<Object>> keys(List<List<Object>> rows) {
    Set<List<Object>> keys = new LinkedHashSet<>();
    rows.forEach(row -> keys.add(key(row)));
    return keys;
  }

  // The columns of the last rows, behind the key.
  private static List<Object> lastValues(List<Object> result) {
    return Arrays.asList(result.get(2), result.get(4), result.get(6), result.get(7));
  }

  @Test
  void eachRowGetsTheNumberOfItsKey() {
    Random random = seed.random();
    List<List<Object>> known = rows(random, 5_000, 3_000);
    List<List<Object>> asked = rows(random, 5_000, 4_000);
    List<List<Object>> numbered = new ArrayList<>(keys(known));
    try (StateTable table = newTable(keys);
        Table batch = build(known);
        Table questions = build(asked);
        Table slice = questions.slice(77, 3_000)) {
      try (Column none = lookup().rows(table, questions, DataType.INT32)) {
        assertThat(TableRows.of(none, device)).containsOnly(-1);
      }
      table.accumulate(batch);
      try (Column numbers =
              device.assertLaunches(1, () -> lookup().rows(table, slice, DataType.INT64));
          Table noRows = questions.slice(0, 0);
          Column none = lookup().rows(table, noRows, DataType.INT64)) {
        List<Object> expected = new ArrayList<>();
        asked.subList(77, 3_077).forEach(row -> expected.add((long) numbered.indexOf(key(row))));
        assertThat(TableRows.of(numbers, device)).isEqualTo(expected).contains(-1L);
        assertThat(none.size()).isZero();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 50, 200_000})
  void theValuesOfOtherTablesKeysAreFoundInTheirOrder(int keyCount) {
    Random random = seed.random();
    List<List<Object>> known = rows(random, Math.min(keyCount, 20_000) * 2, keyCount);
    // More keys than a chunk has rows.
    List<List<Object>> asked = rows(random, keyCount, keyCount + 10);
    Map<List<Object>, List<Object>> model = new LinkedHashMap<>();
    known.forEach(
        row -> model.put(key(row), Arrays.asList(row.get(2), row.get(3), row.get(4), row.get(5))));
    try (StateTable table = newTable(schema(values()));
        StateTable questions = newTable(keys)) {
      try (Table batch = build(known)) {
        table.accumulate(batch);
      }
      try (Table none = lookup().values(table, questions, null)) {
        assertThat(none.rowCount()).isZero();
      }
      try (Table batch = build(asked)) {
        questions.accumulate(batch);
      }
      Set<List<Object>> all;
      try (Table values = table.values(0, (int) table.rowCount(), List.of())) {
        all = new HashSet<>(TableRows.of(values, device));
      }
      try (Table found = lookup().values(table, questions, null)) {
        List<List<Object>> results = TableRows.of(found, device);
        assertThat(results.stream().map(StateLookupTest::key).toList())
            .isEqualTo(new ArrayList<>(keys(asked)));
        int rowsColumn = found.schema().indexOf("rows");
        for (List<Object> result : results) {
          List<Object> expected = model.get(key(result));
          assertThat((long) result.get(rowsColumn) > 0).isEqualTo(expected != null);
          if (expected != null) {
            assertThat(lastValues(result)).isEqualTo(expected);
            // AssertJ would look at each of them.
            assertThat(all.contains(result)).as("%s is a row of the table", result).isTrue();
          }
        }
      }
    }
  }

  @Test
  void rowsThatHaveExpiredAreNotFound() {
    Random random = seed.random();
    List<List<Object>> old = rows(random, 200, 100);
    List<List<Object>> young = rows(random, 50, 100);
    try (StateTable table = newTable(schema(expiringValues()));
        StateTable questions = newTable(keys);
        Table first = build(old);
        Table second = build(young)) {
      table.update(first, UpdateTime.of(1_000, TTL)).close();
      table.update(second, UpdateTime.of(1_000 + TTL - 1, TTL)).close();
      questions.accumulate(first);
      questions.accumulate(second);
      for (long now : new long[] {1_000 + TTL - 1, 1_000 + TTL, 1_000 + 3 * TTL}) {
        try (Table found = lookup().values(table, questions, UpdateTime.of(now, TTL))) {
          int rowsColumn = found.schema().indexOf("rows");
          Set<List<Object>> live = new LinkedHashSet<>();
          TableRows.of(found, device).stream()
              .filter(row -> (long) row.get(rowsColumn) > 0)
              .forEach(row -> live.add(key(row)));
          Set<List<Object>> expected = new LinkedHashSet<>();
          if (now < 1_000 + TTL) {
            expected.addAll(keys(old));
          }
          if (now < 1_000 + 2 * TTL - 1) {
            expected.addAll(keys(young));
          }
          assertThat(live).containsExactlyInAnyOrderElementsOf(expected);
        }
      }
      assertThatThrownBy(() -> lookup().values(table, questions, null))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected a time: rows expire");
    }
  }

  @Test
  void lookingUpChangesNothing() {
    List<List<Object>> rows = rows(seed.random(), 3_000, 2_000);
    try (StateTable table = newTable(schema(values()));
        StateTable questions = newTable(keys);
        Table batch = build(rows)) {
      table.accumulate(batch);
      questions.accumulate(batch);
      try (StateSnapshot before = table.snapshot()) {
        long held = device.heldBytes();
        lookup().rows(table, batch, DataType.INT32).close();
        lookup().values(table, questions, null).close();
        assertThat(device.heldBytes()).as("nothing was copied on write").isEqualTo(held);
        try (StateSnapshot after = table.snapshot()) {
          for (long epoch : after.pageEpochs(device.stream())) {
            assertThat(epoch).isLessThanOrEqualTo(before.epoch());
          }
        }
      }
    }
  }

  @Test
  void memoryThatIsRefusedLeavesNothing() {
    List<List<Object>> rows = rows(seed.random(), 300, 200);
    try (StateTable table = newTable(schema(values()));
        StateTable questions = newTable(keys);
        Table batch = build(rows)) {
      table.accumulate(batch);
      questions.accumulate(batch);
      long held = device.heldBytes();
      int refused = 0;
      for (boolean isDone = false; !isDone; refused++) {
        MemoryResource failing = FailingResourceAdaptor.nth(device.memory(), refused + 1);
        StateLookup lookup = new StateLookup(device.stream(), failing);
        try (Column numbers = lookup.rows(table, batch, DataType.INT32);
            Table values = lookup.values(table, questions, null)) {
          assertThat(numbers.size()).isEqualTo(300);
          assertThat(values.rowCount()).isEqualTo((int) questions.rowCount());
          isDone = true;
        } catch (GpuOutOfMemoryException e) {
          assertThat(device.heldBytes()).isEqualTo(held);
        }
      }
      // The numbers, the copies, their address, the result, and the bytes of three columns.
      assertThat(refused).isEqualTo(8);
    }
  }

  @Test
  void otherKeysAreRefused() {
    StateSchema other =
        new StateSchema(
            ROWS, List.of(1), List.of(Accumulator.countRows("n")), StateSchema.NO_KINDS);
    try (StateTable table = newTable(schema(values()));
        StateTable questions = newTable(other)) {
      assertThatThrownBy(() -> lookup().values(table, questions, null))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("expected the keys ");
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** State tables whose rows expire. */
class StateTtlTest {
  private static final int ALL_ROWS = Accumulator.ALL_ROWS;
  private static final Schema INPUT =
      Schema.of(
          Field.of("number", DataType.INT64),
          Field.of("string", DataType.STRING),
          Field.of("x", DataType.INT32),
          Field.of("d", DataType.FLOAT64),
          Field.of("f", DataType.FLOAT32),
          Field.of("decimal", DataType.decimal(30, 2)),
          new Field("kind", DataType.INT8, false));
  private static final int KIND = 6;
  private static final long TTL = 100;
  private static final byte NONE = ChangeKind.NONE.value();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  // Rows that may be taken back.
  private final List<List<Object>> present = new ArrayList<>();
  private int number;
  private Random random;

  @BeforeEach
  void seedRandom() {
    random = seed.random();
  }

  private static StateSchema schema(List<Integer> keys, Accumulator time, boolean isChangelog) {
    List<Accumulator> accumulators = new ArrayList<>();
    accumulators.add(time);
    accumulators.add(new Accumulator("rows", Function.COUNT, ALL_ROWS));
    accumulators.add(new Accumulator("sum_x", Function.SUM, 2));
    accumulators.add(new Accumulator("sum_d", Function.SUM, 3));
    accumulators.add(new Accumulator("sum_f", Function.SUM, 4));
    accumulators.add(new Accumulator("sum_decimal", Function.SUM, 5));
    accumulators.add(new Accumulator("values_d", Function.COUNT, 3));
    accumulators.add(new Accumulator("m2_d", Function.M2, 3));
    if (!isChangelog) {
      accumulators.add(new Accumulator("first_d", Function.FIRST, 3));
      accumulators.add(new Accumulator("last_x", Function.LAST, 2));
      accumulators.add(new Accumulator("max_x", Function.MAX, 2));
      accumulators.add(new Accumulator("min_d", Function.MIN, 3));
    }
    return new StateSchema(INPUT, keys, accumulators, isChangelog ? KIND : StateSchema.NO_KINDS);
  }

  private static Accumulator time(boolean renews) {
    return renews ? Accumulator.updateTime("time") : Accumulator.creationTime("time");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void expiredKeysBeginAnew(boolean renews) {
    for (int round = 0; round < 20; round++) {
      List<Integer> keys = List.of(List.of(0), List.of(1), List.of(0, 1)).get(round % 3);
      StateSchema schema = schema(keys, time(renews), round % 2 == 0);
      try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
        StateModel model = new StateModel(schema);
        present.clear();
        long now = random.nextLong(1L << 45) - (1L << 44);
        for (int batch = 0; batch < 12; batch++) {
          now += random.nextInt(80);
          update(table, model, now, 100, 60);
        }
      }
    }
  }

  /** Inserted rows and, if the schema has kinds, rows of keys in the model that are taken back. */
  private List<List<Object>> rows(
      int count, int keys, StateSchema schema, StateModel model, UpdateTime time) {
    model.removeExpired(time.oldest());
    present.removeIf(row -> !model.contains(key(schema, row)));
    boolean takesBack = schema.kindColumn() != StateSchema.NO_KINDS;
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (takesBack && !present.isEmpty() && random.nextInt(3) == 0) {
        List<Object> row = new ArrayList<>(present.remove(random.nextInt(present.size())));
        row.set(KIND, ChangeKind.UPDATE_BEFORE.value());
        rows.add(row);
      } else {
        List<Object> row = row(random.nextInt(keys));
        present.add(row);
        rows.add(row);
      }
    }
    return rows;
  }

  private static List<Object> key(StateSchema schema, List<Object> row) {
    return new ArrayList<>(schema.keys().stream().map(row::get).toList());
  }

  private List<Object> row(int key) {
    List<Object> row = new ArrayList<>();
    row.add(key % 7 == 0 ? null : (Long) (long) key);
    row.add(key % 5 == 0 ? null : key % 2 == 0 ? "k" + key : "a string of many bytes: " + key);
    row.add(number++);
    row.add(random.nextInt(4) == 0 ? null : random.nextGaussian());
    row.add(random.nextInt(4) == 0 ? null : (float) random.nextGaussian());
    row.add(random.nextInt(4) == 0 ? null : BigDecimal.valueOf(random.nextLong(), 2));
    row.add(ChangeKind.INSERT.value());
    return row;
  }

  private void update(StateTable table, StateModel model, long now, int count, int keys) {
    UpdateTime time = UpdateTime.of(now, TTL);
    List<List<Object>> rows = rows(count, keys, table.schema(), model, time);
    model.assertUpdate(table, rows, time, device);
  }

  @Test
  void keysExpireAtTheMillisecondOfFlink() {
    StateSchema schema = schema(List.of(0), Accumulator.updateTime("time"), false);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      assertThat(kinds(table, 1_000)).containsExactly(NONE, ChangeKind.INSERT.value());
      assertThat(kinds(table, 1_099))
          .containsExactly(ChangeKind.UPDATE_BEFORE.value(), ChangeKind.UPDATE_AFTER.value());
      assertThat(kinds(table, 1_199)).containsExactly(NONE, ChangeKind.INSERT.value());
      assertThat(table.rowCount()).isEqualTo(1);
    }
  }

  private List<Object> kinds(StateTable table, long now) {
    try (Table batch = TableBuilder.ofRows(INPUT, List.of(row(1))).build(device);
        Table changes = table.update(batch, UpdateTime.of(now, TTL))) {
      return device.rows(changes).stream().map(row -> row.get(row.size() - 1)).toList();
    }
  }

  @Test
  void timesThatNeverExpireAreKept() {
    assertThat(UpdateTime.of(5, Long.MAX_VALUE).oldest()).isEqualTo(5 - Long.MAX_VALUE + 1);
    assertThat(UpdateTime.of(-5, Long.MAX_VALUE).oldest()).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  void timesAreGivenToTablesWithTimesAlone() {
    StateSchema schema = schema(List.of(0), Accumulator.updateTime("time"), false);
    StateSchema other = new StateSchema(INPUT, List.of(0), List.of(), StateSchema.NO_KINDS);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory());
        StateTable stays = new StateTable(other, device.stream(), device.memory());
        Table batch = TableBuilder.ofRows(INPUT, List.of(row(1))).build(device)) {
      assertThatThrownBy(() -> table.update(batch)).hasMessage("expected a time: rows expire");
      assertThatThrownBy(() -> stays.update(batch, UpdateTime.of(0, 1)))
          .hasMessage("expected no time: rows stay");
    }
  }

  @Test
  void timeBehindOtherAccumulatorsIsRefused() {
    assertThatThrownBy(
            () ->
                new StateSchema(
                    INPUT,
                    List.of(0),
                    List.of(Accumulator.countRows("rows"), Accumulator.updateTime("time")),
                    StateSchema.NO_KINDS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected the time 'time' to be the first accumulator");
  }

  @Test
  void rowsMoveToAnotherTableWhileTheirTableIsUpdated() {
    for (int round = 0; round < 10; round++) {
      assertRowsMove(schema(List.of(0, 1), time(true), round % 2 == 0));
    }
  }

  @Test
  void rowsThatDoNotChangeMoveByTheTimeOfTheirCreation() {
    Accumulator first = new Accumulator("first", Function.MIN, 2);
    List<Accumulator> accumulators = List.of(time(false), first);
    assertRowsMove(new StateSchema(INPUT, List.of(1), accumulators, StateSchema.NO_KINDS));
  }

  private void assertRowsMove(StateSchema schema) {
    try (StateTable table = new StateTable(schema, device.stream(), device.memory());
        StateTable other = new StateTable(schema, device.stream(), device.memory())) {
      StateModel model = new StateModel(schema);
      present.clear();
      long now = 1_000;
      for (int batch = 0; batch < 4; batch++, now += random.nextInt(60)) {
        update(table, model, now, 1_000, 3_000);
      }
      long start = now;
      for (long row = 0; row < table.rowCount(); row += 100) {
        int count = (int) Math.min(100, table.rowCount() - row);
        LiveRows.copy(table, row, count, UpdateTime.of(now, TTL).oldest(), start, other);
        now += random.nextInt(3);
        update(table, model, now, 100, 3_000);
      }
      for (long row = 0; row < table.rowCount(); row += table.chunkRows()) {
        int count = (int) Math.min(table.chunkRows(), table.rowCount() - row);
        LiveRows.copy(table, row, count, start, Long.MAX_VALUE, other);
      }
      now += random.nextInt(60);
      UpdateTime time = UpdateTime.of(now, TTL);
      model.removeExpired(time.oldest());
      assertThat(other.rowCount()).isGreaterThanOrEqualTo(model.rowCount());
      assertThat(liveRows(other, time)).isEqualTo(liveRows(table, time));
      assertThat(liveRows(table, time)).isEqualTo(model.rowCount());
      update(other, model, now, 2_000, 3_000);
    }
  }

  /** Whichever request for memory is refused, both tables stay as they were. */
  @Test
  void rowsMoveInAttempts() {
    StateSchema schema = schema(List.of(0, 1), time(true), false);
    List<List<Object>> rows = IntStream.range(0, 3_000).mapToObj(this::row).toList();
    AtomicInteger left = new AtomicInteger();
    MemoryResource failing =
        new FailingResourceAdaptor(device.memory(), (n, bytes) -> left.decrementAndGet() == 0);
    try (StateTable table = new StateTable(schema, device.stream(), failing);
        Table batch = TableBuilder.ofRows(INPUT, rows).build(device)) {
      table.update(batch, UpdateTime.of(1_000, TTL)).close();
      int count = (int) table.rowCount();
      int refused = 0;
      for (boolean isDone = false; !isDone; refused++) {
        try (StateTable other = new StateTable(schema, device.stream(), failing)) {
          left.set(refused + 1);
          try {
            LiveRows.copy(table, 0, count, 0, Long.MAX_VALUE, other);
            isDone = true;
          } catch (GpuOutOfMemoryException e) {
            assertThat(other.rowCount()).isZero();
            LiveRows.copy(table, 0, count, 0, Long.MAX_VALUE, other);
          }
          left.set(0);
          assertThat(words(other)).isEqualTo(words(table));
        }
      }
      assertThat(refused).isGreaterThan(5);
      left.set(1);
      assertThatThrownBy(() -> LiveRows.count(table, 0, count, 0))
          .isInstanceOf(GpuOutOfMemoryException.class);
      assertThat(LiveRows.count(table, 0, count, 0)).isEqualTo(count);
      assertThat(LiveRows.count(table, 0, count, 1_001)).isZero();
    }
  }

  private List<Long> words(StateTable table) {
    try (StateSnapshot snapshot = table.snapshot()) {
      return SnapshotWords.of(snapshot, device);
    }
  }

  private static int liveRows(StateTable table, UpdateTime time) {
    int live = 0;
    for (long row = 0; row < table.rowCount(); row += 700) {
      live +=
          LiveRows.count(table, row, (int) Math.min(700, table.rowCount() - row), time.oldest());
    }
    return live;
  }
}

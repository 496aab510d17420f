// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class StateTableTest {
  private static final Schema LONGS =
      Schema.of(new Field("k", DataType.INT64, false), new Field("v", DataType.INT64, false));
  private static final List<DataType> KEY_TYPES =
      List.of(
          DataType.BOOL,
          DataType.INT8,
          DataType.INT16,
          DataType.INT32,
          DataType.INT64,
          DataType.FLOAT32,
          DataType.FLOAT64,
          DataType.DATE,
          DataType.TIME,
          DataType.timestamp(3),
          DataType.timestamp(6),
          DataType.timestamp(9),
          DataType.STRING,
          DataType.BINARY,
          DataType.decimal(9, 2),
          DataType.decimal(18, 2),
          DataType.decimal(38, 2));
  private static final List<DataType> VALUE_TYPES =
      List.of(
          DataType.INT8,
          DataType.INT16,
          DataType.INT32,
          DataType.INT64,
          DataType.FLOAT32,
          DataType.FLOAT64,
          DataType.DATE,
          DataType.TIME,
          DataType.timestamp(3),
          DataType.timestamp(6),
          DataType.decimal(9, 2),
          DataType.decimal(18, 2),
          DataType.decimal(25, 3),
          DataType.decimal(38, 2));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private Random random;

  @BeforeEach
  void seedRandom() {
    random = seed.random();
  }

  @RowCountTest
  void batchesOfEverySizeAreCombined(int rowCount) {
    StateSchema schema =
        new StateSchema(
            LONGS,
            List.of(0),
            List.of(
                Accumulator.countRows("rows"),
                new Accumulator("sum", Function.SUM, 1),
                new Accumulator("max", Function.MAX, 1)),
            StateSchema.NO_KINDS);
    int keys = Math.max(1, rowCount / 3);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      StateModel model = new StateModel(schema);
      for (int batch = 0; batch < 3; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < rowCount; i++) {
          long key = random.nextInt(keys * (batch + 1));
          rows.add(List.of(key * 0x9e3779b97f4a7c15L, random.nextLong()));
        }
        assertUpdate(table, model, rows);
      }
    }
  }

  @Test
  void keysAndValuesOfEveryTypeAndNullsAreCombined() {
    for (int round = 0; round < 40; round++) {
      Schema input = randomInput();
      int keys = 1 + random.nextInt(input.size() - 1);
      StateSchema schema =
          new StateSchema(input, range(keys), accumulators(input), StateSchema.NO_KINDS);
      List<List<Object>> pool = new RandomTables(random, 0.3).rows(input, 60);
      try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
        StateModel model = new StateModel(schema);
        for (int batch = 0; batch < 4; batch++) {
          assertUpdate(table, model, randomRows(pool, input, keys, 100));
        }
      }
    }
  }

  @Test
  void keysWhoseRowsAreTakenBackAreDeletedAndReturn() {
    Schema input =
        Schema.of(
            new Field("k", DataType.INT32, false),
            Field.of("v", DataType.INT64),
            new Field("kind", DataType.INT8, false));
    StateSchema schema =
        new StateSchema(
            input,
            List.of(0),
            List.of(
                new Accumulator("sum", Function.SUM, 1),
                new Accumulator("values", Function.COUNT, 1),
                Accumulator.countRows("rows")),
            2);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      StateModel model = new StateModel(schema);
      List<List<Object>> present = new ArrayList<>();
      for (int batch = 0; batch < 30; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
          rows.add(randomChange(present, i % 3 == batch % 3));
        }
        assertUpdate(table, model, rows);
      }
    }
  }

  // Takes a row back that was inserted and is still there, or inserts one.
  private List<Object> randomChange(List<List<Object>> present, boolean takesBack) {
    ChangeKind[] kinds = {ChangeKind.DELETE, ChangeKind.UPDATE_BEFORE};
    if (takesBack && !present.isEmpty()) {
      List<Object> row = present.remove(random.nextInt(present.size()));
      return List.of(row.get(0), row.get(1), kinds[random.nextInt(2)].value());
    }
    List<Object> row = List.of(random.nextInt(50), random.nextLong());
    present.add(row);
    kinds = new ChangeKind[] {ChangeKind.INSERT, ChangeKind.UPDATE_AFTER};
    return List.of(row.get(0), row.get(1), kinds[random.nextInt(2)].value());
  }

  @Test
  void minimumOfAChangelogIsRefused() {
    Schema input = Schema.of(Field.of("k", DataType.INT32), Field.of("kind", DataType.INT8));
    assertThatThrownBy(
            () ->
                new StateSchema(
                    input, List.of(0), List.of(new Accumulator("least", Function.MIN, 0)), 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("MIN 'least' is not supported for a changelog: the values before are not kept");
  }

  @Test
  void oneHotKeyTakesAllRowsOfABatch() {
    StateSchema schema =
        new StateSchema(
            LONGS,
            List.of(0),
            List.of(new Accumulator("sum", Function.SUM, 1)),
            StateSchema.NO_KINDS);
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      rows.add(List.of(i % 2 == 0 ? 7L : (long) i % 100, (long) i));
    }
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      assertUpdate(table, new StateModel(schema), rows);
    }
  }

  @Test
  void stateGrowsOverManyChunks() {
    StateSchema schema =
        new StateSchema(
            LONGS,
            List.of(0),
            List.of(new Accumulator("min", Function.MIN, 1)),
            StateSchema.NO_KINDS);
    int rowsOfChunk = (int) (StateRows.CHUNK_BYTES / schema.rowBytes());
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      StateModel model = new StateModel(schema);
      long next = 0;
      while (next < 2.5 * rowsOfChunk) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < 50_000; i++) {
          long key = i % 5 == 0 ? random.nextInt((int) next + 1) : next++;
          rows.add(List.of(key, random.nextLong()));
        }
        assertUpdate(table, model, rows);
      }
      assertThat(table.rowCount()).isGreaterThan(2L * rowsOfChunk);
    }
  }

  @Test
  void rowsAreTheSameInEachRun() {
    List<List<Object>> pool = new RandomTables(random, 0).rows(LONGS, 5_000);
    List<List<Object>> rows = randomRows(pool, LONGS, 1, 20_000);
    StateSchema schema =
        new StateSchema(
            LONGS,
            List.of(0),
            List.of(new Accumulator("sum", Function.SUM, 1)),
            StateSchema.NO_KINDS);
    assertThat(stateRows(schema, rows)).isEqualTo(stateRows(schema, rows));
  }

  private List<Long> stateRows(StateSchema schema, List<List<Object>> rows) {
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      try (Table batch = TableBuilder.ofRows(LONGS, rows).build(device)) {
        table.update(batch).close();
      }
      try (StateSnapshot snapshot = table.snapshot()) {
        return SnapshotWords.of(snapshot, device);
      }
    }
  }

  @Test
  void snapshotIsNotChangedByLaterBatches() {
    StateSchema schema =
        new StateSchema(
            LONGS,
            List.of(0),
            List.of(new Accumulator("sum", Function.SUM, 1)),
            StateSchema.NO_KINDS);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      StateModel model = new StateModel(schema);
      assertUpdate(table, model, rows(0, 1_000));
      try (StateSnapshot snapshot = table.snapshot()) {
        List<Long> words = SnapshotWords.of(snapshot, device);
        assertUpdate(table, model, rows(500, 3_000));
        assertThat(snapshot.rowCount()).isEqualTo(1_000);
        assertThat(SnapshotWords.of(snapshot, device)).isEqualTo(words);
      }
      assertUpdate(table, model, rows(0, 4_000));
    }
  }

  @Test
  void rowsOfASnapshotMakeTheSameTableAgain() throws IOException {
    for (int round = 0; round < 10; round++) {
      Schema input = randomInput();
      int keys = 1 + random.nextInt(input.size() - 1);
      StateSchema schema =
          new StateSchema(input, range(keys), accumulators(input), StateSchema.NO_KINDS);
      List<List<Object>> pool = new RandomTables(random, 0.3).rows(input, 400);
      try (StateTable table = new StateTable(schema, device.stream(), device.memory());
          StateTable restored = new StateTable(schema, device.stream(), device.memory())) {
        StateModel model = new StateModel(schema);
        assertUpdate(table, model, randomRows(pool, input, keys, 1_000));
        try (StateSnapshot snapshot = table.snapshot()) {
          snapshot.read(
              device.stream(),
              block -> {
                assertThat(keys(block)).doesNotHaveDuplicates().hasSize(block.rowCount());
                restored.merge(block);
              });
        }
        assertUpdate(restored, model, randomRows(pool, input, keys, 1_000));
      }
    }
  }

  private List<List<Object>> keys(StateBlock block) {
    try (Table keys = block.keys(device.hostStream(), device.hostMemory())) {
      return TableRows.ofHost(keys, device.hostStream());
    }
  }

  @Test
  void blocksKeepChosenRows() throws IOException {
    StateSchema schema = new StateSchema(LONGS, List.of(0), List.of(), StateSchema.NO_KINDS);
    try (StateTable table = new StateTable(schema, device.stream(), device.memory())) {
      assertUpdate(table, new StateModel(schema), rows(10, 20));
      try (StateSnapshot snapshot = table.snapshot()) {
        snapshot.read(
            device.stream(),
            block -> {
              block.keep(new int[] {0, 3, 9, -1}, 3);
              assertThat(keys(block)).containsExactly(List.of(10L), List.of(13L), List.of(19L));
            });
      }
    }
  }

  private static List<List<Object>> rows(long first, long end) {
    List<List<Object>> rows = new ArrayList<>();
    for (long key = first; key < end; key++) {
      rows.add(List.of(key, key));
    }
    return rows;
  }

  @Test
  void keysThatAreNoValuesByThemselvesAreRefused() {
    Schema input = Schema.of(Field.of("name", DataType.dictionary(DataType.STRING)));
    assertThatThrownBy(() -> new StateSchema(input, List.of(0), List.of(), StateSchema.NO_KINDS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "expected a type other than ARRAY, ROW and DICTIONARY for key column 'name', got"
                + " DICTIONARY<STRING>");
  }

  @Test
  void functionsThatATypeDoesNotHaveAreRefused() {
    Schema input = Schema.of(Field.of("k", DataType.INT32), Field.of("x", DataType.DATE));
    assertThatThrownBy(
            () ->
                new StateSchema(
                    input,
                    List.of(0),
                    List.of(new Accumulator("s", Function.SUM, 1)),
                    StateSchema.NO_KINDS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("SUM of column 'x' is not supported: its type is DATE");
  }

  private void assertUpdate(StateTable table, StateModel model, List<List<Object>> rows) {
    model.assertUpdate(table, rows, device);
  }

  private Schema randomInput() {
    List<Field> fields = new ArrayList<>();
    int keys = 1 + random.nextInt(3);
    for (int i = 0; i < keys; i++) {
      fields.add(field("k" + i, KEY_TYPES));
    }
    for (int i = 0; i < 3; i++) {
      fields.add(field("v" + i, VALUE_TYPES));
    }
    return new Schema(fields);
  }

  private Field field(String name, List<DataType> types) {
    DataType type = types.get(random.nextInt(types.size()));
    return new Field(name, type, random.nextBoolean());
  }

  private static List<Accumulator> accumulators(Schema input) {
    List<Accumulator> accumulators = new ArrayList<>();
    accumulators.add(Accumulator.countRows("rows"));
    for (int column = 0; column < input.size(); column++) {
      String name = input.field(column).name();
      accumulators.add(new Accumulator("count_" + name, Function.COUNT, column));
      if (name.startsWith("v")) {
        for (Function function : List.of(Function.MIN, Function.MAX, Function.SUM)) {
          if (function.supports(input.type(column))) {
            accumulators.add(new Accumulator(function + "_" + name, function, column));
          }
        }
      }
    }
    return accumulators;
  }

  private static List<Integer> range(int end) {
    List<Integer> positions = new ArrayList<>();
    for (int i = 0; i < end; i++) {
      positions.add(i);
    }
    return positions;
  }

  /** Rows whose keys are keys of the pool and whose values are values of other rows of the pool. */
  private List<List<Object>> randomRows(
      List<List<Object>> pool, Schema input, int keys, int count) {
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      List<Object> row = new ArrayList<>();
      row.addAll(pool.get(random.nextInt(pool.size())).subList(0, keys));
      row.addAll(pool.get(random.nextInt(pool.size())).subList(keys, input.size()));
      rows.add(row);
    }
    return rows;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.event.Level;

/** Functions that read and change maps and lists as tables on the device. */
@ExtendWith(NothingHeldExtension.class)
class EntryTablesTest {
  static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.INT32),
          Field.of("m", DataType.INT64),
          new Field("is_put", DataType.BOOL, false),
          Field.of("v", DataType.STRING));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @RegisterExtension
  final LoggerAuditingExtension log =
      new LoggerAuditingExtension("io.millrace.operators.state.StateReader", Level.WARN);

  enum Reads {
    ENTRIES_OF_ROWS,
    ALL_ENTRIES,
    ALL_ENTRIES_OF_FIRST_KEY
  }

  /** Puts or removes the entry of each row, and emits what was found. */
  record Entries(MapStateSchema map, Reads reads) implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;

    static final MapStateSchema MAP =
        new MapStateSchema(
            "map",
            Schema.of(Field.of("m", DataType.INT64)),
            Schema.of(Field.of("v", DataType.STRING)));

    @Override
    public Schema outputSchema(Schema input) {
      return reads == Reads.ENTRIES_OF_ROWS ? map.found() : map.entries();
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of();
    }

    @Override
    public List<MapStateSchema> mapStates(Schema input) {
      return List.of(map);
    }

    @Override
    public KeyedResult process(KeyedBatch batch) {
      Table rows = batch.rows();
      Table output = read(batch);
      List<Column> changes =
          List.of(
              batch.keyNumbers().share(),
              rows.column("m").share(),
              rows.column("v").share(),
              rows.column("is_put").share());
      return new KeyedResult(
          output,
          null,
          null,
          Map.of(map.name(), new Table(map.changes(), changes, rows.rowCount())));
    }

    private Table read(KeyedBatch batch) {
      if (reads == Reads.ENTRIES_OF_ROWS) {
        List<Column> columns =
            List.of(batch.keyNumbers().share(), batch.rows().column("m").share());
        try (Table requests = new Table(map.requests(), columns, batch.rows().rowCount())) {
          return batch.entries().find(map.name(), requests);
        }
      }
      int count = reads == Reads.ALL_ENTRIES ? batch.rows().rowCount() : 1;
      List<Column> columns = List.of(batch.keyNumbers().slice(0, count));
      try (Table requests = new Table(map.keyRequests(), columns, count)) {
        return batch.entries().entries(map.name(), requests);
      }
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void entriesAreTables() throws Exception {
    try (ProcessHarness harness =
        new Job(ROWS, List.of("k"), new Entries(Entries.MAP, Reads.ENTRIES_OF_ROWS)).open(device)) {
      assertThat(
              harness.results(
                  asList(1, 7L, true, "x"), asList(1, null, true, null), asList(1, 7L, true, "y")))
          .containsExactly("[null, false]", "[null, false]", "[null, false]");
      assertThat(
              harness.results(
                  asList(2, 7L, false, "z"), asList(1, 7L, false, "z"), asList(1, null, true, "w")))
          .containsExactly("[null, false]", "[y, true]", "[null, true]");
      assertThat(harness.results(asList(1, 7L, true, null), asList(1, null, true, null)))
          .containsExactly("[null, false]", "[w, true]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void allEntriesOfTheKeysAreATable() throws Exception {
    try (ProcessHarness harness =
        new Job(ROWS, List.of("k"), new Entries(Entries.MAP, Reads.ALL_ENTRIES)).open(device)) {
      assertThat(harness.results(asList(1, 7L, true, "x"), asList(null, 8L, true, "y"))).isEmpty();
      assertThat(harness.results(asList(2, 9L, true, "z"), asList(null, 7L, false, null)))
          .containsExactly("[1, 8, y]");
      assertThat(harness.results(asList(null, 1L, false, null), asList(1, 1L, false, null)))
          .containsExactlyInAnyOrder("[1, 7, x]", "[0, 8, y]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void onlyTheKeysThatAreAskedForAreRead() throws Exception {
    try (ProcessHarness harness =
        new Job(ROWS, List.of("k"), new Entries(Entries.MAP, Reads.ALL_ENTRIES_OF_FIRST_KEY))
            .open(device)) {
      harness.results(asList(1, 7L, true, "x"), asList(2, 8L, true, "y"), asList(3, 9L, true, "z"));
      assertThat(harness.results(asList(2, 7L, false, null), asList(1, 1L, false, null)))
          .containsExactly("[0, 8, y]");
    }
  }

  private static Stream<DataType> types() {
    return Stream.of(
        DataType.BOOL,
        DataType.INT8,
        DataType.INT16,
        DataType.INT32,
        DataType.INT64,
        DataType.FLOAT32,
        DataType.FLOAT64,
        DataType.decimal(5, 2),
        DataType.decimal(38, 10),
        DataType.DATE,
        DataType.timestamp(3),
        DataType.timestamp(9),
        DataType.STRING,
        DataType.BINARY);
  }

  @ParameterizedTest
  @MethodSource("types")
  void mapKeysAndValuesOfEachTypeAreKept(DataType type) throws Exception {
    MapStateSchema map =
        new MapStateSchema("map", Schema.of(Field.of("m", type)), Schema.of(Field.of("v", type)));
    Schema schema =
        Schema.of(
            Field.of("k", DataType.INT32),
            Field.of("m", type),
            new Field("is_put", DataType.BOOL, false),
            Field.of("v", type));
    RandomTables tables = new RandomTables(random.random(), 0.2);
    List<Object> mapKeys =
        tables.rows(Schema.of(Field.of("m", type)), 6).stream().map(row -> row.get(0)).toList();
    Map<List<Object>, List<Object>> model = new HashMap<>();
    try (ProcessHarness harness =
        new Job(schema, List.of("k"), new Entries(map, Reads.ENTRIES_OF_ROWS)).open(device)) {
      for (int batch = 0; batch < 6; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (List<Object> values : tables.rows(schema, 30)) {
          Object mapKey = mapKeys.get(random.random().nextInt(mapKeys.size()));
          rows.add(asList(random.random().nextInt(3), mapKey, values.get(2), values.get(3)));
        }
        harness.send(0, rows);
        assertThat(harness.takeRows())
            .isEqualTo(
                rows.stream()
                    .map(row -> model.getOrDefault(entry(row), asList(null, false)))
                    .toList());
        for (List<Object> row : rows) {
          if ((Boolean) row.get(2)) {
            model.put(entry(row), asList(row.get(3), true));
          } else {
            model.remove(entry(row));
          }
        }
      }
    }
  }

  private static List<Object> entry(List<Object> row) {
    return row.subList(0, 2);
  }

  /** Adds an element for each row, and emits the elements that were there before. */
  private record Elements(ListStateSchema list) implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;

    static final ListStateSchema LIST =
        new ListStateSchema("list", Schema.of(Field.of("v", DataType.STRING)));

    @Override
    public Schema outputSchema(Schema input) {
      return list.read();
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of();
    }

    @Override
    public List<ListStateSchema> listStates(Schema input) {
      return List.of(list);
    }

    @Override
    public KeyedResult process(KeyedBatch batch) {
      Table rows = batch.rows();
      try (Table requests =
          new Table(list.requests(), List.of(batch.keyNumbers().share()), rows.rowCount())) {
        Table elements = batch.entries().elements(list.name(), requests);
        List<Column> changes =
            List.of(
                batch.keyNumbers().share(),
                rows.column("v").share(),
                rows.column("is_put").share());
        return new KeyedResult(
            elements,
            null,
            null,
            Map.of(list.name(), new Table(list.changes(), changes, rows.rowCount())));
      }
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void elementsAreTables() throws Exception {
    try (ProcessHarness harness =
        new Job(ROWS, List.of("k"), new Elements(Elements.LIST)).open(device)) {
      assertThat(
              harness.results(
                  asList(1, 0L, true, "x"), asList(2, 0L, true, "y"), asList(1, 0L, true, null)))
          .isEmpty();
      assertThat(harness.results(asList(1, 0L, false, null), asList(1, 0L, true, "w")))
          .containsExactly("[0, x]", "[0, null]", "[0, x]", "[0, null]");
      assertThat(harness.results(asList(2, 0L, false, "z"), asList(1, 0L, false, "z")))
          .containsExactly("[0, y]", "[1, w]");
      assertThat(harness.results(asList(2, 0L, true, "v"))).isEmpty();
    }
  }

  @Test
  void mapsMayComeAndGo() throws Exception {
    OperatorSubtaskState state;
    Job job = new Job(ROWS, List.of("k"), new Entries(Entries.MAP, Reads.ENTRIES_OF_ROWS));
    try (ProcessHarness harness = job.open(device)) {
      harness.results(asList(1, 7L, true, "x"), asList(1, 8L, true, "x"));
      state = harness.snapshot();
    }
    job.restore(device, 0, 1, state).close();
    assertThat(log.getMessages()).isEmpty();
    MapStateSchema other = new MapStateSchema("other", Entries.MAP.keys(), Entries.MAP.values());
    try (ProcessHarness harness =
        new Job(ROWS, List.of("k"), new Entries(other, Reads.ENTRIES_OF_ROWS))
            .restore(device, 0, 1, state)) {
      assertThat(log.getMessages())
          .containsExactly(
              "state 'map' of the checkpoint is left out, with 2 rows: the operator has no state of"
                  + " this name any more");
      assertThat(harness.results(asList(1, 7L, true, "y"))).containsExactly("[null, false]");
      state = harness.snapshot();
    }
    try (ProcessHarness harness = job.restore(device, 0, 1, state)) {
      assertThat(harness.results(asList(1, 7L, true, "z")))
          .as("the map was left out")
          .containsExactly("[null, false]");
    }
  }

  @Test
  void anotherTypeOfTheMapKeyIsRefused() throws Exception {
    OperatorSubtaskState state;
    try (ProcessHarness harness =
        new Job(ROWS, List.of("k"), new Entries(Entries.MAP, Reads.ENTRIES_OF_ROWS)).open(device)) {
      harness.results(asList(1, 7L, true, "x"));
      state = harness.snapshot();
    }
    MapStateSchema other =
        new MapStateSchema("map", Schema.of(Field.of("m", DataType.INT32)), Entries.MAP.values());
    Job job = new Job(ROWS, List.of("k"), new Entries(other, Reads.ENTRIES_OF_ROWS));
    assertThatThrownBy(() -> job.restore(device, 0, 1, state).close())
        .isInstanceOf(IOException.class)
        .hasMessage(
            "the checkpoint has state 'map' for the key (k INT, m BIGINT), and the job has (k INT,"
                + " m INT)");
  }

  /** Gives changes of maps that a test makes wrong. */
  private record WrongChanges(Schema schema) implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema outputSchema(Schema input) {
      return input;
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of();
    }

    @Override
    public List<MapStateSchema> mapStates(Schema input) {
      return List.of(Entries.MAP);
    }

    @Override
    public KeyedResult process(KeyedBatch batch) {
      Table rows = batch.rows();
      List<Column> columns =
          List.of(
              rows.column("k").share(),
              rows.column("m").share(),
              rows.column("v").share(),
              rows.column("is_put").share());
      return new KeyedResult(
          null, null, null, Map.of("map", new Table(schema, columns, rows.rowCount())));
    }
  }

  @Test
  void changesOfAnotherFormFailTheJob() throws Exception {
    Schema rows =
        Schema.of(
            new Field("k", DataType.INT32, false), ROWS.field(1), ROWS.field(2), ROWS.field(3));
    try (ProcessHarness harness =
        new Job(rows, List.of("k"), new WrongChanges(Entries.MAP.changes())).open(device)) {
      assertThatThrownBy(() -> harness.results(asList(1, 7L, true, "x")))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("expected the number of one of the 1 keys for 'map', got 1");
    }
    Schema other = rows.select(List.of("k", "m", "v", "is_put"));
    try (ProcessHarness harness =
        new Job(rows, List.of("k"), new WrongChanges(other)).open(device)) {
      assertThatThrownBy(() -> harness.results(asList(0, 7L, true, "x")))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageStartingWith("expected the columns ");
    }
  }
}

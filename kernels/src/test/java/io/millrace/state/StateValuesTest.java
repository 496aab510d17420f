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
import io.millrace.state.row.ConstantColumn;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateSchema;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class StateValuesTest {
  private static final Schema INPUT =
      Schema.of(
          new Field("flag", DataType.BOOL, true),
          new Field("id", DataType.INT64, false),
          new Field("amount", DataType.decimal(30, 2), true),
          new Field("ratio", DataType.FLOAT64, true),
          new Field("at", DataType.timestamp(3), true),
          new Field("kind", DataType.INT8, false),
          new Field("name", DataType.STRING, true),
          new Field("moment", DataType.timestamp(9), true),
          new Field("bytes", DataType.BINARY, false));
  private static final StateSchema SCHEMA =
      new StateSchema(
          INPUT,
          List.of(0, 1, 2, 3),
          List.of(
              Accumulator.countRows("rows"),
              new Accumulator("low", Function.MIN, 4),
              new Accumulator("high", Function.MAX, 3),
              new Accumulator("sum", Function.SUM, 1)),
          StateSchema.NO_KINDS);
  private static final StateSchema STRINGS =
      new StateSchema(
          INPUT,
          List.of(6, 0, 7, 8),
          List.of(Accumulator.countRows("rows"), new Accumulator("sum", Function.SUM, 2)),
          StateSchema.NO_KINDS);
  private static final StateSchema SUMS =
      new StateSchema(
          INPUT,
          List.of(0),
          List.of(
              new Accumulator("floating", Function.SUM, 3),
              new Accumulator("decimal", Function.SUM, 2)),
          StateSchema.NO_KINDS);
  private static final StateSchema CHANGELOG =
      new StateSchema(
          INPUT,
          List.of(0, 2),
          List.of(new Accumulator("sum", Function.SUM, 1), Accumulator.countRows("rows")),
          5);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private StateTable table(StateSchema schema) {
    return new StateTable(schema, device.stream(), device.memory());
  }

  private List<List<Object>> randomRows(int count) {
    List<List<Object>> pool = new RandomTables(random.random(), 0.3).rows(INPUT, count / 2 + 1);
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      List<Object> row = new ArrayList<>(pool.get(random.random().nextInt(pool.size())));
      row.set(5, (byte) (random.random().nextInt(3) == 0 ? 3 : 0));
      if (row.get(6) instanceof String name && i % 2 == 0) {
        row.set(6, name + "a string of more than 12 bytes");
      }
      rows.add(row);
    }
    return rows;
  }

  // The last row after each update, in the order in which keys came first.
  private void update(
      StateTable table, List<List<Object>> rows, Map<List<Object>, List<Object>> last) {
    int keys = table.schema().keys().size();
    try (Table batch = TableBuilder.ofRows(INPUT, rows).build(device);
        Table changes = table.update(batch)) {
      List<List<Object>> changed = device.rows(changes);
      for (int i = 1; i < changed.size(); i += 2) {
        List<Object> row = changed.get(i).subList(0, changed.get(i).size() - 1);
        last.put(row.subList(0, keys), row);
      }
    }
  }

  private List<List<Object>> values(StateTable table, int from, int to) {
    try (Table values = table.values(from, to - from, List.of())) {
      assertThat(values.schema()).isEqualTo(table.schema().changes());
      return device.rows(values);
    }
  }

  @RowCountTest
  void valuesAreTheRowsAfterTheLastUpdate(int rowCount) {
    List.of(SCHEMA, STRINGS, SUMS).forEach(schema -> assertValues(schema, rowCount));
  }

  private void assertValues(StateSchema schema, int rowCount) {
    try (StateTable table = table(schema)) {
      Map<List<Object>, List<Object>> last = new LinkedHashMap<>();
      update(table, randomRows(Math.min(rowCount, 3_000)), last);
      update(table, randomRows(Math.min(rowCount, 100)), last);
      List<List<Object>> expected = new ArrayList<>();
      last.values()
          .forEach(
              row -> {
                List<Object> withKind = new ArrayList<>(row);
                withKind.add(ChangeKind.INSERT.value());
                expected.add(withKind);
              });
      int rows = expected.size();
      assertThat(table.rowCount()).isEqualTo(rows);
      assertThat(values(table, 0, rows)).isEqualTo(expected);
      int middle = rows / 3;
      assertThat(values(table, middle, rows)).isEqualTo(expected.subList(middle, rows));
    }
  }

  @Test
  void keysWhoseRowsWereTakenBackHaveNoKind() {
    try (StateTable table = table(CHANGELOG)) {
      Map<List<Object>, List<Object>> last = new LinkedHashMap<>();
      update(table, randomRows(300), last);
      List<List<Object>> values = values(table, 0, (int) table.rowCount());
      assertThat(values).hasSameSizeAs(last.values());
      values.forEach(
          row ->
              assertThat(row.get(4))
                  .isEqualTo(
                      (row.get(3).equals(0L) ? ChangeKind.NONE : ChangeKind.INSERT).value()));
    }
  }

  @Test
  void constantsAreBehindTheValues() {
    Field end = new Field("end", DataType.timestamp(3), false);
    try (StateTable table = table(SCHEMA)) {
      update(table, randomRows(60), new LinkedHashMap<>());
      List<ConstantColumn> constants =
          List.of(
              new ConstantColumn(end, 0),
              new ConstantColumn(new Field("n", DataType.INT64, false), 7));
      int rows = (int) table.rowCount();
      try (Table values = table.values(0, rows, constants)) {
        assertThat(values.schema().names()).endsWith("end", "n");
        assertThat(device.rows(values))
            .allSatisfy(
                row -> assertThat(row).endsWith(LocalDateTime.of(1970, 1, 1, 0, 0), (Object) 7L));
      }
      assertThatThrownBy(() -> table.values(0, rows + 1, List.of()))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  @Test
  void stringsLieInSeveralChunksAndAreMerged() {
    Random numbers = random.random();
    int longest = (int) LongStrings.CHUNK_BYTES;
    try (StateTable table = table(STRINGS);
        StateTable merged = table(STRINGS)) {
      List<List<Object>> rows = randomRows(20);
      for (int i = 0; i < rows.size(); i++) {
        rows.get(i).set(6, i + "x".repeat(numbers.nextInt(longest / 2)));
      }
      Map<List<Object>, List<Object>> last = new LinkedHashMap<>();
      update(table, rows, last);
      try (StateSnapshot snapshot = table.snapshot()) {
        assertThat(snapshot.strings().keyWords() * Long.BYTES).isGreaterThan(longest);
        merged.merge(snapshot, 0);
      }
      List<List<Object>> values = values(table, 0, last.size());
      assertThat(values.stream().map(row -> row.subList(0, row.size() - 1)).toList())
          .isEqualTo(List.copyOf(last.values()));
      assertThat(values(merged, 0, last.size())).containsExactlyInAnyOrderElementsOf(values);
    }
  }

  @Test
  void rowsOfTablesAreMerged() {
    List.of(SCHEMA, STRINGS).forEach(this::assertMerged);
  }

  private void assertMerged(StateSchema schema) {
    try (StateTable first = table(schema);
        StateTable second = table(schema);
        StateTable merged = table(schema);
        StateTable expected = table(schema)) {
      for (int batch = 0; batch < 4; batch++) {
        List<List<Object>> rows = randomRows(500);
        update(batch % 2 == 0 ? first : second, rows, new LinkedHashMap<>());
        try (Table table = TableBuilder.ofRows(INPUT, rows).build(device)) {
          expected.accumulate(table);
        }
      }
      for (StateTable table : List.of(first, second)) {
        try (StateSnapshot rows = table.snapshot()) {
          assertThat(rows.extentCount()).isEqualTo(1);
          merged.merge(rows, 0);
          merged.releaseScratch();
        }
      }
      assertThat(values(merged, 0, (int) merged.rowCount()))
          .containsExactlyInAnyOrderElementsOf(values(expected, 0, (int) expected.rowCount()));
    }
  }

  @Test
  void argumentsHaveTheFieldsAndSizesOfTheKernel() {
    CudaStructures cuda = CudaStructures.ofSources();
    assertThat(CudaStateValues.Arguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateValuesArguments").fields());
    assertThat(CudaStateValues.ConstantArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("ConstantColumn").fields());
    if (device.isCuda()) {
      assertThat(device.device().loadModule("state_values").constant("sizeof_StateValuesArguments"))
          .isEqualTo(CudaStateValues.Arguments.LAYOUT.bytes());
    }
  }
}

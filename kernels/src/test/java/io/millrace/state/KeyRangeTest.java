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
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows whose last key column has a value in a range. */
class KeyRangeTest {
  private static final Schema INPUT =
      Schema.of(
          Field.of("name", DataType.STRING),
          new Field("n", DataType.INT64, false),
          Field.of("x", DataType.INT64));
  private static final StateSchema SCHEMA =
      new StateSchema(
          INPUT,
          List.of(0, 1),
          List.of(
              new Accumulator("sum", Function.SUM, 2), new Accumulator("count", Function.COUNT, 2)),
          StateSchema.NO_KINDS);
  private static final int NUMBERS = 20;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private Table batch(Random random) {
    List<List<?>> values = new ArrayList<>();
    for (int i = 0; i < 700; i++) {
      int key = random.nextInt(60);
      String name = key % 3 == 0 ? "a string of more than 12 bytes " + key : "key " + key;
      values.add(List.of(name, (long) random.nextInt(NUMBERS) - 10, random.nextLong(9)));
    }
    return TableBuilder.ofRows(INPUT, values).build(device);
  }

  private StateTable table() {
    return new StateTable(SCHEMA, device.stream(), device.memory());
  }

  private StateTable filled() {
    StateTable table = table();
    Random random = seed.random();
    for (int i = 0; i < 3; i++) {
      try (Table batch = batch(random)) {
        table.accumulate(batch);
      }
    }
    return table;
  }

  private List<List<Object>> rows(StateTable table) {
    try (Table values = table.values(0, (int) table.rowCount(), List.of())) {
      return device.rows(values);
    }
  }

  private static List<List<Object>> between(List<List<Object>> rows, long first, long end) {
    return rows.stream()
        .filter(row -> (long) row.get(1) >= first && (long) row.get(1) < end)
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "-10, 10",
    "-3, 4",
    "0, 1",
    "5, 5",
    "10, 9223372036854775807",
    "-9223372036854775808, 9223372036854775807",
    "-9223372036854775808, -10",
    "-9223372036854775808, 0"
  })
  void rowsInTheRangeAreCountedReadAndCopied(long first, long end) {
    KeyRange range = new KeyRange(first, end);
    try (StateTable table = filled();
        StateTable copy = table()) {
      List<List<Object>> all = rows(table);
      List<List<Object>> expected = between(all, first, end);
      List<List<Object>> values = new ArrayList<>();
      int counted = 0;
      for (int row = 0; row < all.size(); row += 300) {
        int count = Math.min(300, all.size() - row);
        counted += range.count(table, row, count);
        range.copy(table, row, count, 0, copy);
        try (Table part = range.values(table, row, count)) {
          values.addAll(device.rows(part));
        }
      }
      assertThat(counted).isEqualTo(expected.size());
      assertThat(values).isEqualTo(expected);
      assertThat(rows(copy)).isEqualTo(expected);
      assertThat(rows(table)).isEqualTo(all);
    }
  }

  @Test
  void rowsOfSeveralNumbersMeetAtOne() {
    try (StateTable table = filled();
        StateTable merged = table();
        StateTable expected = table()) {
      int count = (int) table.rowCount();
      List<List<?>> ofOne = new ArrayList<>();
      for (long number = -10; number < 10; number++) {
        new KeyRange(number, number + 1).copy(table, 0, count, 3 - number, merged);
        for (List<Object> row : between(rows(table), number, number + 1)) {
          ofOne.add(List.of(row.get(0), 3L, row.get(2)));
        }
      }
      try (Table batch = TableBuilder.ofRows(INPUT, ofOne).build(device)) {
        expected.accumulate(batch);
      }
      assertThat(rows(merged).stream().map(row -> row.subList(0, 3)))
          .isEqualTo(rows(expected).stream().map(row -> row.subList(0, 3)).toList());
    }
  }

  @Test
  void partialsOfATableAreAddedToAnother() {
    try (StateTable table = filled();
        StateTable other = table();
        Table partials = table.partials(0, (int) table.rowCount())) {
      other.accumulatePartials(partials);
      assertThat(rows(other)).isEqualTo(rows(table));
      other.accumulatePartials(partials);
      assertThat(rows(other).stream().map(row -> row.get(2)).toList())
          .isEqualTo(rows(table).stream().map(row -> (Object) (2 * (long) row.get(2))).toList());
      assertThat(rows(table).stream().mapToLong(row -> (long) row.get(2)).sum()).isPositive();
    }
  }
}

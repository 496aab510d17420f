// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class GatherTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @RowCountTest
  void rowsComeInTheOrderOfTheMap(int rowCount) {
    int rows = Math.min(rowCount, 3_000);
    Schema schema = DataTypes.schema(DataTypes.all());
    List<Integer> map = new ArrayList<>(IntStream.range(0, rows).boxed().toList());
    Collections.shuffle(map, random.random());
    try (Table table =
        new RandomTables(random.random(), 0.2).generateSliced(schema, rows, device)) {
      assertGathered(table, map);
      assertGathered(table, map.subList(0, rows / 3));
    }
  }

  private void assertGathered(Table table, List<Integer> map) {
    List<List<Object>> rows = device.rows(table);
    try (Table maps = map(map);
        Table gathered = gather(table, maps)) {
      assertThat(device.rows(gathered)).isEqualTo(map.stream().map(rows::get).toList());
    }
  }

  // Short ones are copied in pairs of words, except strings at the end of a buffer.
  @Test
  void stringsOfEachLength() {
    List<Object> texts = new ArrayList<>();
    List<Integer> map = new ArrayList<>();
    for (int length = 0; length < 150; length++) {
      texts.add(String.valueOf((char) ('!' + length % 90)).repeat(length));
      map.add(length);
    }
    try (Table table =
        new TableBuilder().column(Field.of("text", DataType.STRING), texts).build(device)) {
      assertGathered(table, map);
      Collections.reverse(map);
      assertGathered(table, map);
      Collections.shuffle(map, random.random());
      assertGathered(table, map);
      assertGathered(table, List.of(3));
    }
  }

  @RowCountTest
  void aRowMayBeNamedMoreThanOnceByGatherRepeated(int rowCount) {
    int rows = Math.min(rowCount, 1_000);
    Schema schema = DataTypes.schema(DataTypes.all());
    List<Integer> map =
        rows == 0 ? List.of() : random.random().ints(rows * 3L, 0, rows).boxed().toList();
    try (Table table =
        new RandomTables(random.random(), 0.2).generateSliced(schema, rows, device)) {
      List<List<Object>> expected = device.rows(table);
      try (Table maps = map(map);
          Table gathered =
              Gather.gatherRepeated(table, maps.column(0), device.stream(), device.memory())) {
        assertThat(device.rows(gathered)).isEqualTo(map.stream().map(expected::get).toList());
      }
    }
  }

  @Test
  void nullsAreCountedAgainIfRowsAreLeftOutOrRepeated() {
    try (Table table = new TableBuilder().column("i", DataType.INT32, 1, null, 3).build(device)) {
      assertThat(nullCounts(table, List.of(0, 0, 2))).containsOnly(0);
      assertThat(nullCounts(table, List.of(-1, 1, -1))).containsOnly(3);
    }
    DataType list = DataType.list(DataType.INT32);
    try (Table table =
        new TableBuilder()
            .column("l", list, List.of(1, 2), Arrays.asList((Object) null), List.of(5))
            .build(device)) {
      assertThat(table.column(0).child(1).nullCount(device.stream())).isEqualTo(1);
      try (Table maps = map(List.of(0));
          Table gathered = gather(table, maps)) {
        Column elements = gathered.column(0).child(1);
        assertThat(elements.nullCount(device.stream())).isEqualTo(countedNulls(elements));
      }
    }
  }

  // As the column says, and as its mask does.
  private List<Integer> nullCounts(Table table, List<Integer> map) {
    assertThat(table.column(0).nullCount(device.stream())).isEqualTo(1);
    try (Table maps = map(map);
        Table gathered = gather(table, maps)) {
      Column column = gathered.column(0);
      return List.of(column.nullCount(device.stream()), countedNulls(column));
    }
  }

  private int countedNulls(Column column) {
    return (int) TableRows.of(column, device).stream().filter(Objects::isNull).count();
  }

  private Table map(List<Integer> map) {
    return new TableBuilder().column(Field.of("map", DataType.INT32), map).build(device);
  }

  private Table gather(Table table, Table map) {
    return Gather.gather(table, map.column(0), device.stream(), device.memory());
  }

  @Test
  void negativeRowsAreNull() {
    try (Table table =
            new TableBuilder()
                .column("number", DataType.INT32, 5, null)
                .column("name", DataType.STRING, null, "b")
                .build(device);
        Table maps = map(List.of(1, -1, 0));
        Table gathered = gather(table, maps)) {
      assertThat(device.rows(gathered).toString())
          .isEqualTo("[[null, b], [null, null], [5, null]]");
    }
  }

  @Test
  void badMapsAreRefused() {
    try (Table table = new TableBuilder().column("a", DataType.INT64, 1, 2).build(device)) {
      assertThatThrownBy(() -> gather(table, table))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected a gather map of INT NOT NULL, got BIGINT NOT NULL");
    }
  }
}

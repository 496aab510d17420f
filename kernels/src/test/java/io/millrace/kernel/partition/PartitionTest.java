// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PartitionTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @RowCountTest
  void rowsGoWhereTheMapSays(int rowCount) {
    List<DataType> types = List.of(DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64);
    for (DataType type : types) {
      for (int partitions : List.of(1, 2, 100)) {
        assertPartitioned(rowCount, type, partitions);
      }
    }
    assertPartitioned(rowCount, DataType.INT16, 5_000);
  }

  private void assertPartitioned(int rowCount, DataType type, int partitions) {
    Random numbers = random.random();
    List<Integer> map = new ArrayList<>();
    List<Object> mapValues = new ArrayList<>();
    for (int i = 0; i < rowCount; i++) {
      map.add(numbers.nextInt(partitions));
      mapValues.add(value(type, map.get(i)));
    }
    Schema schema = DataTypes.schema(List.of(DataType.INT64, DataType.STRING));
    List<List<Object>> rows = new RandomTables(numbers, 0.2).rows(schema, rowCount);
    try (Table table = TableBuilder.ofRows(schema, rows).build(device);
        Table maps = new TableBuilder().column(Field.of("map", type), mapValues).build(device);
        PartitionedTable partitioned = partition(table, maps.column(0), partitions)) {
      assertThat(partitioned.offsets()).isEqualTo(Partitions.offsets(map, partitions));
      assertThat(device.rows(partitioned.table()))
          .isEqualTo(Partitions.reorder(rows, map, partitions));
    }
  }

  private static Object value(DataType type, int number) {
    return switch (type.id()) {
      case INT8 -> (byte) number;
      case INT16 -> (short) number;
      case INT64 -> (long) number;
      default -> number;
    };
  }

  private PartitionedTable partition(Table table, Column map, int partitions) {
    return Partition.partition(table, map, partitions, device.stream(), device.memory());
  }

  @Test
  void slicedMapAndTable() {
    try (Table table =
            new TableBuilder()
                .column("value", DataType.INT32, 0, 1, 2, 3, 4, 5)
                .column("map", DataType.INT8, 9, 1, 0, 1, 0, 9)
                .build(device);
        Table slice = table.slice(1, 4);
        PartitionedTable partitioned = partition(slice, slice.column(1), 2)) {
      assertThat(partitioned.offsets()).containsExactly(0, 2, 4);
      assertThat(device.rows(partitioned.table()).stream().map(row -> row.get(0)))
          .containsExactly(2, 4, 1, 3);
    }
  }

  @Test
  void numbersOutOfRangeStayInBounds() {
    try (Table table = new TableBuilder().column("map", DataType.INT32, 0, -1, 7, 1).build(device);
        PartitionedTable partitioned = partition(table, table.column(0), 3)) {
      assertThat(partitioned.offsets()[3]).isEqualTo(4);
    }
  }

  @Test
  void badMapsAreRefused() {
    try (Table table =
            new TableBuilder()
                .column("value", DataType.INT64, 1, 2)
                .column("float", DataType.FLOAT64, 0.0, 1.0)
                .column("nulls", DataType.INT32, 0, null)
                .build(device);
        Table shorter = table.slice(0, 1)) {
      assertThatThrownBy(() -> partition(table, table.column(1), 2))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected a partition map of integers, got DOUBLE");
      assertThatThrownBy(() -> partition(table, table.column(2), 2))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the partition map has 1 nulls");
      assertThatThrownBy(() -> partition(table, shorter.column(0), 2))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected a partition map of 2 rows, got 1");
      assertThatThrownBy(() -> partition(table, table.column(0), 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected at least 1 partition, got 0");
    }
  }
}

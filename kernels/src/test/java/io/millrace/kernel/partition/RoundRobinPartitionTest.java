// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoundRobinPartitionTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** The examples of libcudf's documentation, with the row count as the last offset. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          13 | 3  | 0  | 0 3 6 9 12 1 4 7 10 2 5 8 11 | 0 5 9 13
          13 | 3  | 1  | 2 5 8 11 0 3 6 9 12 1 4 7 10 | 0 4 9 13
          11 | 3  | 0  | 0 3 6 9 1 4 7 10 2 5 8       | 0 4 8 11
          11 | 3  | 1  | 2 5 8 0 3 6 9 1 4 7 10       | 0 3 7 11
          11 | 3  | 2  | 1 4 7 10 2 5 8 0 3 6 9       | 0 4 7 11
          11 | 15 | 2  | 0 1 2 3 4 5 6 7 8 9 10       | 0 0 0 1 2 3 4 5 6 7 8 9 10 11 11 11
          11 | 15 | 10 | 5 6 7 8 9 10 0 1 2 3 4       | 0 1 2 3 4 5 6 6 6 6 6 7 8 9 10 11
          11 | 15 | 14 | 1 2 3 4 5 6 7 8 9 10 0       | 0 1 2 3 4 5 6 7 8 9 10 10 10 10 10 11
          11 | 11 | 2  | 9 10 0 1 2 3 4 5 6 7 8       | 0 1 2 3 4 5 6 7 8 9 10 11
          """)
  void dealsAsDocumented(int rows, int partitions, int start, String order, String offsets) {
    Object[] values = IntStream.range(0, rows).boxed().toArray();
    try (Table table = new TableBuilder().column("card", DataType.INT32, values).build(device);
        PartitionedTable dealt = deal(table, partitions, start)) {
      assertThat(device.rows(dealt.table())).isEqualTo(numbers(order).map(List::of).toList());
      assertThat(dealt.offsets()).isEqualTo(numbers(offsets).mapToInt(i -> i).toArray());
    }
  }

  private static Stream<Integer> numbers(String text) {
    return Arrays.stream(text.strip().split(" ")).map(Integer::valueOf);
  }

  @RowCountTest
  void everyTypeIsDealt(int rowCount) {
    RandomTables tables = new RandomTables(random.random(), 0.2);
    int rows = Math.min(rowCount, 2_100);
    try (Table table = tables.generateSliced(DataTypes.schema(DataTypes.all()), rows, device)) {
      for (int partitions : List.of(2, 65, 5_000)) {
        assertDealt(table, partitions, random.random().nextInt(partitions));
      }
    }
  }

  @RowCountTest
  void plainColumnsAreDealt(int rowCount) {
    Schema schema =
        Schema.of(
            new Field("a", DataType.INT64, false),
            new Field("b", DataType.decimal(38, 1), false),
            new Field("c", DataType.INT8, false));
    try (Table table = new RandomTables(random.random(), 0).generate(schema, rowCount, device)) {
      for (int partitions : List.of(2, 3, 512)) {
        assertDealt(table, partitions, partitions - 1);
      }
    }
  }

  private void assertDealt(Table table, int partitions, int start) {
    List<Integer> partitionOf =
        IntStream.range(0, table.rowCount())
            .map(row -> (row + start) % partitions)
            .boxed()
            .toList();
    try (PartitionedTable dealt =
        device.assertLaunches(table.rowCount() > 0 ? 1 : 0, () -> deal(table, partitions, start))) {
      assertThat(dealt.offsets()).isEqualTo(Partitions.offsets(partitionOf, partitions));
      assertThat(device.rows(dealt.table()))
          .isEqualTo(Partitions.reorder(device.rows(table), partitionOf, partitions));
    }
  }

  private PartitionedTable deal(Table table, int partitions, int start) {
    return RoundRobinPartition.roundRobinPartition(
        table, partitions, start, device.stream(), device.memory());
  }

  @Test
  void badNumbersAreRefused() {
    try (Table table = new TableBuilder().column("a", DataType.INT32, 1, 2).build(device)) {
      assertThatThrownBy(() -> deal(table, 1, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected at least 2 partitions, got 1");
      assertThatThrownBy(() -> deal(table, 3, 3))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected a start partition from 0 to 2, got 3");
      assertThatThrownBy(() -> deal(table, 3, -1)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}

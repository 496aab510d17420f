// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType.Field;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TableConcatenationTest {
  private static final Schema SCHEMA = DataTypes.schema(DataTypes.all());

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<List<Object>> concatenate(Schema schema, List<Table> tables) {
    try (Table joined =
        TableConcatenation.concatenate(schema, tables, device.hostStream(), device.hostMemory())) {
      return TableRows.ofHost(joined, device.hostStream());
    }
  }

  @Test
  void rowsOfAllTypesFollowEachOther() {
    Random numbers = random.random();
    for (int round = 0; round < 10; round++) {
      List<Table> tables = new ArrayList<>();
      List<List<Object>> expected = new ArrayList<>();
      for (int part = 1 + numbers.nextInt(4); part > 0; part--) {
        double nulls = numbers.nextBoolean() ? 0 : 0.3;
        RandomTables generator = new RandomTables(new Random(numbers.nextLong()), nulls);
        int rows = numbers.nextInt(100);
        try (Table table =
            numbers.nextBoolean()
                ? generator.generate(SCHEMA, rows, device)
                : generator.generateSliced(SCHEMA, rows, device)) {
          Table host = device.copyToHost(table);
          tables.add(host);
          expected.addAll(TableRows.ofHost(host, device.hostStream()));
        }
      }
      assertThat(concatenate(SCHEMA, tables)).isEqualTo(expected);
      tables.forEach(Table::close);
    }
  }

  @Test
  void masksMeetAtAnyBit() {
    Schema schema = Schema.of(Field.of("value", DataType.INT32));
    for (int first = 0; first < 20; first++) {
      for (int second = 0; second < 20; second++) {
        RandomTables tables = new RandomTables(new Random(first * 20 + second), 0.5);
        List<List<Object>> firstRows = tables.rows(schema, first);
        List<List<Object>> secondRows = tables.rows(schema, second);
        List<List<Object>> expected = new ArrayList<>(firstRows);
        expected.addAll(secondRows);
        try (Table left = TableBuilder.ofRows(schema, firstRows).buildOnHost(device);
            Table right = TableBuilder.ofRows(schema, secondRows).buildOnHost(device)) {
          assertThat(concatenate(schema, List.of(left, right))).isEqualTo(expected);
        }
      }
    }
  }

  @Test
  void aFailedAllocationLeavesNothing() {
    RandomTables generator = new RandomTables(random.random(), 0.3);
    List<List<Object>> rows = generator.rows(SCHEMA, 30);
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).buildOnHost(device)) {
      long needed;
      try (Table joined =
          TableConcatenation.concatenate(
              SCHEMA, List.of(table, table), device.hostStream(), device.hostMemory())) {
        needed = joined.sizeInBytes();
      }
      for (int i = 0; i < 20; i++) {
        LimitingResourceAdaptor limited =
            new LimitingResourceAdaptor(device.hostMemory(), needed * i / 20);
        assertThatThrownBy(
                () ->
                    TableConcatenation.concatenate(
                        SCHEMA, List.of(table, table), device.hostStream(), limited))
            .isInstanceOf(GpuOutOfMemoryException.class);
        assertThat(limited.heldBytes()).isZero();
      }
    }
  }

  @Test
  void noTablesMakeAnEmptyOne() {
    assertThat(concatenate(SCHEMA, List.of())).isEmpty();
  }
}

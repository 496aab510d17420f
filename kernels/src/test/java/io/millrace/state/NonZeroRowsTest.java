// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows with an accumulator that is not zero are counted, and move to another table. */
class NonZeroRowsTest {
  private static final Schema INPUT =
      Schema.of(
          Field.of("number", DataType.INT64),
          Field.of("string", DataType.STRING),
          Field.of("x", DataType.INT64),
          new Field("kind", DataType.INT8, false));
  private static final int KIND = 3;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  // The number of rows is not the first accumulator.
  private static StateSchema schema(List<Integer> keys) {
    List<Accumulator> accumulators =
        List.of(
            new Accumulator("sum", Function.SUM, 2),
            Accumulator.countRows("rows"),
            new Accumulator("values", Function.COUNT, 2));
    return new StateSchema(INPUT, keys, accumulators, KIND);
  }

  private Table batch(Random random, int rows) {
    List<List<?>> values = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      ChangeKind kind = random.nextBoolean() ? ChangeKind.INSERT : ChangeKind.DELETE;
      long key = random.nextInt(600);
      String string = key % 3 == 0 ? "a string of more than 12 bytes " + key : "key " + key;
      values.add(List.of(key, string, random.nextLong(3), kind.value()));
    }
    return TableBuilder.ofRows(INPUT, values).build(device);
  }

  private StateTable table(StateSchema schema, MemoryResource memory) {
    return new StateTable(schema, device.stream(), memory);
  }

  private void fill(StateTable table) {
    Random random = seed.random();
    for (int i = 0; i < 5; i++) {
      try (Table batch = batch(random, 700);
          Table changes = table.update(batch)) {
        assertThat(changes.rowCount()).isPositive();
      }
    }
  }

  private List<List<Object>> rows(StateTable table) {
    try (Table values = table.values(0, (int) table.rowCount(), List.of())) {
      return device.rows(values);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void rowsWithAnAccumulatorOtherThanZeroMove(int key) {
    StateSchema schema = schema(List.of(key));
    try (StateTable table = table(schema, device.memory());
        StateTable other = table(schema, device.memory())) {
      fill(table);
      List<List<Object>> all = rows(table);
      List<List<Object>> present =
          all.stream()
              .filter(row -> row.subList(1, 4).stream().anyMatch(word -> (long) word != 0))
              .toList();
      assertThat(present).hasSizeBetween(1, all.size() - 1);
      assertThat(present).as("counts below zero").anyMatch(row -> (long) row.get(2) < 0);
      assertThat(present).as("counts of zero").anyMatch(row -> (long) row.get(2) == 0);
      int counted = 0;
      for (int row = 0; row < all.size(); row += 100) {
        int count = Math.min(100, all.size() - row);
        counted +=
            LiveRows.countNonZero(
                table, row, count, schema.firstAccumulator(), schema.accumulatorWords());
        LiveRows.copyNonZero(
            table, row, count, schema.firstAccumulator(), schema.accumulatorWords(), other);
      }
      assertThat(counted).isEqualTo(present.size());
      assertThat(rows(other)).isEqualTo(present);
      try (Table batch = batch(seed.random(), 700);
          Table changes = table.update(batch);
          Table ofOther = other.update(batch)) {
        assertThat(device.rows(ofOther)).isEqualTo(device.rows(changes));
      }
    }
  }

  @Test
  void eachRefusedRequestForMemoryLeavesTheTablesAsTheyWere() {
    StateSchema schema = schema(List.of(1));
    try (StateTable table = table(schema, device.memory())) {
      fill(table);
      int count = (int) Math.min(table.rowCount(), table.chunkRows());
      AtomicInteger left = new AtomicInteger();
      MemoryResource failing =
          new FailingResourceAdaptor(device.memory(), (n, bytes) -> left.decrementAndGet() == 0);
      int refused = 0;
      for (boolean failed = true; failed; refused++) {
        try (StateTable other = table(schema, failing)) {
          left.set(refused + 1);
          failed = !moves(table, count, other);
          assertThat(other.rowCount() == 0).isEqualTo(failed);
        }
      }
      assertThat(refused).isGreaterThan(2);
    }
  }

  private static boolean moves(StateTable table, int count, StateTable other) {
    StateSchema schema = table.schema();
    try {
      LiveRows.copyNonZero(
          table, 0, count, schema.firstAccumulator(), schema.accumulatorWords(), other);
      return true;
    } catch (GpuOutOfMemoryException e) {
      return false;
    }
  }
}

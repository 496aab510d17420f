// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.concatenate.Concatenate;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tables that are updated with the accumulators of other tables are as if they had the rows. */
class TwoPhaseTest {
  private static final Schema INPUT =
      Schema.of(
          new Field("name", DataType.STRING, true),
          new Field("id", DataType.INT8, false),
          new Field("x", DataType.FLOAT64, true),
          new Field("i", DataType.INT16, true),
          new Field("d9", DataType.decimal(9, 2), true),
          new Field("d18", DataType.decimal(18, 4), false),
          new Field("d38", DataType.decimal(38, 0), true),
          new Field("at", DataType.timestamp(6), true),
          new Field("kind", DataType.INT8, false));
  private static final List<Accumulator> SUMS =
      List.of(
          Accumulator.countRows("rows"),
          new Accumulator("n", Function.COUNT, 2),
          new Accumulator("i", Function.SUM, 3),
          new Accumulator("d9", Function.SUM, 4),
          new Accumulator("d18", Function.SUM, 5),
          new Accumulator("d38", Function.SUM, 6));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static StateSchema ofRows(Accumulator... further) {
    List<Accumulator> all = new ArrayList<>(List.of(further));
    all.addAll(SUMS);
    for (int column : new int[] {2, 3, 5, 7}) {
      all.add(new Accumulator("low" + column, Function.MIN, column));
      all.add(new Accumulator("high" + column, Function.MAX, column));
    }
    return new StateSchema(INPUT, List.of(0, 1), all, StateSchema.NO_KINDS);
  }

  private static StateSchema ofChanges() {
    return new StateSchema(INPUT, List.of(1, 0), SUMS, 8);
  }

  private StateTable table(StateSchema schema) {
    return new StateTable(schema, device.stream(), device.memory());
  }

  private Table randomBatch(int count) {
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(INPUT, count);
    for (int i = 0; i < count; i++) {
      int key = random.random().nextInt(count);
      rows.get(i).set(0, rows.get(key).get(0));
      rows.get(i).set(1, (byte) (key % 3));
      rows.get(i).set(8, (byte) (random.random().nextInt(3) == 0 ? 3 : 0));
    }
    return TableBuilder.ofRows(INPUT, rows).build(device);
  }

  private Table partials(StateSchema schema, Table batch) {
    try (StateTable table = table(schema.ofFirstPhase())) {
      table.accumulate(batch);
      Table partials = table.partials(0, (int) table.rowCount());
      assertThat(partials.schema()).isEqualTo(schema.ofSecondPhase().partials());
      return partials;
    }
  }

  @RowCountTest
  void theSecondPhaseHasTheChangesAndTheWordsOfOnePhase(int rowCount) {
    int rows = Math.min(rowCount, 3_000);
    assertSame(ofRows(), null, rows);
    assertSame(ofChanges(), null, rows);
    assertSame(ofRows(Accumulator.updateTime("time")), UpdateTime.of(1_000, 100), rows);
  }

  private void assertSame(StateSchema schema, UpdateTime time, int rows) {
    try (StateTable onePhase = table(schema);
        StateTable twoPhases = table(schema.ofSecondPhase())) {
      for (int i = 0; i < 3; i++) {
        try (Table batch = randomBatch(rows);
            Table half = batch.slice(0, rows / 2);
            Table otherHalf = batch.slice(rows / 2, rows - rows / 2);
            Table first = partials(schema, half);
            Table second = partials(schema, otherHalf);
            Table both =
                Concatenate.concatenate(
                    first.schema(), List.of(first, second), device.stream(), device.memory());
            Table expected = onePhase.update(batch, time);
            Table changes = twoPhases.update(both, time)) {
          assertThat(changes.schema()).isEqualTo(expected.schema());
          assertThat(device.rows(changes)).isEqualTo(device.rows(expected));
        }
      }
      assertThat(words(twoPhases)).isEqualTo(words(onePhase));
    }
  }

  private List<Long> words(StateTable table) {
    try (StateSnapshot snapshot = table.snapshot()) {
      return SnapshotWords.of(snapshot, device);
    }
  }

  @Test
  void valuesInTheOrderOfRowsAreRefused() {
    StateSchema schema =
        new StateSchema(
            INPUT,
            List.of(1),
            List.of(new Accumulator("x", Function.SUM, 2)),
            StateSchema.NO_KINDS);
    assertThatThrownBy(schema::ofSecondPhase)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected accumulators that do not depend on the order of rows, got SUM 'x'");
  }

  @Test
  void timesBelongToTheSecondPhase() {
    try (StateTable table = table(ofRows(Accumulator.updateTime("time")))) {
      assertThatThrownBy(() -> table.partials(0, 0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("expected a table of the first phase: its rows have no time");
    }
  }
}

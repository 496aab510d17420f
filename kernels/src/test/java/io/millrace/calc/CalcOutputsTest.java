// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calcs that run out of memory or whose results are too large. */
class CalcOutputsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  private final Bids bids = new Bids(device);

  @Test
  void theColumnsMadeSoFarAreClosedIfOneCannotBePassedOn() {
    DataType list = DataType.list(DataType.INT32);
    try (Table whole =
        new TableBuilder()
            .column("x", DataType.INT32, 1, 2)
            .column("list", list, List.of(1, 2), null)
            .build(device)) {
      List<Column> columns = whole.columns().stream().map(Column::share).toList();
      Table table = new Table(whole.schema(), columns, 2);
      columns.get(1).close();
      assertThatThrownBy(
              () ->
                  bids.apply(
                      table, Optional.empty(), col("x").plus(1).as("y"), col("x"), col("list")))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
      table.close();
    }
  }

  @Test
  void anAllocationThatFailsLeavesNothingHeld() {
    try (Table table = bids.table()) {
      Calc calc =
          Bids.calc(
              table,
              Optional.of(col("price").gt(100L)),
              call("CONCAT", col("name"), "!").as("text"),
              col("ratio"));
      long failed = 0;
      for (boolean fails = true; fails; failed += fails ? 1 : 0) {
        FailingResourceAdaptor memory = FailingResourceAdaptor.nth(device.memory(), failed + 1);
        try {
          calc.apply(table, device.stream(), memory).close();
          fails = false;
        } catch (GpuOutOfMemoryException e) {
          device.stream().synchronize();
          assertThat(device.heldBytes()).isEqualTo(table.sizeInBytes());
        }
      }
      assertThat(failed).isGreaterThan(3);
    }
  }

  @Test
  void aTableWhoseResultDoesNotFitIsCalculatedInParts() {
    Object[] texts = Collections.nCopies(64, "x".repeat(16 << 10)).toArray();
    try (Table table = new TableBuilder().column("x", DataType.STRING, texts).build(device)) {
      Calc calc =
          Bids.calc(
              table,
              Optional.of(col("x").isNotNull()),
              call("CHAR_LENGTH", col("x").coalesce("")).as("length"),
              call("REPEAT", col("x"), 64).as("long"));
      MemoryResource memory = new LimitingResourceAdaptor(device.memory(), 24 << 20);
      assertThat(rowsOfParts(calc, table, memory))
          .hasSizeGreaterThan(2)
          .hasSizeLessThan(16)
          .satisfies(
              parts -> assertThat(parts.stream().mapToInt(rows -> rows).sum()).isEqualTo(64));
    }
  }

  /** The row counts of the results, for a table or for its halves if it does not fit. */
  private List<Integer> rowsOfParts(Calc calc, Table table, MemoryResource memory) {
    try (Table result = calc.apply(table, device.stream(), memory)) {
      return List.of(result.rowCount());
    } catch (GpuOutOfMemoryException e) {
      device.stream().synchronize();
      List<Integer> rows = new ArrayList<>();
      List<Table> halves = table.halves();
      halves.forEach(half -> rows.addAll(rowsOfParts(calc, half, memory)));
      halves.forEach(Table::close);
      return rows;
    }
  }

  @Test
  void aColumnOfOver2GiBRequestsASplit() {
    String text = "x".repeat(1 << 20);
    try (Table table =
        new TableBuilder().column("x", DataType.INT32, new Object[2048]).build(device)) {
      assertThatThrownBy(
              () ->
                  bids.apply(
                      table,
                      Optional.empty(),
                      new Expression.Case(List.of(col("x").isNull()), List.of(lit(text), lit("")))
                          .as("text")))
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessageContaining("2 GiB of bytes in a column, got");
    }
  }

  @Test
  void aResultOfOver2GiBFailsItsRow() {
    try (Table table =
        new TableBuilder().column("x", DataType.STRING, "", null, "ab", "ä").build(device)) {
      Expression padded = call("CAST_CHAR", col("x"), Integer.MAX_VALUE);
      assertThatThrownBy(
              () -> bids.apply(table, Optional.of(col("x").isEqual("ä")), padded.as("text")))
          .isInstanceOf(EvaluationException.class)
          .hasMessage(
              "the result exceeds 2 GiB in CAST(x AS CHAR(2147483647)) at row 3:"
                  + " values 'ä', 2147483647");
      assertThatThrownBy(
              () ->
                  bids.apply(
                      table, Optional.empty(), call("REPEAT", col("x"), 2_000_000_000).as("text")))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining(" at row 2: values 'ab', 2000000000");
    }
  }
}

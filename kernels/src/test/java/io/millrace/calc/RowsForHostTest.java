// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.host.HostEvaluator;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.BatchContext;
import io.millrace.expression.vector.HostVector;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Rows that a device leaves to the host are merged in input order, whatever values the device
 * computed for them.
 */
class RowsForHostTest {
  private static final BatchContext BATCH = new BatchContext(1_700_000_000_000L, 0, 1, 100);
  private static final int RUNS = 60;
  private static final int MAX_ROWS = 1500;
  // Lower-case letters beyond the Basic Multilingual Plane, which a device does not map.
  private static final String WIDE_LETTER = "\ud801\udc28";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** A device that computes wrong values for the rows left to the host. */
  private DevicePart imprecise(Calc calc, Table other, BitSet rowsForHost) {
    return (numbersRows, input, schema, stream, memory) -> {
      List<TypedExpression> computed = new ArrayList<>(calc.projections());
      if (numbersRows) {
        computed.add(new RowNumber());
      }
      try (Table host = device.copyToHost(other);
          AccessScope scope = AccessScope.on(device.hostStream());
          Table result =
              new HostEvaluator(calc.condition().orElse(null), computed, HostVector.CAPACITY)
                  .evaluate(host, BATCH, schema, scope, device.hostMemory())) {
        Table copy = result.copyTo(memory, stream, stream);
        stream.synchronize();
        return new DevicePart.Result(copy, rowsForHost);
      }
    };
  }

  @Test
  void theRowsOfBothComeInTheOrderOfTheInput() {
    Schema schema = DataTypes.schema(DataTypes.flat());
    List<Expression> columns = new ArrayList<>();
    for (Field field : schema.fields()) {
      columns.add(col(field.name()));
    }
    Field text =
        schema.fields().stream()
            .filter(field -> field.type().equals(DataType.STRING))
            .findFirst()
            .orElseThrow();
    columns.add(call("UPPER", col(text.name())).as("upper"));
    Calc filter =
        Calc.of(
            schema, Optional.of(col(schema.names().get(0))), columns, ResolutionContext.DEFAULT);
    List<Expression> computed = new ArrayList<>();
    for (Field field : schema.fields()) {
      Expression value = col(field.name());
      computed.add(
          new Expression.Case(
                  List.of(value.isNotNull()), List.of(value, Expressions.nullOf(field.type())))
              .as(field.name()));
    }
    Calc all = Calc.of(schema, Optional.empty(), computed, ResolutionContext.DEFAULT);
    RandomTables values = new RandomTables(random.random(), 0.2);
    for (int run = 0; run < RUNS; run++) {
      int rows = 2 + random.random().nextInt(MAX_ROWS);
      List<List<Object>> right = values.rows(schema, rows);
      assertMerged(run % 2 == 0 ? filter : all, right, values.rows(schema, rows));
    }
  }

  private void assertMerged(Calc calc, List<List<Object>> right, List<List<Object>> wrong) {
    Random numbers = random.random();
    int rows = right.size();
    BitSet rowsForHost = new BitSet();
    int most = 1 + numbers.nextInt(rows / 2);
    for (int i = 0; i < most; i++) {
      rowsForHost.set(numbers.nextInt(rows));
    }
    List<List<Object>> mixed = new ArrayList<>(right);
    rowsForHost.stream().forEach(row -> mixed.set(row, wrong.get(row)));
    try (Table table = TableBuilder.ofRows(calc.inputSchema(), right).build(device);
        Table other = TableBuilder.ofRows(calc.inputSchema(), mixed).build(device);
        Table expected = calc.apply(table, device.stream(), device.memory());
        Table merged = evaluate(calc, table, other, rowsForHost).orElseThrow()) {
      assertThat(device.rows(merged)).isEqualTo(device.rows(expected));
      assertThat(merged.schema()).isEqualTo(calc.outputSchema());
    }
  }

  private Optional<Table> evaluate(Calc calc, Table table, Table other, BitSet rowsForHost) {
    return calc.computed()
        .evaluate(
            imprecise(calc, other, rowsForHost), table, BATCH, device.stream(), device.memory());
  }

  @Test
  void aFailingRowIsReportedByItsInputPosition() {
    Object[] divisors = Collections.nCopies(100, 1).toArray();
    try (Table other = new TableBuilder().column("y", DataType.INT32, divisors).build(device)) {
      divisors[70] = 0;
      divisors[90] = 0;
      try (Table table = new TableBuilder().column("y", DataType.INT32, divisors).build(device)) {
        for (Optional<Expression> condition :
            List.of(Optional.<Expression>empty(), Optional.of(col("y").lt(5)))) {
          Calc calc =
              Calc.of(
                  table.schema(),
                  condition,
                  List.of(Expressions.lit(7).dividedBy(col("y")).as("q")),
                  ResolutionContext.DEFAULT);
          BitSet rowsForHost = new BitSet();
          List.of(3, 70, 90).forEach(rowsForHost::set);
          assertThatThrownBy(() -> evaluate(calc, table, other, rowsForHost))
              .isInstanceOfSatisfying(
                  EvaluationException.class, failure -> assertThat(failure.row()).isEqualTo(70))
              .hasMessage("division by zero in (7 / y) at row 70: values 7, 0");
        }
      }
    }
  }

  @Test
  void ifMostRowsNeedTheHostItEvaluatesAll() {
    try (Table table = new TableBuilder().column("x", DataType.INT32, 1, 2, 3).build(device)) {
      Calc calc = Bids.calc(table, Optional.empty(), col("x").plus(1).as("y"));
      BitSet rowsForHost = new BitSet();
      rowsForHost.set(0, 2);
      assertThat(evaluate(calc, table, table, rowsForHost)).isEmpty();
    }
  }

  @Test
  void whenMemoryRunsOutNothingIsHeld() {
    try (Table table =
        new TableBuilder()
            .column("x", DataType.STRING, "a", null, "ß", "d")
            .column("y", DataType.INT32, 1, 2, 3, null)
            .build(device)) {
      Calc calc =
          Bids.calc(table, Optional.of(col("y").gt(0)), call("UPPER", col("x")).as("u"), col("y"));
      BitSet rowsForHost = new BitSet();
      rowsForHost.set(2);
      DevicePart part = imprecise(calc, table, rowsForHost);
      long failed = 0;
      for (boolean fails = true; fails; failed += fails ? 1 : 0) {
        FailingResourceAdaptor memory = FailingResourceAdaptor.nth(device.memory(), failed + 1);
        try {
          calc.computed()
              .evaluate(part, table, BATCH, device.stream(), memory)
              .orElseThrow()
              .close();
          fails = false;
        } catch (GpuOutOfMemoryException e) {
          device.stream().synchronize();
          assertThat(device.heldBytes()).isEqualTo(table.sizeInBytes());
        }
      }
      assertThat(failed).isGreaterThan(10);
    }
  }

  /** On a GPU the kernel lists the rows; counts launches. */
  @Test
  void aDeviceLeavesOnlySomeRowsToTheHost() {
    int rows = 100_000;
    Object[] texts = new Object[rows];
    Object[] numbers = new Object[rows];
    Object[] lists = new Object[rows];
    for (int row = 0; row < rows; row++) {
      boolean isWide = row % 997 == 0;
      texts[row] = row % 13 == 0 ? null : "straße " + (isWide ? WIDE_LETTER : "") + row;
      numbers[row] = row;
      lists[row] = List.of(row);
    }
    try (Table table =
            new TableBuilder()
                .column("x", DataType.STRING, texts)
                .column("n", DataType.INT32, numbers)
                .column("l", DataType.list(DataType.INT32), lists)
                .build(device);
        Table all =
            device.assertLaunches(
                3,
                () ->
                    new Bids(device)
                        .apply(
                            table, Optional.empty(), call("UPPER", col("x")).as("u"), col("l")));
        Table kept =
            device.assertLaunches(
                5,
                () ->
                    new Bids(device)
                        .apply(
                            table,
                            Optional.of(col("n").mod(3).isEqual(0)),
                            call("UPPER", col("x")).as("u"),
                            col("n"),
                            col("l")))) {
      List<List<Object>> expectedOfAll = new ArrayList<>();
      List<List<Object>> expected = new ArrayList<>();
      for (int row = 0; row < rows; row++) {
        Object upper = texts[row] == null ? null : upper((String) texts[row]);
        expectedOfAll.add(Arrays.asList(upper, lists[row]));
        if (row % 3 == 0) {
          expected.add(Arrays.asList(upper, row, lists[row]));
        }
      }
      assertThat(device.rows(all)).isEqualTo(expectedOfAll);
      assertThat(device.rows(kept)).isEqualTo(expected);
    }
  }

  private static String upper(String text) {
    return text.toUpperCase(Locale.ROOT);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.DeferredRowCount;
import io.millrace.column.Table;
import io.millrace.device.DeferredDevice;
import io.millrace.device.DeviceStream;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.CudaAsyncMemoryResource;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CalcTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  private final Bids bids = new Bids(device);

  @Test
  void keepsTheRowsForWhichTheConditionIsTrueInTheirOrder() {
    try (Table table = bids.table();
        Table result =
            bids.apply(
                table,
                Optional.of(col("price").gt(100L)),
                col("name"),
                col("price").times(2L).as("twice"),
                col("ratio").plus(200.0).as("sum"))) {
      assertThat(device.rows(result))
          .containsExactly(Arrays.asList("b", 400L, 200.5), Arrays.asList(null, 600L, null));
    }
  }

  @Test
  void sharesNothingAmongChunksOfRows() {
    int rows = 5_000;
    Object[] numbers = IntStream.range(0, rows).mapToObj(i -> i % 7 == 0 ? null : i).toArray();
    try (Table table = new TableBuilder().column("x", DataType.INT32, numbers).build(device);
        Table result =
            bids.apply(
                table,
                Optional.of(col("x").mod(2).isEqual(0).or(col("x").isNull())),
                col("x").coalesce(-1).as("y"))) {
      List<List<Object>> expected = new ArrayList<>();
      for (int i = 0; i < rows; i++) {
        if (i % 7 == 0) {
          expected.add(List.of(-1));
        } else if (i % 2 == 0) {
          expected.add(List.of(i));
        }
      }
      assertThat(device.rows(result)).isEqualTo(expected);
    }
  }

  @Test
  void aFilterWithItsProjectionsIsOneLaunchAndLeavesTheRowCountOnTheDevice() {
    try (Table table = bids.table()) {
      long before = device.device().launchCount();
      try (Table result =
          bids.apply(
              table,
              Optional.of(col("price").gt(100L)),
              col("price").times(2).as("twice"),
              col("name").coalesce("?").as("name"),
              col("price").times(2).plus(1).as("more"))) {
        long launches = device.device().launchCount() - before;
        assertThat(launches).isEqualTo(device.isCuda() ? 1 : 0);
        assertThat(result.rowCountUpperBound()).isEqualTo(device.isCuda() ? 4 : 2);
        assertThat(result.deviceRowCount().isPresent()).isEqualTo(device.isCuda());
        assertThat(device.rows(result))
            .containsExactly(List.of(400L, "b", 401L), List.of(600L, "?", 601L));
      }
    }
  }

  @Test
  void anAdditionalColumnIsPassedThroughAfterTheProjections() {
    Field ratio = Field.of("ratio", DataType.FLOAT64);
    for (Optional<Expression> condition :
        List.of(Optional.<Expression>empty(), Optional.of(col("price").gt(100L)))) {
      try (Table table = bids.table();
          Table narrow = table.select(List.of("name", "price"));
          Calc calc =
              Bids.calc(narrow, condition, col("price").times(2L).as("twice"), col("name"));
          Calc wide = calc.withLastColumn(ratio);
          Table result = wide.apply(table, device.stream(), device.memory())) {
        assertThat(wide.outputSchema().names()).containsExactly("twice", "name", "ratio");
        assertThat(device.rows(result))
            .hasSize(condition.isPresent() ? 2 : 4)
            .contains(Arrays.asList(400L, "b", 0.5), Arrays.asList(600L, null, null));
      }
    }
  }

  @Test
  void aCalcOfACalcsResultReadsTheRowCountOnTheDevice() {
    try (Table table = bids.table();
        Table first =
            bids.apply(table, Optional.of(col("price").gt(100L)), col("name"), col("price"));
        Table second =
            bids.apply(first, Optional.of(col("name").isNotNull()), col("price"), col("name"))) {
      assertThat(device.rows(second)).containsExactly(List.of(200L, "b"));
    }
  }

  @Test
  void projectionsOfACalcsResultHaveItsRows() {
    try (Table table = bids.table();
        Table first =
            bids.apply(table, Optional.of(col("price").gt(100L)), col("name"), col("price"));
        Table second = bids.apply(first, Optional.empty(), col("price").plus(1L).as("more"))) {
      assertThat(second.rowCount()).isEqualTo(2);
      assertThat(device.rows(second)).containsExactly(List.of(201L), List.of(301L));
    }
  }

  @Test
  void projectionsOfACalcsResultLeaveTheRowCountOnTheDevice() {
    try (Table table = bids.table();
        Table first =
            bids.apply(table, Optional.of(col("price").gt(100L)), col("name"), col("price"));
        Table second =
            bids.apply(first, Optional.empty(), col("price").plus(1L).as("more"), col("name"))) {
      assertThat(second.deviceRowCount().isPresent()).isEqualTo(device.isCuda());
      assertThat(device.rows(second))
          .containsExactly(List.of(201L, "b"), Arrays.asList(301L, null));
    }
  }

  @Test
  void columnsOfATableWhoseRowsTheDeviceHasNotCountedArePassedOnWithoutAWait() {
    DeferredDevice deferred = new DeferredDevice();
    MemoryResource memory = new CudaAsyncMemoryResource(deferred);
    try (Table all = bids.table();
        Table host = device.copyToHost(all);
        DeviceStream stream = deferred.createStream()) {
      DeferredRowCount count = new DeferredRowCount(4, stream, memory);
      count.written();
      try (Table table = host.copyTo(memory, stream, stream);
          Table counted =
              new Table(
                  table.schema(), table.columns().stream().map(Column::share).toList(), count);
          Table result =
              Bids.calc(counted, Optional.empty(), col("ratio"), col("name").as("who"))
                  .apply(counted, stream, memory)) {
        assertThat(result.isRowCountKnown()).isFalse();
        assertThat(result.schema().names()).containsExactly("ratio", "who");
      }
    }
  }

  @Test
  void aConditionWithoutProjectionsKeepsRowsWithoutColumns() {
    try (Table table = bids.table();
        Table result = bids.apply(table, Optional.of(col("price").gt(100L)))) {
      assertThat(result.columnCount()).isZero();
      assertThat(result.rowCount()).isEqualTo(2);
    }
  }

  @Test
  void manyScratchMemoriesGoToTheHost() {
    List<Expression> projections = new ArrayList<>();
    for (int i = 0; i < 110; i++) {
      Expression text = call("UPPER", call("CONCAT", col("name"), lit(String.valueOf(i))));
      projections.add(text.as("c" + i));
    }
    try (Table table = bids.table()) {
      Calc calc = Calc.of(table.schema(), Optional.empty(), projections, ResolutionContext.DEFAULT);
      assertThat(calc.hostReasons()).isNotEmpty();
    }
  }

  @Test
  void columnsPassAConditionWithTheBitsOfTheirNaN() {
    int bits = 0x7fc00001;
    try (Table table =
            new TableBuilder()
                .column("x", DataType.FLOAT32, Float.intBitsToFloat(bits))
                .build(device);
        Table result = bids.apply(table, Optional.of(col("x").isNotNull()), col("x"))) {
      float value = (Float) device.rows(result).get(0).get(0);
      assertThat(Float.floatToRawIntBits(value)).isEqualTo(bits);
    }
  }

  @Test
  void anEmptyTableHasAnEmptyResult() {
    try (Table table =
            new TableBuilder().column("x", DataType.STRING, new Object[0]).build(device);
        Table all = bids.apply(table, Optional.empty(), col("x").upperCase().as("y"));
        Table some = bids.apply(table, Optional.of(col("x").isNull()), col("x"))) {
      assertThat(device.rows(all)).isEmpty();
      assertThat(device.rows(some)).isEmpty();
    }
  }

  @Test
  void nestedColumnsPassAConditionByTheirRows() {
    DataType list = DataType.list(DataType.INT32);
    try (Table table =
            new TableBuilder()
                .column("x", DataType.INT32, 1, 2, 3)
                .column("list", list, List.of(1, 2), null, List.of())
                .build(device);
        Table kept =
            bids.apply(table, Optional.of(col("x").isNotEqual(2)), col("list"), col("x").as("y"));
        Table all = bids.apply(table, Optional.empty(), col("x").negate().as("y"), col("list"))) {
      assertThat(device.rows(kept))
          .containsExactly(List.of(List.of(1, 2), 1), List.of(List.of(), 3));
      assertThat(device.rows(all))
          .containsExactly(
              List.of(-1, List.of(1, 2)), Arrays.asList(-2, null), List.of(-3, List.of()));
    }
  }

  @Test
  void unsupportedFunctionsRunOnTheHost() {
    try (Table table =
            new TableBuilder().column("x", DataType.STRING, "abc", "straße", null).build(device);
        Table result =
            bids.apply(table, Optional.of(col("x").isNotNull()), col("x").upperCase().as("y"))) {
      assertThat(device.rows(result)).containsExactly(List.of("ABC"), List.of("STRASSE"));
    }
  }

  @Test
  void logicHasThreeValues() {
    try (Table table =
            new TableBuilder().column("x", DataType.BOOL, true, false, null).build(device);
        Table result =
            bids.apply(
                table,
                Optional.empty(),
                col("x").or(true).as("orTrue"),
                col("x").and(false).as("andFalse"),
                col("x").and(nullOf(DataType.BOOL)).as("andNull"),
                col("x").not().as("not"),
                call("IS NOT TRUE", col("x")).as("isNotTrue"))) {
      assertThat(device.rows(result))
          .containsExactly(
              Arrays.asList(true, false, null, false, false),
              Arrays.asList(true, false, false, true, true),
              Arrays.asList(true, false, null, null, true));
    }
  }

  @Test
  void aDivisionByZeroFailsOnlyForRowsThatAreEvaluated() {
    try (Table table =
        new TableBuilder()
            .column("x", DataType.INT32, 8, 7, 6)
            .column("y", DataType.INT32, 2, 0, 3)
            .build(device)) {
      Expression quotient = col("x").dividedBy(col("y"));
      try (Table result =
          bids.apply(
              table,
              Optional.empty(),
              new Expression.Case(List.of(col("y").isNotEqual(0)), List.of(quotient, lit(-1)))
                  .as("q"))) {
        assertThat(device.rows(result)).containsExactly(List.of(4), List.of(-1), List.of(2));
      }
      try (Table result = bids.apply(table, Optional.of(col("y").gt(0)), quotient.as("q"))) {
        assertThat(device.rows(result)).containsExactly(List.of(4), List.of(2));
      }
      assertThatThrownBy(() -> bids.apply(table, Optional.empty(), quotient.as("q")))
          .isInstanceOfSatisfying(
              EvaluationException.class, failure -> assertThat(failure.row()).isEqualTo(1))
          .hasMessage("division by zero in (x / y) at row 1: values 7, 0");
    }
  }

  @Test
  void refusesInvalidExpressionsAndSuggestsTheNearestName() {
    try (Table table = bids.table()) {
      assertThatThrownBy(() -> bids.apply(table, Optional.empty(), col("prise")))
          .hasMessageStartingWith("there is no column 'prise'; did you mean 'price'?");
      assertThatThrownBy(() -> bids.apply(table, Optional.empty(), call("COALESC", col("price"))))
          .hasMessage("there is no function COALESC; did you mean 'COALESCE'?");
      assertThatThrownBy(() -> bids.apply(table, Optional.of(col("price")), col("name")))
          .hasMessage("a condition is BOOLEAN, but `price` is BIGINT");
      assertThatThrownBy(() -> bids.apply(table, Optional.empty(), col("name").plus(1)))
          .hasMessageContaining("name is STRING; + takes (TINYINT, TINYINT) or ");
      assertThatThrownBy(() -> bids.apply(table, Optional.empty(), call("RAND")))
          .hasMessageStartingWith("RAND(): its value belongs to a batch");
    }
  }
}

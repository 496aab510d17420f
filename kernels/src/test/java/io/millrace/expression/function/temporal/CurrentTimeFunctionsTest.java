// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.calc.CalcProgramWriter;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.PtxAssembler;
import io.millrace.expression.Expression;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.vector.BatchContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Functions of the clock and of the watermark, which kernels take as arguments. */
class CurrentTimeFunctionsTest {
  private static final ResolutionContext CONTEXT =
      new ResolutionContext(ZoneId.of("Asia/Tokyo"), FunctionRegistry.builtIn()).withBatch();
  private static final Schema SCHEMA = Schema.of(Field.of("a", DataType.INT64));
  private static final Instant TIME = Instant.parse("2026-03-29T15:30:20.456Z");
  private static final DataType INSTANT = DataType.timestamp(3, true);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static BatchContext batch(long watermark) {
    return new BatchContext(TIME.toEpochMilli(), watermark, 0, 0);
  }

  private static Calc calc(Optional<Expression> condition, Expression... projections) {
    List<Expression> columns = new ArrayList<>();
    for (Expression projection : projections) {
      columns.add(projection.as("c" + columns.size()));
    }
    return Calc.of(SCHEMA, condition, columns, CONTEXT);
  }

  /** The rows of a calc of a table with the values 1 to {@code rows}. */
  private List<List<Object>> apply(Calc calc, int rows, BatchContext batch) {
    Object[] values = new Object[rows];
    for (int i = 0; i < rows; i++) {
      values[i] = i + 1L;
    }
    try (calc;
        Table table = new TableBuilder().column("a", DataType.INT64, values).build(device);
        Table result =
            device.assertLaunches(
                () -> calc.apply(table, batch, device.stream(), device.memory()))) {
      List<List<Object>> read = device.rows(result);
      device.stream().synchronize();
      return read;
    }
  }

  private Object value(Expression expression, BatchContext batch) {
    return apply(calc(Optional.empty(), expression), 1, batch).get(0).get(0);
  }

  @Test
  void functionsOfTheClockGiveTheTimeOfTheBatchInTheSessionZone() {
    BatchContext batch = batch(0);
    for (String name : List.of("CURRENT_TIMESTAMP", "NOW", "CURRENT_ROW_TIMESTAMP", "PROCTIME")) {
      assertThat(value(call(name), batch)).as(name).isEqualTo(TIME);
    }
    assertThat(value(call("PROCTIME_MATERIALIZE", nullOf(INSTANT)), batch)).isEqualTo(TIME);
    assertThat(value(call("LOCALTIMESTAMP"), batch))
        .isEqualTo(LocalDateTime.parse("2026-03-30T00:30:20.456"));
    assertThat(value(call("CURRENT_DATE"), batch)).isEqualTo(LocalDate.parse("2026-03-30"));
    for (String name : List.of("LOCALTIME", "CURRENT_TIME")) {
      assertThat(value(call(name), batch)).as(name).isEqualTo(LocalTime.parse("00:30:20.456"));
    }
    assertThat(value(call("UNIX_TIMESTAMP"), batch)).isEqualTo(TIME.getEpochSecond());
  }

  @Test
  void allRowsOfABatchHaveOneTime() {
    List<List<Object>> rows = apply(calc(Optional.empty(), call("NOW"), col("a")), 3_000, batch(0));

    assertThat(rows).hasSize(3_000).allMatch(row -> row.get(0).equals(TIME));
  }

  @Test
  void conditionsReadTheClock() {
    Expression recent =
        call("TIMESTAMPADD", "SECOND", col("a"), nullOf(INSTANT).coalesce(TIME))
            .gt(call("TIMESTAMPADD", "SECOND", 2, call("CURRENT_TIMESTAMP")));

    assertThat(apply(calc(Optional.of(recent), col("a")), 5, batch(0)))
        .containsExactly(List.of(3L), List.of(4L), List.of(5L));
  }

  @Test
  void theWatermarkHasTheTypeOfItsArgumentAndIsNullBeforeTheFirst() {
    Expression local = call("CURRENT_WATERMARK", nullOf(DataType.timestamp(9)));
    Expression instant = call("CURRENT_WATERMARK", nullOf(INSTANT));
    long watermark = -1;

    assertThat(value(local, batch(watermark)))
        .isEqualTo(LocalDateTime.parse("1969-12-31T23:59:59.999"));
    assertThat(value(instant, batch(watermark))).isEqualTo(Instant.ofEpochMilli(watermark));
    assertThat(value(instant, batch(BatchContext.NO_WATERMARK))).isNull();
    assertThat(value(instant.isNull(), batch(BatchContext.NO_WATERMARK))).isEqualTo(true);
  }

  @Test
  void kernelsTakeTheTimeAsAnArgument() {
    try (Calc calc =
        calc(
            Optional.of(call("LOCALTIME").isNotNull()),
            call("CURRENT_DATE"),
            call("UNIX_TIMESTAMP"),
            call("CURRENT_WATERMARK", nullOf(INSTANT)))) {
      String ptx =
          CalcProgramWriter.write(
                  calc.condition().orElseThrow(), calc.projections(), true, PtxLibrary.builtIn())
              .ptx();

      assertThat(calc.hostReasons()).isEmpty();
      assertThat(PtxAssembler.errorsForOneArchitecture(ptx)).isEmpty();
    }
  }

  @Test
  void fusedCalcsHaveTheTimeOfTheirBatch() {
    try (Calc first = calc(Optional.empty(), call("NOW"));
        Calc second =
            Calc.of(first.outputSchema(), Optional.empty(), List.of(col("c0")), CONTEXT)) {
      Calc fused = first.andThen(second);

      assertThat(fused.readsBatch()).isTrue();
      assertThat(apply(fused, 1, batch(0))).containsExactly(List.of(TIME));
    }
  }

  @Test
  void aCalcThatReadsTheClockIsNotAppliedWithout() {
    try (Calc calc = calc(Optional.empty(), call("NOW"));
        Table table = new TableBuilder().column("a", DataType.INT64, 1L).build(device)) {
      assertThatThrownBy(() -> calc.apply(table, device.stream(), device.memory()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("the calc needs the time of the batch, which is not passed");
    }
    assertThatThrownBy(
            () ->
                Calc.of(SCHEMA, Optional.empty(), List.of(call("NOW")), ResolutionContext.DEFAULT))
        .hasMessage(
            "NOW(): its value belongs to a batch, which is not known here: select it as a column"
                + " first; NOW takes (), not ()");
  }
}

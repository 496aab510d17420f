// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.function.HostAggregateFunction;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import java.math.BigDecimal;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What user-defined functions are given and give. */
@ExtendWith(NothingHeldExtension.class)
class AggregateFunctionTest {
  private static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.INT32),
          Field.of("x", DataType.INT64),
          Field.of("w", DataType.INT32));
  private static final Schema CHANGES = RowKindColumn.addTo(ROWS);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static GroupAggregatePlan plan(Schema input, Aggregate... aggregates) {
    return plan(input, "k", aggregates);
  }

  private static GroupAggregatePlan plan(Schema input, String key, Aggregate... aggregates) {
    return new GroupAggregatePlan(
        input, List.of(key), List.of(aggregates), ExpressionSettings.DEFAULT);
  }

  private ArgumentHarness open(Schema input, Aggregate aggregate) throws Exception {
    return ArgumentHarness.open(device, plan(input, aggregate), null, 0, 1);
  }

  /** A function over values of any type, whose result is the last one. */
  private static final class Last extends HostAggregateFunction {
    private static final long serialVersionUID = 1L;

    private final DataType type;

    private Last(DataType type) {
      this.type = type;
    }

    @Override
    public Schema accumulatorSchema(Schema arguments) {
      return Schema.of(Field.of("last", arguments.type(0)));
    }

    @Override
    public DataType resultType(Schema arguments) {
      return type;
    }

    @Override
    protected void accumulate(Row accumulator, Row arguments) {
      accumulator.setField(0, arguments.getField(0));
    }

    @Override
    protected Object getValue(Row accumulator) {
      return accumulator.getField(0);
    }
  }

  @Test
  void typesAreThoseOfTheTableApi() throws Exception {
    DataType decimal = DataType.decimal(20, 2);
    Schema rows =
        Schema.of(
            Field.of("k", DataType.INT32), Field.of("s", DataType.STRING), Field.of("d", decimal));
    String longText = "a string of more than 12 bytes";
    for (String column : List.of("s", "d")) {
      DataType type = column.equals("s") ? DataType.STRING : decimal;
      Object value = column.equals("s") ? longText : new BigDecimal("12345678901234567.89");
      try (ArgumentHarness harness = open(rows, Aggregate.of(new Last(type), column))) {
        assertThat(harness.added(asList(1, longText, new BigDecimal("12345678901234567.89"))))
            .containsExactly(asList(1, value, true));
        assertThat(harness.added(asList(1, null, null))).containsExactly(asList(1, null, false));
      }
    }
  }

  @Test
  void whatIsNotSupportedIsRefused() {
    Aggregate last = Aggregate.of(new Last(DataType.INT64), "x");
    Schema lists = Schema.of(ROWS.field(0), Field.of("x", DataType.list(DataType.INT64)));
    Stream.of(
            refused(() -> plan(ROWS, last.distinct()), "it has DISTINCT"),
            refused(() -> plan(CHANGES, last), "does not take rows back"),
            refused(
                () -> plan(ROWS, last, Aggregate.of(new Last(DataType.INT64), "x").as("b")),
                "override name()"),
            refused(
                () ->
                    plan(
                        Schema.of(ROWS.field(1), Field.of("last", DataType.INT32), ROWS.field(0)),
                        "last",
                        last),
                "got 'last', which is a key column"),
            refused(() -> plan(lists, last), "its argument is"),
            refused(
                () -> plan(ROWS, Aggregate.of(new Last(DataType.list(DataType.INT64)), "x")),
                "its result is"),
            refused(
                () ->
                    new TwoPhasePlan(ROWS, List.of("k"), List.of(last), ExpressionSettings.DEFAULT),
                "in two phases: its accumulators are not combined"))
        .forEach(Runnable::run);
    assertThatThrownBy(() -> Aggregate.of(new Last(DataType.INT64)).distinct())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("Last() has no argument, so it has no DISTINCT values");
  }

  private static Runnable refused(Runnable planned, String message) {
    return () ->
        assertThatThrownBy(planned::run)
            .isInstanceOf(ExpressionException.class)
            .hasMessageContaining(message);
  }

  /** Adds up hundreds in a decimal of three digits. */
  private static final class Hundreds extends HostAggregateFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema accumulatorSchema(Schema arguments) {
      return Schema.of(Field.of("hundreds", DataType.decimal(3, 0)));
    }

    @Override
    public DataType resultType(Schema arguments) {
      return DataType.decimal(3, 0);
    }

    @Override
    protected Row createAccumulator() {
      return Row.of(BigDecimal.ZERO);
    }

    @Override
    protected void accumulate(Row accumulator, Row arguments) {
      accumulator.setField(0, accumulator.<BigDecimal>getFieldAs(0).add(new BigDecimal(100)));
    }

    @Override
    protected Object getValue(Row accumulator) {
      return accumulator.getField(0);
    }
  }

  @Test
  void anAccumulatorThatDoesNotFitItsColumnFailsTheJob() throws Exception {
    try (ArgumentHarness harness = open(ROWS, Aggregate.of(new Hundreds()))) {
      for (int rows = 1; rows < 10; rows++) {
        assertThat(harness.added(asList(1, 1L, 1)))
            .containsExactly(asList(1, new BigDecimal(100 * rows), true));
      }
      assertThatThrownBy(() -> harness.added(asList(1, 1L, 1)))
          .hasStackTraceContaining(
              "expected at most 3 digits for accumulator 'hundreds' DECIMAL(3, 0) of Hundreds, got"
                  + " 1000");
    }
  }
}

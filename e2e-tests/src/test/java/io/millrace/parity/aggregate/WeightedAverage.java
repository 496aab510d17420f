// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.aggregate;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.function.HostAggregateFunction;
import org.apache.flink.types.Row;

/** The example of docs/aggregate-functions.md. */
final class WeightedAverage extends HostAggregateFunction {
  private static final long serialVersionUID = 1L;

  @Override
  public Schema accumulatorSchema(Schema arguments) {
    return Schema.of(Field.of("sum", DataType.INT64), Field.of("weights", DataType.INT64));
  }

  @Override
  public DataType resultType(Schema arguments) {
    return DataType.INT64;
  }

  @Override
  public boolean supportsRetraction() {
    return true;
  }

  @Override
  protected Row createAccumulator() {
    return Row.of(0L, 0L);
  }

  @Override
  protected void accumulate(Row accumulator, Row arguments) {
    add(accumulator, arguments, 1);
  }

  @Override
  protected void retract(Row accumulator, Row arguments) {
    add(accumulator, arguments, -1);
  }

  private static void add(Row accumulator, Row arguments, int sign) {
    Long value = arguments.getFieldAs(0);
    Integer weight = arguments.getFieldAs(1);
    if (value != null && weight != null) {
      accumulator.setField(0, accumulator.<Long>getFieldAs(0) + sign * value * weight);
      accumulator.setField(1, accumulator.<Long>getFieldAs(1) + sign * weight);
    }
  }

  @Override
  protected Object getValue(Row accumulator) {
    long weights = accumulator.getFieldAs(1);
    return weights == 0 ? null : accumulator.<Long>getFieldAs(0) / weights;
  }
}

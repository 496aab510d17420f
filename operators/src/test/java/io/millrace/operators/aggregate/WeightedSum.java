// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.function.HostAggregateFunction;
import org.apache.flink.types.Row;

/** The sum of BIGINT values times INT weights, whose rows can be taken back. */
public final class WeightedSum extends HostAggregateFunction {
  private static final long serialVersionUID = 1L;

  @Override
  public Schema accumulatorSchema(Schema arguments) {
    return Schema.of(Field.of("sum", DataType.INT64));
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
      Long sum = accumulator.getFieldAs(0);
      accumulator.setField(0, (sum == null ? 0 : sum) + sign * value * weight);
    }
  }

  @Override
  protected Object getValue(Row accumulator) {
    return accumulator.getField(0);
  }
}

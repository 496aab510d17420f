// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster.job;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.function.HostAggregateFunction;
import org.apache.flink.types.Row;

/** The sum of a BIGINT. */
final class LongSum extends HostAggregateFunction {
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
  protected Row createAccumulator() {
    return Row.of(0L);
  }

  @Override
  protected void accumulate(Row accumulator, Row arguments) {
    accumulator.setField(0, accumulator.<Long>getFieldAs(0) + arguments.<Long>getFieldAs(0));
  }

  @Override
  protected Object getValue(Row accumulator) {
    return accumulator.getField(0);
  }
}

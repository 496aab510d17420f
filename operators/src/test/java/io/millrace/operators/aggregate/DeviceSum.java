// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.aggregate.function.AggregateBatch;
import io.millrace.operators.aggregate.function.AggregateResult;
import io.millrace.operators.aggregate.function.BatchAggregateFunction;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.process.KeyedSums;
import java.util.List;
import org.apache.flink.api.common.functions.RuntimeContext;

/** The sum of BIGINTs, none of which is null, by kernels of its own on a GPU. */
final class DeviceSum implements BatchAggregateFunction {
  private static final long serialVersionUID = 1L;

  // null before the function is opened.
  private transient KeyedSums sums;

  @Override
  public Schema accumulatorSchema(Schema arguments) {
    return Schema.of(Field.of("sum", DataType.INT64));
  }

  @Override
  public DataType resultType(Schema arguments) {
    return DataType.INT64;
  }

  @Override
  public void open(Schema arguments, DeviceContext device, RuntimeContext runtime)
      throws Exception {
    sums = new KeyedSums(device);
  }

  @Override
  public AggregateResult aggregate(AggregateBatch batch) {
    Table before = batch.accumulators();
    Column sum = sums.add(batch.keyNumbers(), batch.rows().column(0), before.column("sum"));
    return new AggregateResult(
        new Table(before.schema(), List.of(sum), before.rowCount()), sum.share());
  }

  @Override
  public void close() {
    if (sums != null) {
      sums.close();
    }
  }
}

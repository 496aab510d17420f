// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.aggregate;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.function.AggregateBatch;
import io.millrace.operators.aggregate.function.AggregateResult;
import io.millrace.operators.aggregate.function.BatchAggregateFunction;
import io.millrace.operators.context.DeviceContext;
import org.apache.flink.api.common.functions.RuntimeContext;

/** The example of docs/user-functions.md: a function of Flink SQL that Millrace calls by batch. */
public final class SqlWeightedAverage extends FlinkWeightedAverage
    implements BatchAggregateFunction {
  private static final long serialVersionUID = 1L;

  private final WeightedAverage batches = new WeightedAverage();

  @Override
  public Schema accumulatorSchema(Schema arguments) {
    return batches.accumulatorSchema(arguments);
  }

  @Override
  public DataType resultType(Schema arguments) {
    return batches.resultType(arguments);
  }

  @Override
  public boolean supportsRetraction() {
    return true;
  }

  @Override
  public void open(Schema arguments, DeviceContext device, RuntimeContext runtime)
      throws Exception {
    batches.open(arguments, device, runtime);
  }

  @Override
  public AggregateResult aggregate(AggregateBatch batch) throws Exception {
    return batches.aggregate(batch);
  }

  @Override
  public void close() throws Exception {
    batches.close();
  }
}

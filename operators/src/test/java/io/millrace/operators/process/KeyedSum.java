// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.context.DeviceContext;
import java.util.List;
import org.apache.flink.api.common.functions.RuntimeContext;

/** Adds up {@code n} for each key, by {@link KeyedSums}. */
final class KeyedSum implements KeyedBatchFunction {
  private static final long serialVersionUID = 1L;

  // null before the function is opened.
  private transient KeyedSums sums;

  @Override
  public Schema outputSchema(Schema input) {
    return Schema.of(input.field(0), new Field("sum", DataType.INT64, false));
  }

  @Override
  public Schema stateSchema(Schema input) {
    return Schema.of(Field.of("sum", DataType.INT64));
  }

  @Override
  public void open(Schema input, DeviceContext device, RuntimeContext runtime) throws Exception {
    sums = new KeyedSums(device);
  }

  @Override
  public KeyedResult process(KeyedBatch batch) {
    Schema input = batch.rows().schema();
    int keys = batch.keys().rowCount();
    Column sum =
        sums.add(batch.keyNumbers(), batch.rows().column("n"), batch.state().column("sum"));
    List<Column> output = List.of(batch.keys().column(0).share(), sum);
    return new KeyedResult(
        new Table(outputSchema(input), output, keys),
        new Table(stateSchema(input), List.of(sum.share()), keys));
  }

  @Override
  public void close() {
    if (sums != null) {
      sums.close();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.context.DeviceContext;
import io.millrace.state.row.ConstantColumn;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;

/** The column with the processing time of a batch, behind its other columns. */
@Internal
public final class ProcessingTimeColumn {
  public static final String NAME = "$processing_time";

  private static final Field FIELD = new Field(NAME, DataType.timestamp(3, true), false);

  private ProcessingTimeColumn() {}

  /**
   * A schema with the column behind those of {@code schema}.
   *
   * @throws ExpressionException if there is a column with its name
   */
  public static Schema addTo(Schema schema) {
    if (schema.names().contains(NAME)) {
      throw new ExpressionException("two columns are called '" + NAME + "'");
    }
    List<Field> fields = new ArrayList<>(schema.fields());
    fields.add(FIELD);
    return new Schema(fields);
  }

  /**
   * A table with the column behind those of {@code rows}: makes one attempt. Waits.
   *
   * @param rows stays the caller's
   * @param time in milliseconds since the epoch
   * @param transfer stays the caller's; copies the time to the device
   */
  public static Table addTo(Table rows, long time, HostTransfer transfer, DeviceContext context) {
    return ConstantColumns.append(
        rows,
        List.of(new ConstantColumn(FIELD, time)),
        transfer,
        context.stream(),
        context.resource());
  }
}

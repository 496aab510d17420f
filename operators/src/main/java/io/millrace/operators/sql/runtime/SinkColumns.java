// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.column.Column;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.expression.vector.BatchContext;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.transform.TableTransform;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.api.config.ExecutionConfigOptions.NotNullEnforcer;

/**
 * Gives the columns of tables the names of a sink's columns, and checks that there are no nulls in
 * those that the sink declares NOT NULL. No column is copied.
 */
@Internal
public final class SinkColumns implements TableTransform {
  private final Schema schema;
  private final DeviceStream stream;

  private SinkColumns(Schema schema, DeviceStream stream) {
    this.schema = schema;
    this.stream = stream;
  }

  /**
   * A factory of the transforms.
   *
   * @param schema of the results: by position, the types of the columns
   */
  public static Factory factory(Schema schema) {
    return context -> new SinkColumns(schema, context.stream());
  }

  /**
   * {@inheritDoc}
   *
   * @throws TableException if a NOT NULL column has a null, as Flink's operator for this does
   */
  @Override
  public Table apply(Table input, BatchContext batch) {
    for (int i = 0; i < schema.size(); i++) {
      if (!schema.field(i).nullable() && hasNulls(input.column(i))) {
        throw new TableException(
            "Column '%s' is NOT NULL, however, a null value is being written into it. You can set job configuration '%s'='%s' to suppress this exception and drop such records silently."
                .formatted(
                    schema.field(i).name(),
                    ExecutionConfigOptions.TABLE_EXEC_SINK_NOT_NULL_ENFORCER.key(),
                    NotNullEnforcer.DROP));
      }
    }
    Schema result =
        EventTimeColumn.isIn(input.schema()) ? schema.with(EventTimeColumn.FIELD) : schema;
    return input.withColumns(
        result, input.upperBoundColumns().stream().map(Column::share).toList());
  }

  private boolean hasNulls(Column column) {
    return column.isNullable() && column.nullCount(stream) > 0;
  }
}

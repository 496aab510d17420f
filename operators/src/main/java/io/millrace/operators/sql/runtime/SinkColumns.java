// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.expression.vector.BatchContext;
import io.millrace.memory.Buffer;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.transform.TableTransform;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.api.config.ExecutionConfigOptions.NotNullEnforcer;

/**
 * Gives the columns of tables, and the fields of ROWs in them, the names that they have in a sink,
 * and checks that there are no nulls in the columns that the sink declares NOT NULL. No column is
 * copied.
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
   * @param schema of the results, whose columns {@link #takes} those of the tables by position
   */
  public static Factory factory(Schema schema) {
    return context -> new SinkColumns(schema, context.stream());
  }

  /**
   * Whether a column of a sink takes values of another type: the same one, in which fields of ROWs
   * have other names, and some within ROWs and ARRAYs cannot be null.
   */
  public static boolean takes(DataType column, DataType values) {
    List<Field> taken = column.fields();
    List<Field> given = values.fields();
    if (taken.isEmpty() || column.id() == TypeId.DICTIONARY) {
      return column.equals(values);
    }
    return column.id() == values.id()
        && column.isMap() == values.isMap()
        && taken.size() == given.size()
        && IntStream.range(0, taken.size())
            .allMatch(
                i ->
                    (taken.get(i).nullable() || !given.get(i).nullable())
                        && takes(taken.get(i).type(), given.get(i).type()));
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
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < result.size(); i++) {
      columns.add(as(input.upperBoundColumns().get(i), result.type(i)));
    }
    return input.withColumns(result, columns);
  }

  private static Column as(Column column, DataType type) {
    if (column.type().equals(type)) {
      return column.share();
    }
    List<DataType> types = type.childTypes();
    List<Column> children = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      children.add(as(column.child(i), types.get(i)));
    }
    return new Column(
        type,
        column.size(),
        column.offset(),
        null,
        column.validity().map(Buffer::share).orElse(null),
        children);
  }

  private boolean hasNulls(Column column) {
    return column.isNullable() && column.nullCount(stream) > 0;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Evaluates expressions over columns {@code a}, {@code b}, ... of Java values, on the device. */
public final class FunctionCalls {
  private final DeviceExtension device;

  public FunctionCalls(DeviceExtension device) {
    this.device = device;
  }

  /** The result of the function for these arguments, or null. */
  public Object of(String function, Object... arguments) {
    List<Object> row = new ArrayList<>();
    for (Object argument : arguments) {
      row.add(argument);
    }
    return ofRows(function, List.of(row)).get(0);
  }

  /** The results of the function, one per row of arguments. */
  public List<Object> ofRows(String function, List<List<Object>> rows) {
    Object[] columns = new Object[rows.get(0).size()];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = col(name(i));
    }
    return evaluate(call(function, columns), rows);
  }

  public List<Object> evaluate(Expression expression, List<List<Object>> rows) {
    try (Table table = table(rows);
        Table result =
            Calc.of(
                    table.schema(),
                    Optional.empty(),
                    List.of(expression.as("result")),
                    ResolutionContext.DEFAULT)
                .apply(table, device.stream(), device.memory())) {
      List<Object> results = new ArrayList<>();
      device.rows(result).forEach(row -> results.add(row.get(0)));
      return results;
    }
  }

  private Table table(List<List<Object>> rows) {
    TableBuilder builder = new TableBuilder();
    for (int i = 0; i < rows.get(0).size(); i++) {
      int index = i;
      Object[] values = rows.stream().map(row -> row.get(index)).toArray();
      builder.column(name(i), typeOf(values), values);
    }
    return builder.build(device);
  }

  private static String name(int column) {
    return String.valueOf((char) ('a' + column));
  }

  private static DataType typeOf(Object... values) {
    for (Object value : values) {
      if (value instanceof Integer) {
        return DataType.INT32;
      } else if (value instanceof Long) {
        return DataType.INT64;
      } else if (value instanceof Double) {
        return DataType.FLOAT64;
      } else if (value instanceof ByteBuffer) {
        return DataType.BINARY;
      }
    }
    return DataType.STRING;
  }
}

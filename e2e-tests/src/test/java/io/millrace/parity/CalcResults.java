package io.millrace.parity;

import io.millrace.column.Table;
import io.millrace.expression.Calc;
import io.millrace.expression.EvaluationException;
import io.millrace.expression.Expression;
import io.millrace.expression.ResolutionContext;
import io.millrace.parity.FlinkResult.RowFailure;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Evaluates expressions with {@link Calc} on the test's device, row by row where rows fail. */
final class CalcResults {
  private final ResolutionContext context;
  private final DeviceExtension device;

  CalcResults(ResolutionContext context, DeviceExtension device) {
    this.context = context;
    this.device = device;
  }

  /** What each expression is for each row; a {@link RowFailure} where it fails. */
  List<List<Object>> evaluate(Table table, List<Expression> expressions) {
    try {
      return columns(apply(table, expressions), expressions.size());
    } catch (EvaluationException e) {
      return expressions.stream().map(expression -> evaluate(table, expression)).toList();
    }
  }

  private List<Object> evaluate(Table table, Expression expression) {
    List<Object> values = new ArrayList<>();
    while (values.size() < table.rowCount()) {
      int first = values.size();
      try (Table rest = table.slice(first, table.rowCount() - first)) {
        int failed = failedRow(rest, expression, values);
        if (failed >= 0) {
          try (Table before = rest.slice(0, failed)) {
            apply(before, List.of(expression)).forEach(row -> values.add(row.get(0)));
          }
          values.add(new RowFailure(null));
        }
      }
    }
    return values;
  }

  /** The first row that fails; if none does, -1 and {@code values} has those of all rows. */
  private int failedRow(Table table, Expression expression, List<Object> values) {
    try {
      apply(table, List.of(expression)).forEach(row -> values.add(row.get(0)));
      return -1;
    } catch (EvaluationException e) {
      return e.row();
    }
  }

  private List<List<Object>> apply(Table table, List<Expression> expressions) {
    List<Expression> projections = new ArrayList<>();
    for (int i = 0; i < expressions.size(); i++) {
      projections.add(expressions.get(i).as("e" + i));
    }
    Calc calc = Calc.of(table.schema(), Optional.empty(), projections, context);
    try (Table result = calc.apply(table, device.stream(), device.memory())) {
      return device.rows(result);
    }
  }

  private static List<List<Object>> columns(List<List<Object>> rows, int count) {
    List<List<Object>> columns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int column = i;
      columns.add(rows.stream().map(row -> row.get(column)).toList());
    }
    return columns;
  }
}

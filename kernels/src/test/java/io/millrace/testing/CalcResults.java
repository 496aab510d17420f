package io.millrace.testing;

import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.expression.Calc;
import io.millrace.expression.EvaluationException;
import io.millrace.expression.Expression;
import io.millrace.expression.ResolutionContext;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Evaluates expressions with {@link Calc}, going on behind rows that fail. */
public final class CalcResults {
  private final ResolutionContext context;
  private final DeviceExtension device;
  private final int mostFailures;

  /** A row at which an expression fails. */
  public record RowFailure(String message) {}

  /**
   * @param mostFailures after which an expression is not evaluated further: each needs runs of its
   *     own
   */
  public CalcResults(ResolutionContext context, DeviceExtension device, int mostFailures) {
    this.context = context;
    this.device = device;
    this.mostFailures = mostFailures;
  }

  /**
   * The values of each expression, as {@link TableRows} has them, with a {@link RowFailure} for
   * each row that fails, up to and with the last of the failures; on the device that {@code table}
   * is on.
   */
  public List<List<Object>> evaluate(Table table, List<Expression> expressions) {
    return evaluate(table, expressions, device.stream(), device.memory());
  }

  /** As {@link #evaluate(Table, List)}, on the host. */
  public List<List<Object>> evaluateOnHost(Table table, List<Expression> expressions) {
    try (Table host = device.copyToHost(table)) {
      return evaluate(host, expressions, device.hostStream(), device.hostMemory());
    }
  }

  private List<List<Object>> evaluate(
      Table table, List<Expression> expressions, DeviceStream stream, MemoryResource memory) {
    try {
      return columns(apply(table, expressions, stream, memory), expressions.size());
    } catch (EvaluationException e) {
      List<List<Object>> columns = new ArrayList<>();
      for (Expression expression : expressions) {
        columns.add(evaluateRest(table, expression, stream, memory));
      }
      return columns;
    }
  }

  private List<Object> evaluateRest(
      Table table, Expression expression, DeviceStream stream, MemoryResource memory) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < mostFailures && values.size() < table.rowCount(); i++) {
      int rows = table.rowCount() - values.size();
      try (Table rest = table.slice(values.size(), rows)) {
        values.addAll(evaluateToFailure(rest, expression, stream, memory));
      }
    }
    return values;
  }

  /** The values up to and with the first failure. */
  private List<Object> evaluateToFailure(
      Table table, Expression expression, DeviceStream stream, MemoryResource memory) {
    List<Expression> alone = List.of(expression);
    try {
      return columns(apply(table, alone, stream, memory), 1).get(0);
    } catch (EvaluationException e) {
      try (Table before = table.slice(0, e.row())) {
        List<Object> values =
            new ArrayList<>(columns(apply(before, alone, stream, memory), 1).get(0));
        values.add(new RowFailure(e.getMessage()));
        return values;
      }
    }
  }

  private List<List<Object>> apply(
      Table table, List<Expression> expressions, DeviceStream stream, MemoryResource memory) {
    List<Expression> projections = new ArrayList<>();
    for (int i = 0; i < expressions.size(); i++) {
      projections.add(expressions.get(i).as("e" + i));
    }
    try (Calc calc = Calc.of(table.schema(), Optional.empty(), projections, context);
        Table result = calc.apply(table, stream, memory)) {
      // The kernels are unloaded and the tables of constants freed once all is done.
      stream.synchronize();
      return device.rows(result);
    }
  }

  private static List<List<Object>> columns(List<List<Object>> rows, int count) {
    List<List<Object>> columns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      List<Object> values = new ArrayList<>();
      for (List<Object> row : rows) {
        values.add(row.get(i));
      }
      columns.add(values);
    }
    return columns;
  }
}

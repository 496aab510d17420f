// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.calc.Calc;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Evaluates expressions with {@link Calc}, and continues after rows that fail. */
public final class CalcResults {
  private static final int SHORTEST_SLICE = 16;

  private final ResolutionContext context;
  private final DeviceExtension device;
  private final int mostFailures;

  /** A row at which an expression fails. */
  public record RowFailure(String message) {}

  /**
   * @param mostFailures the number of failures after which the evaluation of an expression stops,
   *     because each failure needs further runs
   */
  public CalcResults(ResolutionContext context, DeviceExtension device, int mostFailures) {
    this.context = context;
    this.device = device;
    this.mostFailures = mostFailures;
  }

  /**
   * The values of each expression, in the form of {@link TableRows}, with a {@link RowFailure} for
   * each row that fails. They end with the last failure if the evaluation stopped there. Runs on
   * the device of {@code table}.
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
    try (Calc calc = calc(table, expressions)) {
      return columns(apply(calc, table, stream, memory), expressions.size());
    } catch (EvaluationException e) {
      List<List<Object>> columns = new ArrayList<>();
      for (Expression expression : expressions) {
        try (Table columnsRead = table.select(columnsOf(expression).toList())) {
          columns.add(evaluateSlices(columnsRead, expression, stream, memory));
        }
      }
      return columns;
    }
  }

  /** Evaluates slices. They are short near rows that fail, because a failed slice runs twice. */
  private List<Object> evaluateSlices(
      Table table, Expression expression, DeviceStream stream, MemoryResource memory) {
    List<Object> values = new ArrayList<>();
    int length = table.rowCount();
    int failures = 0;
    try (Calc calc = calc(table, List.of(expression))) {
      while (failures < mostFailures && values.size() < table.rowCount()) {
        int rows = Math.min(length, table.rowCount() - values.size());
        try (Table slice = table.slice(values.size(), rows)) {
          values.addAll(columns(apply(calc, slice, stream, memory), 1).get(0));
          length = Math.min(2 * length, table.rowCount());
        } catch (EvaluationException e) {
          try (Table before = table.slice(values.size(), e.row())) {
            values.addAll(columns(apply(calc, before, stream, memory), 1).get(0));
          }
          values.add(new RowFailure(e.getMessage()));
          failures++;
          length = SHORTEST_SLICE;
        }
      }
    }
    return values;
  }

  private static Stream<String> columnsOf(Expression expression) {
    return expression instanceof Expression.ColumnReference column
        ? Stream.of(column.name())
        : RandomExpressions.operandsOf(expression).stream()
            .flatMap(CalcResults::columnsOf)
            .distinct();
  }

  private Calc calc(Table table, List<Expression> expressions) {
    List<Expression> projections = new ArrayList<>();
    for (int i = 0; i < expressions.size(); i++) {
      projections.add(expressions.get(i).as("e" + i));
    }
    return Calc.of(table.schema(), Optional.empty(), projections, context);
  }

  private List<List<Object>> apply(
      Calc calc, Table table, DeviceStream stream, MemoryResource memory) {
    try (Table result = calc.apply(table, stream, memory)) {
      // Kernels are unloaded and tables of constants are freed after all work has finished.
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

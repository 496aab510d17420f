// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.format.RecordFilter;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.connector.source.abilities.SupportsFilterPushDown.Result;
import org.apache.flink.table.expressions.FieldReferenceExpression;
import org.apache.flink.table.expressions.ResolvedExpression;

/**
 * The conditions of a query that readers evaluate.
 *
 * @param result what the planner is told: conditions that readers evaluate, and those that remain
 * @param condition all that readers evaluate; empty if there are none
 * @param columns that they read
 */
@Internal
public record PushedFilter(Result result, Optional<RecordFilter> condition, Set<String> columns) {
  /**
   * Chooses conditions.
   *
   * @param filters of the query, all of which hold for its rows
   * @param schema the columns of the table
   * @param supported whether readers can evaluate a condition
   */
  public static PushedFilter of(
      List<ResolvedExpression> filters, Schema schema, Predicate<RecordFilter> supported) {
    List<ResolvedExpression> accepted = new ArrayList<>();
    List<ResolvedExpression> remaining = new ArrayList<>();
    Set<String> columns = new LinkedHashSet<>();
    Expression all = null;
    for (ResolvedExpression filter : filters) {
      Optional<Expression> condition =
          PushedExpressions.convert(filter, schema)
              .filter(each -> supported.test(RecordFilter.of(each, ExpressionSettings.DEFAULT)));
      if (condition.isEmpty()) {
        remaining.add(filter);
        continue;
      }
      accepted.add(filter);
      addColumns(filter, columns);
      all = all == null ? condition.get() : all.and(condition.get());
    }
    return new PushedFilter(
        Result.of(accepted, remaining),
        Optional.ofNullable(all)
            .map(condition -> RecordFilter.of(condition, ExpressionSettings.DEFAULT)),
        columns);
  }

  private static void addColumns(ResolvedExpression expression, Set<String> columns) {
    if (expression instanceof FieldReferenceExpression field) {
      columns.add(field.getName());
    }
    expression.getResolvedChildren().forEach(child -> addColumns(child, columns));
  }
}

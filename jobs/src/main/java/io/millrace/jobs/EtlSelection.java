// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.sql.SchemaParser;
import io.millrace.operators.sql.SqlExpressions;
import io.millrace.operators.sql.SqlTextException;
import io.millrace.operators.transform.CalcPlan;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;

/**
 * The filter and the projection of a job.
 *
 * @param condition of the rows to keep; empty for all rows
 * @param columns to write; empty for all columns
 */
record EtlSelection(Optional<Expression> condition, List<Expression> columns) {

  /**
   * @param source the columns that expressions can name
   * @throws SqlTextException if a text is not an expression of these columns
   */
  static EtlSelection parse(Configuration configuration, Schema source) {
    Optional<Expression> condition =
        configuration
            .getOptional(EtlOptions.WHERE)
            .map(
                where ->
                    SqlExpressions.parseCondition(
                        EtlOptions.WHERE.key(), where, source, SchemaParser::parseType));
    List<Expression> columns =
        configuration
            .getOptional(EtlOptions.SELECT)
            .map(
                select ->
                    SqlExpressions.parseSelectList(
                        EtlOptions.SELECT.key(), select, source, SchemaParser::parseType))
            .orElse(List.of());
    return new EtlSelection(condition, columns);
  }

  boolean isEmpty() {
    return condition.isEmpty() && columns.isEmpty();
  }

  /** This selection, which writes the columns of {@code source} if it names none. */
  EtlSelection orColumnsOf(Schema source) {
    return columns.isEmpty()
        ? new EtlSelection(condition, source.names().stream().map(Expressions::col).toList())
        : this;
  }

  /**
   * The selection of rows of {@code input}.
   *
   * @throws UsageException if an expression does not fit the columns
   */
  CalcPlan plan(Schema input) {
    CalcPlan plan = CalcPlan.of(input, ExpressionSettings.DEFAULT);
    if (condition.isPresent()) {
      plan = checked(EtlOptions.WHERE, plan::filter, condition.get());
    }
    return columns.isEmpty() ? plan : checked(EtlOptions.SELECT, plan::select, columns);
  }

  private static <T> CalcPlan checked(
      ConfigOption<?> option, Function<T, CalcPlan> step, T argument) {
    try {
      return step.apply(argument);
    } catch (ExpressionException e) {
      throw new UsageException(option.key() + ": " + e.getMessage());
    }
  }

  /** The selected rows of {@code source}, which {@link #plan} has checked. */
  ColumnStream applyTo(ColumnStream source) {
    ColumnStream selected = condition.map(source::filter).orElse(source);
    return columns.isEmpty() ? selected : selected.select(columns.toArray(Expression[]::new));
  }
}

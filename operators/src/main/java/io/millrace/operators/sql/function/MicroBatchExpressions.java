// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.function;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.sql.SchemaParser;
import io.millrace.operators.sql.SqlExpressions;
import io.millrace.operators.transform.CalcPlan;
import java.util.List;
import org.apache.flink.table.types.DataType;

/**
 * Expressions over columns, parsed when a query is planned, and again where it runs.
 *
 * @param columns that the expressions read
 * @param plan the expressions as a calc
 */
record MicroBatchExpressions(Schema columns, CalcPlan plan) {
  /**
   * Parses expressions.
   *
   * @param columns with their types, as in {@code CREATE TABLE}
   * @param expressions as behind SELECT
   * @throws io.millrace.operators.sql.SqlTextException if one of them is malformed, with the
   *     position
   * @throws IllegalArgumentException if one of them depends on more than its row
   */
  static MicroBatchExpressions parse(String columns, String expressions) {
    Schema schema = SchemaParser.parse("columns", columns);
    List<Expression> parsed =
        SqlExpressions.parseSelectList("expressions", expressions, schema, SchemaParser::parseType);
    CalcPlan plan = CalcPlan.of(schema, ExpressionSettings.DEFAULT).select(parsed);
    // Flink may compute a row again, and would take the results for equal.
    if (plan.calc().readsBatch()) {
      throw new IllegalArgumentException(
          "expected expressions of the columns alone, without the current time and random numbers, got "
              + expressions);
    }
    return new MicroBatchExpressions(schema, plan);
  }

  Schema results() {
    return plan.outputSchema();
  }

  /** The type of rows, with Flink's default classes. */
  static DataType rowType(Schema schema) {
    return SchemaConverter.toDataType(schema);
  }
}

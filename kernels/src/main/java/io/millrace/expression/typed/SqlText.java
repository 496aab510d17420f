// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.util.List;

/** SQL text fragments that typed and untyped expressions share. */
@Internal
public final class SqlText {
  private static final int MAX_LENGTH = 10_000;

  private SqlText() {}

  /**
   * Truncates a text to {@value #MAX_LENGTH} characters and an ellipsis. A shared operand is
   * written at each use, so the text of a graph may be exponentially longer than the graph.
   */
  public static String cut(String text) {
    return text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH) + "...";
  }

  /**
   * A searched CASE.
   *
   * @param results one result per condition, followed by the ELSE result
   */
  public static String branches(List<String> conditions, List<String> results) {
    StringBuilder sql = new StringBuilder("CASE");
    for (int i = 0; i < conditions.size(); i++) {
      sql.append(" WHEN ").append(conditions.get(i)).append(" THEN ").append(results.get(i));
    }
    return sql.append(" ELSE ").append(results.get(conditions.size())).append(" END").toString();
  }
}

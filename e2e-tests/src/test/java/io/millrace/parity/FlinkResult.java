// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import java.util.List;
import org.apache.flink.table.types.logical.LogicalType;

/**
 * The result of an expression in stock Flink.
 *
 * @param type of the result, with its nullability; null where Flink refuses the expression
 * @param values of each row as {@link io.millrace.testing.TableRows} has them, or a {@link
 *     FailedRow} where evaluating that row throws; empty where Flink refuses the expression
 * @param refusal why Flink does not plan the expression, else null
 */
public record FlinkResult(
    String expression, LogicalType type, List<Object> values, RuntimeException refusal) {

  /** A row at which the expression fails the job. */
  public record FailedRow(Throwable cause) {}

  public boolean isRefused() {
    return refusal != null;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.deduplicate;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.deduplicate.DeduplicatePlan;
import io.millrace.operators.deduplicate.Deduplication;
import io.millrace.operators.deduplicate.Deduplication.Keep;
import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.transform.CalcPlan;
import java.util.List;
import java.util.OptionalInt;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * The first or the last row of each key.
 *
 * @param keys positions of the key fields
 * @param timeField the position of the event time that orders the rows; empty if their arrival does
 * @param stateTtl how long a key stays
 * @param output the type of the rows
 * @param hostReasons why the host computes parts of it on a GPU
 */
@Internal
public record DeduplicateSpec(
    List<Integer> keys,
    Keep keep,
    OptionalInt timeField,
    StateTtl stateTtl,
    RowType output,
    List<String> hostReasons)
    implements NodeSpec {
  public DeduplicateSpec {
    keys = List.copyOf(keys);
    hostReasons = List.copyOf(hostReasons);
  }

  /**
   * The same, if it can be planned.
   *
   * @param input the columns of the input as far as they are known
   * @throws UnsupportedNodeException if it cannot
   */
  DeduplicateSpec checked(Schema input, ExpressionSettings settings) {
    CalcPlan timed = withTimes(input, settings);
    plan(timed.outputSchema());
    return new DeduplicateSpec(keys, keep, timeField, stateTtl, output, timed.calc().hostReasons());
  }

  /**
   * The rows with a time that is NOT NULL. An event time is never null, whatever its type says: the
   * node that makes watermarks of it refuses nulls.
   */
  CalcPlan withTimes(Schema input, ExpressionSettings settings) {
    CalcPlan rows = CalcPlan.of(input, settings);
    if (timeField.isEmpty() || !input.field(timeField.getAsInt()).nullable()) {
      return rows;
    }
    Field time = input.field(timeField.getAsInt());
    Expression never = new Expression.Literal(0L, time.type());
    try {
      return rows.withColumn(
          time.name(), Expressions.call("COALESCE", Expressions.col(time.name()), never));
    } catch (ExpressionException e) {
      throw new UnsupportedNodeException(e.getMessage());
    }
  }

  /**
   * The de-duplication of batches of {@code input}.
   *
   * @param input with a time that is NOT NULL
   * @throws UnsupportedNodeException if it is not supported
   */
  DeduplicatePlan plan(Schema input) {
    Deduplication arrival = new Deduplication(keep);
    Deduplication deduplication =
        timeField.isEmpty() ? arrival : arrival.by(input.field(timeField.getAsInt()).name());
    try {
      return new DeduplicatePlan(
          input, PlannedInput.keyNames(input, keys), deduplication, stateTtl);
    } catch (ExpressionException e) {
      throw new UnsupportedNodeException(e.getMessage());
    }
  }
}

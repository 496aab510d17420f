// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.host.HostEvaluator;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.BatchContext;
import io.millrace.expression.vector.HostVector;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * A pool of host evaluators for a calc, one per concurrent thread. Reuse avoids allocating vectors
 * that outweigh a small table. Thread-safe.
 */
final class HostEvaluators implements AutoCloseable {
  private final TypedExpression condition;
  private final List<TypedExpression> projections;
  private final Schema outputSchema;
  private final Deque<HostEvaluator> idle = new ArrayDeque<>();
  private boolean isClosed;

  /**
   * @param condition null for no filter
   */
  HostEvaluators(
      TypedExpression condition, List<TypedExpression> projections, Schema outputSchema) {
    this.condition = condition;
    this.projections = projections;
    this.outputSchema = outputSchema;
  }

  /** See {@link HostEvaluator#evaluate}. */
  Table evaluate(Table input, BatchContext batch, AccessScope scope, MemoryResource memory) {
    HostEvaluator evaluator = take(capacity(input.rowCount()));
    Table output = evaluator.evaluate(input, batch, outputSchema, scope, memory);
    giveBack(evaluator);
    return output;
  }

  // A power of two, so that slowly growing tables do not need new vectors each time.
  private static int capacity(int rows) {
    if (rows > HostVector.CAPACITY / 2) {
      return HostVector.CAPACITY;
    }
    return rows <= 1 ? 1 : Integer.highestOneBit(rows - 1) * 2;
  }

  private HostEvaluator take(int capacity) {
    HostEvaluator kept;
    synchronized (this) {
      kept = idle.pollLast();
    }
    return kept != null && kept.capacity() >= capacity
        ? kept
        : new HostEvaluator(condition, projections, capacity);
  }

  private synchronized void giveBack(HostEvaluator evaluator) {
    if (!isClosed) {
      idle.addLast(evaluator);
    }
  }

  /** Drops the pooled evaluators. Later evaluators are not pooled. */
  @Override
  public synchronized void close() {
    isClosed = true;
    idle.clear();
  }
}

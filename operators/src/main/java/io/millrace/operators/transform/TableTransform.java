// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.Table;
import io.millrace.expression.vector.BatchContext;
import io.millrace.operators.context.DeviceContext;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.RuntimeContext;

/** The operation of a {@link TransformOperator} on each table. */
@PublicEvolving
@FunctionalInterface
public interface TableTransform extends AutoCloseable {

  /**
   * Makes one attempt: the result is a new table, which the caller closes; {@code input} stays the
   * caller's. Enqueued on the stream of the context that this was made with.
   *
   * @param input may have an {@link io.millrace.operators.batch.EventTimeColumn} behind the columns
   *     of its schema, which the result then has behind its columns
   * @param batch the clock and the watermark of the batch; equal in all attempts
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no memory for it; nothing has
   *     changed then
   * @throws io.millrace.expression.error.EvaluationException for the first row that an expression
   *     fails for
   */
  Table apply(Table input, BatchContext batch);

  /**
   * Called once, before the first table.
   *
   * @param context of the operator
   */
  default void open(RuntimeContext context) throws Exception {}

  /** Why it works on the host although the device is a GPU; empty if it works on the device. */
  default List<String> hostReasons() {
    return List.of();
  }

  @Override
  default void close() {}

  /** Makes the transform of an operator; serialized with the job. */
  @FunctionalInterface
  interface Factory extends Serializable {

    /**
     * A transform that works with {@code context} and is closed before it.
     *
     * @param context stays the caller's
     */
    TableTransform create(DeviceContext context);
  }
}

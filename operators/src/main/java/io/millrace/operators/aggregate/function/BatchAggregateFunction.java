// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate.function;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.operators.context.DeviceContext;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.RuntimeContext;

/**
 * An aggregate function of one's own over the batches of a keyed stream: a columnar form of Flink's
 * {@code AggregateFunction}. It works on tables in the memory of the device; {@link
 * HostAggregateFunction} is one that is called for each row in Java.
 *
 * <p>Each subtask has an instance of its own, which it deserializes. Calls come from one thread.
 */
@PublicEvolving
public interface BatchAggregateFunction extends Serializable {
  /**
   * The columns of the accumulators, which each key has one value of: nullable, and null before the
   * first row of a key. Their types are those of keys: all but ARRAY and ROW. Types and names are
   * part of the state.
   *
   * @param arguments the arguments, named {@code f0}, {@code f1} and so on
   */
  Schema accumulatorSchema(Schema arguments);

  /**
   * The type of the result, which may be null: all but ARRAY and ROW.
   *
   * @param arguments the arguments, named {@code f0}, {@code f1} and so on
   */
  DataType resultType(Schema arguments);

  /** Whether rows can be taken back; a changelog is refused unless a function says that. */
  default boolean supportsRetraction() {
    return false;
  }

  /** The name in texts and uids. */
  default String name() {
    String name = getClass().getSimpleName();
    return name.isEmpty() ? "anonymous" : name;
  }

  /**
   * Called once, before the first batch.
   *
   * @param arguments the arguments, named {@code f0}, {@code f1} and so on
   * @param device the device that the function works on, with its memory
   * @param runtime of the operator, such as for its metrics
   */
  default void open(Schema arguments, DeviceContext device, RuntimeContext runtime)
      throws Exception {}

  /**
   * Adds the rows of a batch to the accumulators of their keys: makes one attempt. If memory runs
   * out, here or before the state is changed, the function is called again with the same batch or
   * with parts of it, and the results of the call before are dropped: so it must not have effects
   * other than its result.
   *
   * @param batch rows and the accumulators of their keys; borrowed until this returns
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory for now; other
   *     exceptions fail the job
   */
  AggregateResult aggregate(AggregateBatch batch) throws Exception;

  /** Called once, also if {@link #open} failed. */
  default void close() throws Exception {}
}

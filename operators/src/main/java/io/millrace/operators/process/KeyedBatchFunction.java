// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Schema;
import io.millrace.operators.context.DeviceContext;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.streaming.api.TimeDomain;

/**
 * A function over the batches of a keyed stream, with a value of each state column for each key: a
 * columnar form of Flink's {@code KeyedProcessFunction} with {@code ValueState}, {@code MapState},
 * {@code ListState} and timers. It works on tables in the memory of the device; {@link
 * HostKeyedFunction} is one that reads and writes columns in Java.
 *
 * <p>Each subtask has an instance of its own, which it deserializes. Calls come from one thread.
 */
@PublicEvolving
public interface KeyedBatchFunction extends Serializable {
  /** The column with the time of timers that are due, in milliseconds since the epoch. */
  String TIMER = "$timer";

  /**
   * The columns of the result.
   *
   * @param input the columns of the stream
   */
  Schema outputSchema(Schema input);

  /**
   * The columns of the state, which each key has one value of: nullable, as null says that there is
   * no value. Their types are those of keys: all but ARRAY and ROW.
   *
   * @param input the columns of the stream
   */
  Schema stateSchema(Schema input);

  /**
   * The maps that each key has beside its values; none unless a function says otherwise.
   *
   * @param input the columns of the stream
   */
  default List<MapStateSchema> mapStates(Schema input) {
    return List.of();
  }

  /**
   * The lists that each key has beside its values; none unless a function says otherwise.
   *
   * @param input the columns of the stream
   */
  default List<ListStateSchema> listStates(Schema input) {
    return List.of();
  }

  /**
   * Called once, before the first batch.
   *
   * @param input the columns of the stream
   * @param device the device that the function works on, with its memory
   * @param runtime of the operator, such as for its metrics
   */
  default void open(Schema input, DeviceContext device, RuntimeContext runtime) throws Exception {}

  /**
   * Processes a batch: makes one attempt. If memory runs out, here or before the state is changed,
   * the function is called again with the same batch or with parts of it, and the results of the
   * call before are dropped: so it must not have effects other than its result.
   *
   * @param batch rows and the state of their keys; borrowed until this returns
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory for now; other
   *     exceptions fail the job
   */
  KeyedResult process(KeyedBatch batch) throws Exception;

  /**
   * How wide the slices of time are that timers are kept in: zero if the function has none. A slice
   * is a table of its own, which is read as a whole when a timer in it is due, and dropped when its
   * time has passed. So it should have thousands of timers, and there should be few slices at a
   * time.
   *
   * @return a multiple of 4 ms. Another width needs a start without state
   */
  default Duration timerSlices() {
    return Duration.ZERO;
  }

  /**
   * Processes timers that are due, in the order of their times: makes one attempt, as {@link
   * #process}. Timers that have the same key come in the order of their times too, in later calls.
   * These timers are not set any more.
   *
   * @param timers {@link #TIMER} of each timer, a BIGINT, and at most one timer of each key; the
   *     watermark is the one that they are due by
   * @param domain of all of them
   */
  default KeyedResult onTimer(KeyedBatch timers, TimeDomain domain) throws Exception {
    throw new UnsupportedOperationException("onTimer is not implemented by " + this);
  }

  /** Called once, also if {@link #open} failed. */
  default void close() throws Exception {}
}

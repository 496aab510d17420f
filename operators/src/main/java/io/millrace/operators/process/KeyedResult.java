// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.flink.annotation.PublicEvolving;

/**
 * What a {@link KeyedBatchFunction} makes of a batch. Tables are in the memory of the device, and
 * go to the caller.
 *
 * @param output rows of {@link KeyedBatchFunction#outputSchema}; null if there are none
 * @param state of {@link KeyedBatchFunction#stateSchema}: a row for each of the batch's keys, in
 *     their order, with all values that the key has from now on; null if no value changes
 * @param timers of {@link #TIMERS}, in the order in which they are set and deleted; null if there
 *     are none
 * @param entries for each map or list that changes, by its name, its changes in their order. Rows
 *     of {@link MapStateSchema#changes} put or remove an entry, whose values do not count then.
 *     Rows of {@link ListStateSchema#changes} add an element behind the others; or they remove all
 *     elements of a key, and the columns of the element do not count
 */
@PublicEvolving
public record KeyedResult(Table output, Table state, Table timers, Map<String, Table> entries)
    implements AutoCloseable {
  /**
   * Changes of timers: the number of a key of the batch, the time in milliseconds since the epoch,
   * whether it is a processing time, and whether the timer is set or deleted. A key has one timer
   * for a time of each domain at most.
   */
  public static final Schema TIMERS =
      Schema.of(
          new Field("key", DataType.INT32, false),
          new Field("time", DataType.INT64, false),
          new Field("is_processing_time", DataType.BOOL, false),
          new Field("is_set", DataType.BOOL, false));

  /** A result without timers and changes of maps and lists. */
  public KeyedResult(Table output, Table state) {
    this(output, state, null);
  }

  /** A result without changes of maps and lists. */
  public KeyedResult(Table output, Table state, Table timers) {
    this(output, state, timers, Map.of());
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    Stream.of(output, state, timers)
        .filter(Objects::nonNull)
        .forEach(table -> failure.run(table::close));
    entries.values().forEach(table -> failure.run(table::close));
    failure.rethrow();
  }
}

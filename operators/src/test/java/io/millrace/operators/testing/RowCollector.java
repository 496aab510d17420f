// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * Collects the rows at the end of a job. The collector of a test and its copies in the job's
 * operators have the same number, by which they find the collected rows.
 *
 * @param <V> the type of the values that are kept of rows
 */
public final class RowCollector<V> implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final Map<Long, Queue<Object>> COLLECTED = new ConcurrentHashMap<>();

  private final long number = NEXT.getAndIncrement();

  public RowCollector() {
    COLLECTED.put(number, new ConcurrentLinkedQueue<>());
  }

  /**
   * Appends an operator to {@code rows} that collects them.
   *
   * @param reader reads the value to keep; the row object may be reused
   */
  public <T> void collect(DataStream<T> rows, MapFunction<T, V> reader) {
    rows.map(row -> COLLECTED.get(number).add(reader.map(row)))
        .returns(Types.BOOLEAN)
        .setParallelism(rows.getParallelism())
        .sinkTo(new DiscardingSink<>())
        .setParallelism(rows.getParallelism());
  }

  /** The rows collected so far, in order for each subtask. */
  @SuppressWarnings("unchecked") // collect() adds only values of this type
  public List<V> rows() {
    return COLLECTED.get(number).stream().map(row -> (V) row).toList();
  }
}

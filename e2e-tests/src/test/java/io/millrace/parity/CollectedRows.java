// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;

/** The rows that a stream has given in a job of this process; operators find them by a number. */
public final class CollectedRows implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final Map<Long, Queue<Row>> COLLECTED = new ConcurrentHashMap<>();

  private final long number = NEXT.getAndIncrement();

  private CollectedRows() {
    COLLECTED.put(number, new ConcurrentLinkedQueue<>());
  }

  /** Appends operators that keep the rows; each subtask keeps its own. */
  public static CollectedRows of(DataStream<Row> rows) {
    CollectedRows collected = new CollectedRows();
    rows.map(collected::add)
        .returns(Types.BOOLEAN)
        .setParallelism(rows.getParallelism())
        .sinkTo(new DiscardingSink<>())
        .setParallelism(rows.getParallelism());
    return collected;
  }

  private boolean add(Row row) {
    return COLLECTED.get(number).add(row);
  }

  /** Whether there is a row; before they are taken. */
  public boolean isAny() {
    return !COLLECTED.get(number).isEmpty();
  }

  /** The rows, in the order of each subtask; they can be taken once. */
  public List<Row> take() {
    return List.copyOf(COLLECTED.remove(number));
  }
}

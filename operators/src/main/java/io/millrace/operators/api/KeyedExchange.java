// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.operators.batch.ColumnBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

/**
 * The exchange of a {@link KeyedColumnStream}, which all streams made of it share. Its operators
 * are added to the job when something reads its rows: the first phase of an aggregate comes in
 * front of it.
 */
final class KeyedExchange {
  private final StreamPlan input;
  private final List<String> keys;
  private final List<Consumer<SingleOutputStreamOperator<ColumnBatch>>> changes = new ArrayList<>();
  // null: no operator was added.
  private StreamPlan exchanged;
  private boolean hasOthers;

  /**
   * @throws IllegalArgumentException as {@link StreamPlan#checkKeys}
   */
  KeyedExchange(StreamPlan input, List<String> keys) {
    input.checkKeys(keys);
    this.input = input;
    this.keys = keys;
  }

  StreamPlan input() {
    return input;
  }

  List<String> keys() {
    return keys;
  }

  /** The rows of {@link #input} behind the exchange. */
  StreamPlan exchanged() {
    if (exchanged == null) {
      exchanged = add(input);
    }
    return exchanged;
  }

  /** Other rows behind an exchange like this one. */
  StreamPlan exchange(StreamPlan rows) {
    hasOthers = true;
    return add(rows);
  }

  private StreamPlan add(StreamPlan rows) {
    StreamPlan result = rows.keyBy(keys.toArray(String[]::new));
    for (Consumer<SingleOutputStreamOperator<ColumnBatch>> change : changes) {
      result = result.withLastOperator(change);
    }
    return result;
  }

  /**
   * Changes the exchange.
   *
   * @throws IllegalStateException as {@link StreamPlan#withLastOperator}
   */
  void change(Consumer<SingleOutputStreamOperator<ColumnBatch>> change) {
    if (hasOthers) {
      throw new IllegalStateException(StreamPlan.STEPS_BEHIND);
    }
    if (exchanged != null) {
      exchanged = exchanged.withLastOperator(change);
    }
    changes.add(change);
  }
}

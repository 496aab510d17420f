// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.deduplicate.Deduplication;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.window.TimeWindow;
import java.time.ZoneId;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A stream whose rows are in the subtasks that own their keys: the result of {@link
 * ColumnStream#keyBy}.
 *
 * <pre>{@code
 * bids.keyBy("auction")
 *     .aggregate(Aggregate.count().as("bids"), Aggregate.max("price").as("highest"))
 *     .toRows();
 * }</pre>
 */
@PublicEvolving
public final class KeyedColumnStream extends ColumnStream {
  private final List<String> keys;

  KeyedColumnStream(StreamPlan plan, List<String> keys) {
    super(plan);
    this.keys = keys;
  }

  /**
   * Aggregates the rows of each key. The result is a changelog, with a {@link RowKindColumn}: for
   * each batch and key that changed, an insertion, an update as the row before and the row after,
   * or a deletion. The results after the last batch are those of Flink SQL's {@code GROUP BY}; how
   * many changes come before them depends on the batches.
   *
   * <p>State is a row per key for ever, in the device's memory during an update, spillable between
   * updates, and part of each checkpoint. If this stream is a changelog, rows that it takes back
   * are taken out of {@code COUNT}, {@code SUM} and {@code AVG}; {@code MIN} and {@code MAX} are
   * refused then.
   *
   * @param aggregates the columns behind the key columns, at least one
   * @throws ExpressionException if an argument does not fit the columns, a filter is not BOOLEAN, a
   *     function does not support its argument's type, a key column is an ARRAY or a ROW, two
   *     columns have the same name, or this stream has updates without the rows before them, such
   *     as those of {@link Deduplication#keepLast}
   */
  public ColumnStream aggregate(Aggregate... aggregates) {
    return new ColumnStream(KeyedSteps.aggregate(plan(), keys, List.of(aggregates)));
  }

  /**
   * Groups the rows of each key by windows of event time or processing time, as Flink SQL's window
   * table-valued functions do.
   *
   * @param window such as {@code Tumble.over("ts", Duration.ofSeconds(10))} or {@code
   *     Tumble.overProcessingTime(Duration.ofSeconds(10))}
   */
  public WindowedColumnStream window(TimeWindow window) {
    return new WindowedColumnStream(plan(), keys, window, false);
  }

  /**
   * Keeps one row of each key, by the order in which rows arrive in the subtask of the key. The
   * columns stay the same, and rows keep their event times.
   *
   * <p>With {@link Deduplication#keepFirst} rows are only inserted: the first row of each key, in
   * the order in which they come. With {@link Deduplication#keepLast} the result is a changelog
   * with a {@link RowKindColumn}: for each batch and key of it the last row, as an insertion if the
   * key is new, else as an update. The row before an update does not come with it, so that the
   * reader has to replace rows by key: a sink that upserts, but not a later {@link #aggregate}.
   *
   * <p>State is the key and 8 bytes for each key, for ever; see {@link #aggregate}.
   *
   * @param deduplication such as {@code Deduplication.keepFirst()}
   * @throws ExpressionException if a key column is an ARRAY or a ROW, or this stream is a changelog
   */
  public ColumnStream deduplicate(Deduplication deduplication) {
    return new ColumnStream(KeyedSteps.deduplicate(plan(), keys, deduplication));
  }

  @Override
  public KeyedColumnStream withTimeZone(ZoneId zone) {
    return keyed(super.withTimeZone(zone));
  }

  @Override
  public KeyedColumnStream registerFunction(UserDefinedFunction function) {
    return keyed(super.registerFunction(function));
  }

  @Override
  public KeyedColumnStream uid(String uid) {
    return keyed(super.uid(uid));
  }

  @Override
  public KeyedColumnStream name(String name) {
    return keyed(super.name(name));
  }

  @Override
  public KeyedColumnStream setParallelism(int parallelism) {
    return keyed(super.setParallelism(parallelism));
  }

  private KeyedColumnStream keyed(ColumnStream stream) {
    return new KeyedColumnStream(stream.plan(), keys);
  }
}

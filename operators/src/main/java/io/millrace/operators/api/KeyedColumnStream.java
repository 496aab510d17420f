// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.deduplicate.Deduplication;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.window.TimeWindow;
import java.time.Duration;
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
  private final Duration stateTtl;

  KeyedColumnStream(StreamPlan plan, List<String> keys) {
    this(plan, keys, Duration.ZERO);
  }

  private KeyedColumnStream(StreamPlan plan, List<String> keys, Duration stateTtl) {
    super(plan);
    this.keys = keys;
    this.stateTtl = stateTtl;
  }

  /**
   * Makes the next {@link #aggregate} or {@link #deduplicate} forget keys: as Flink SQL's {@code
   * table.exec.state.ttl}, by the machine's clock. An aggregate and {@link Deduplication#keepLast}
   * forget a key for which no row has come for so long; {@link Deduplication#keepFirst} a key whose
   * first row is so long ago. The next row of a forgotten key begins a new key, with an insertion.
   * Windows forget their rows by themselves, and refuse this.
   *
   * @param timeToLive in whole milliseconds; zero, as at first: keys stay for ever
   * @throws IllegalArgumentException if the time is negative, or not zero but less than a
   *     millisecond
   */
  public KeyedColumnStream stateTtl(Duration timeToLive) {
    if (timeToLive.isNegative() || (timeToLive.toMillis() == 0 && !timeToLive.isZero())) {
      throw new IllegalArgumentException(
          "expected zero or at least a millisecond for stateTtl, got " + timeToLive);
    }
    return new KeyedColumnStream(plan(), keys, timeToLive);
  }

  /**
   * Aggregates the rows of each key. The result is a changelog, with a {@link RowKindColumn}: for
   * each batch and key that changed, an insertion, an update as the row before and the row after,
   * or a deletion. The results after the last batch are those of Flink SQL's {@code GROUP BY}; how
   * many changes come before them depends on the batches.
   *
   * <p>State is a row per key, for ever or for {@link #stateTtl}, in the memory of the device or of
   * the host, and part of each checkpoint. If this stream is a changelog, rows that it takes back
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
    return new ColumnStream(KeyedSteps.aggregate(plan(), keys, List.of(aggregates), stateTtl));
  }

  /**
   * Groups the rows of each key by windows of event time or processing time, as Flink SQL's window
   * table-valued functions do.
   *
   * @param window such as {@code Tumble.over("ts", Duration.ofSeconds(10))} or {@code
   *     Tumble.overProcessingTime(Duration.ofSeconds(10))}
   * @throws ExpressionException if there is a {@link #stateTtl}
   */
  public WindowedColumnStream window(TimeWindow window) {
    if (!stateTtl.isZero()) {
      throw new ExpressionException(
          "stateTtl is not supported for windows: their state goes when they end");
    }
    return new WindowedColumnStream(plan(), keys, window, false, Duration.ZERO);
  }

  /**
   * Keeps one row of each key, by the order in which rows arrive in the subtask of the key, or by
   * the values of a column. The columns stay the same, and rows keep their event times.
   *
   * <p>With {@link Deduplication#keepFirst} rows are only inserted: the first row of each key, in
   * the order in which they come. With {@link Deduplication#keepLast} the result is a changelog
   * with a {@link RowKindColumn}: for each batch and key of it the last row, as an insertion if the
   * key is new, else as an update. The row before an update does not come with it, so that the
   * reader has to replace rows by key: a sink that upserts, but not a later {@link #aggregate}.
   *
   * <p>With {@link Deduplication#by} the result is such a changelog in both cases: for each batch
   * and key of it the first or the last row, unless the row of an earlier batch stays.
   *
   * <p>State is the key and 8 bytes for each key, or 16 with a {@link #stateTtl}; see {@link
   * #aggregate}.
   *
   * @param deduplication such as {@code Deduplication.keepFirst()}
   * @throws ExpressionException if a key column is an ARRAY or a ROW, this stream is a changelog,
   *     or the column of {@link Deduplication#by} does not exist, is a key, may be null or has
   *     another type than those listed there
   */
  public ColumnStream deduplicate(Deduplication deduplication) {
    return new ColumnStream(KeyedSteps.deduplicate(plan(), keys, deduplication, stateTtl));
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
    return new KeyedColumnStream(stream.plan(), keys, stateTtl);
  }
}

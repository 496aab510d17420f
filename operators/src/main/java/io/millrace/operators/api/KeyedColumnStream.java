// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.deduplicate.Deduplication;
import io.millrace.operators.process.HostKeyedFunction;
import io.millrace.operators.process.KeyedBatchFunction;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.window.TimeWindow;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;

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
  private final KeyedExchange exchange;
  private final ExpressionSettings settings;
  private final StateTtl stateTtl;
  private final boolean isTwoPhase;

  KeyedColumnStream(KeyedExchange exchange) {
    this(exchange, exchange.input().settings(), StateTtl.NONE, false);
  }

  private KeyedColumnStream(
      KeyedExchange exchange, ExpressionSettings settings, StateTtl stateTtl, boolean isTwoPhase) {
    super(() -> exchange.exchanged().withSettings(settings));
    this.exchange = exchange;
    this.settings = settings;
    this.stateTtl = stateTtl;
    this.isTwoPhase = isTwoPhase;
  }

  @Override
  public Schema schema() {
    return exchange.input().schema();
  }

  /**
   * Makes the next {@link #aggregate}, {@link #deduplicate} or {@link #process} forget keys: as
   * Flink SQL's {@code table.exec.state.ttl}, by the machine's clock. An aggregate and {@link
   * Deduplication#keepLast} forget a key for which no row has come for so long; {@link
   * Deduplication#keepFirst} a key whose first row is so long ago; {@link #process} the state of a
   * key for which the function gave none for so long. The next row of a forgotten key begins a new
   * key, with an insertion. Windows forget their rows by themselves, and refuse this.
   *
   * @param timeToLive in whole milliseconds; zero, as at first: keys stay for ever
   * @throws IllegalArgumentException if the time is negative, or not zero but less than a
   *     millisecond
   */
  public KeyedColumnStream stateTtl(Duration timeToLive) {
    return stateTtl(timeToLive, TimeDomain.PROCESSING_TIME);
  }

  /**
   * As {@link #stateTtl(Duration)}, by the clock of a time domain.
   *
   * @param domain processing time: the machine's clock; event time: the watermark of the operator.
   *     A checkpoint of the other domain is refused. By event time, an input without watermarks
   *     keeps all keys for ever, without a warning
   * @throws NullPointerException if {@code domain} is null
   */
  public KeyedColumnStream stateTtl(Duration timeToLive, TimeDomain domain) {
    if (timeToLive.isNegative() || (timeToLive.toMillis() == 0 && !timeToLive.isZero())) {
      throw new IllegalArgumentException(
          "expected zero or at least a millisecond for stateTtl, got " + timeToLive);
    }
    return new KeyedColumnStream(exchange, settings, new StateTtl(timeToLive, domain), isTwoPhase);
  }

  /**
   * Makes the next {@link #aggregate} aggregate in two phases, as Flink SQL does with mini-batches
   * and {@code table.optimizer.agg-phase-strategy=TWO_PHASE}. In front of the exchange, the rows of
   * each key of a batch are combined to one row, which is sent instead of them; behind it, these
   * are combined with the state. So a key with many rows costs its subtask one row per batch and
   * sender. Results and state are the same as in one phase: a job may change between them with its
   * savepoint.
   *
   * <p>Only {@link #aggregate} may follow, and it refuses aggregates that depend on the order of
   * rows, compare values of more than 8 bytes, such as strings, or have DISTINCT. Each aggregate in
   * two phases has an exchange of its own: if the exchange has a {@link #uid}, call {@link #keyBy}
   * for each.
   */
  public KeyedColumnStream twoPhase() {
    return new KeyedColumnStream(exchange, settings, stateTtl, true);
  }

  /**
   * Aggregates the rows of each key. The result is a changelog, with a {@link RowKindColumn}: for
   * each batch and key that changed, an insertion, an update as the row before and the row after,
   * or a deletion. The results after the last batch are those of Flink SQL's {@code GROUP BY}; how
   * many changes come before them depends on the batches.
   *
   * <p>State is a row per key, for ever or for {@link #stateTtl(Duration)}, in the memory of the
   * device or of the host, and part of each checkpoint. If this stream is a changelog, rows that it
   * takes back are taken out of {@code COUNT}, {@code SUM} and {@code AVG}; {@code MIN}, {@code
   * MAX} and {@code LISTAGG} are refused then.
   *
   * @param aggregates the columns behind the key columns, at least one
   * @throws ExpressionException if an argument does not fit the columns, a filter is not BOOLEAN, a
   *     function does not support its argument's type, a key column is an ARRAY or a ROW, two
   *     columns have the same name, or this stream has updates without the rows before them, such
   *     as those of {@link Deduplication#keepLast}; with {@link #twoPhase} also if an aggregate has
   *     DISTINCT or depends on the order of rows: a sum or average of FLOAT or DOUBLE, a variance,
   *     a first or last value or LISTAGG, or compares values of more than 8 bytes
   */
  public ColumnStream aggregate(Aggregate... aggregates) {
    List<Aggregate> list = List.of(aggregates);
    return new ColumnStream(
        isTwoPhase
            ? KeyedSteps.twoPhaseAggregate(exchange, settings, list, stateTtl)
            : KeyedSteps.aggregate(plan(), exchange.keys(), list, stateTtl));
  }

  /**
   * Groups the rows of each key by windows of event time or processing time, as Flink SQL's window
   * table-valued functions do.
   *
   * @param window such as {@code Tumble.over("ts", Duration.ofSeconds(10))} or {@code
   *     Tumble.overProcessingTime(Duration.ofSeconds(10))}
   * @throws ExpressionException if there is a {@link #stateTtl(Duration)}, or {@link #twoPhase}
   */
  public WindowedColumnStream window(TimeWindow window) {
    if (!stateTtl.isNone()) {
      throw new ExpressionException(
          "stateTtl is not supported for windows: their state goes when they end");
    }
    checkOnePhase("windows");
    return new WindowedColumnStream(
        plan(), exchange.keys(), window, false, Duration.ZERO, Duration.ZERO);
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
   * <p>State is the key and 8 bytes for each key, or 16 with a {@link #stateTtl(Duration)}; see
   * {@link #aggregate}.
   *
   * @param deduplication such as {@code Deduplication.keepFirst()}
   * @throws ExpressionException if a key column is an ARRAY or a ROW, this stream is a changelog,
   *     or the column of {@link Deduplication#by} does not exist, is a key, may be null or has
   *     another type than those listed there; or if there is {@link #twoPhase}
   */
  public ColumnStream deduplicate(Deduplication deduplication) {
    checkOnePhase("deduplicate");
    return new ColumnStream(
        KeyedSteps.deduplicate(plan(), exchange.keys(), deduplication, stateTtl));
  }

  /**
   * Runs a function over the rows of each batch and the state of their keys: for what has no
   * operator. Such a function is a {@link HostKeyedFunction} in Java, or works on the device.
   *
   * <p>State is a row for each key that the function gave state for, and for each entry of a map or
   * position of a list, for ever or for {@link #stateTtl(Duration)}, and part of each checkpoint,
   * as that of {@link #aggregate}. Each result takes effect once, also if the job fails; but the
   * function may be called again for the same rows, so it must not have effects other than its
   * result.
   *
   * @param function serialized with the job
   * @throws ExpressionException if a key column is an ARRAY or a ROW; a state column is one, is NOT
   *     NULL, or has the name of another state column or a key column; the key or the state has too
   *     many words; the same holds for a map or a list; two of these have the same name; the width
   *     of slices of timers is negative or not a multiple of 4 ms; the result has a column with a
   *     reserved name; or if there is {@link #twoPhase}
   */
  public ColumnStream process(KeyedBatchFunction function) {
    checkOnePhase("process");
    return new ColumnStream(KeyedSteps.process(plan(), exchange.keys(), function, stateTtl));
  }

  private void checkOnePhase(String step) {
    if (isTwoPhase) {
      throw new ExpressionException("twoPhase is not supported for " + step);
    }
  }

  @Override
  public KeyedColumnStream withTimeZone(ZoneId zone) {
    return withSettings(settings.withZone(zone));
  }

  @Override
  public KeyedColumnStream registerFunction(UserDefinedFunction function) {
    return withSettings(exchange.input().withSettings(settings).withFunction(function).settings());
  }

  private KeyedColumnStream withSettings(ExpressionSettings newSettings) {
    newSettings.context();
    return new KeyedColumnStream(exchange, newSettings, stateTtl, isTwoPhase);
  }

  @Override
  public KeyedColumnStream uid(String uid) {
    return changed(operator -> operator.uid(uid));
  }

  @Override
  public KeyedColumnStream name(String name) {
    return changed(operator -> operator.name(name));
  }

  @Override
  public KeyedColumnStream setParallelism(int parallelism) {
    return changed(operator -> operator.setParallelism(parallelism));
  }

  private KeyedColumnStream changed(Consumer<SingleOutputStreamOperator<ColumnBatch>> change) {
    exchange.change(change);
    return this;
  }
}

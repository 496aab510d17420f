// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.SortKey;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.operators.api.ExplainNode.Place;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.ColumnBatches;
import io.millrace.operators.exchange.BatchExchange;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.PojoDecoder;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.Explode;
import io.millrace.operators.transform.SortWithinBatch;
import io.millrace.operators.wire.ArrowTypeInformation;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;

/**
 * A stream of rows that is worked on in column batches, on a GPU where there is one.
 *
 * <pre>{@code
 * DataStream<Row> cheap =
 *     ColumnStream.from(rows, schema)
 *         .batch(BatchOptions.latency(Duration.ofMillis(20)))
 *         .filter(col("price").lt(1_000))
 *         .select(col("auction"), col("price").times(decimal("0.908")).as("eur"))
 *         .toRows();
 * }</pre>
 *
 * <p>Each step is checked when it is written, against the columns that it gets: an {@link
 * ExpressionException} names what is wrong. Consecutive {@link #filter}, {@link #select}, {@link
 * #withColumn} and {@link #drop} become one operator, which computes only what is left at its end.
 * {@link #explain} prints the operators.
 *
 * <p>Immutable: each method gives a new stream, and a stream may be gone on with in several ways.
 * What is pending in it, filters and projections without an operator yet, is then done in each.
 *
 * <p>Where the schema has a {@link io.millrace.operators.row.RowKindColumn}, the stream is a
 * changelog. A row keeps its kind through all steps: none drops or replaces it.
 */
@PublicEvolving
public final class ColumnStream {
  private final StreamPlan plan;

  private ColumnStream(StreamPlan plan) {
    this.plan = plan;
  }

  static ColumnStream of(
      DataStream<ColumnBatch> batches, ExpressionSettings settings, ExplainNode stage) {
    return new ColumnStream(StreamPlan.of(batches, settings, stage));
  }

  /**
   * Rows that are to be batched: {@link RowData}, {@link Row} or POJOs.
   *
   * @param schema the rows' columns; of a POJO, some of its fields
   * @throws IllegalArgumentException if the stream's type is none of those, or tells that RowData
   *     or POJOs have other types than the columns
   */
  public static <T> RowStream<T> from(DataStream<T> rows, Schema schema) {
    return new RowStream<>(rows, schema);
  }

  /**
   * Batches that are there already, such as those of a columnar source.
   *
   * @param batches a stream of a {@link ColumnBatchTypeInformation}
   * @throws IllegalArgumentException if it has another type
   */
  public static ColumnStream fromBatches(DataStream<ColumnBatch> batches) {
    String name = batches.getTransformation().getName();
    return of(
        batches,
        ExpressionSettings.DEFAULT,
        new ExplainNode(name, Place.NONE, List.of(), List.of()));
  }

  /**
   * The batches of Arrow roots, which come through the chain that makes them.
   *
   * @param roots a stream of {@link ArrowTypeInformation}
   * @param schema of all roots
   * @throws IllegalArgumentException if the stream has another type, whose serializer would copy or
   *     send roots
   */
  public static ColumnStream fromArrow(DataStream<VectorSchemaRoot> roots, Schema schema) {
    DataStream<ColumnBatch> batches = ColumnBatches.fromArrow(roots, schema);
    return of(batches, ExpressionSettings.DEFAULT, ExplainNode.batching("Batch Arrow"));
  }

  /** The columns, with their types. */
  public Schema schema() {
    return plan.schema();
  }

  /**
   * This stream, whose later expressions have a session time zone.
   *
   * @param zone instead of UTC; Flink SQL's {@code table.local-time-zone}
   */
  public ColumnStream withTimeZone(ZoneId zone) {
    return new ColumnStream(plan.withSettings(plan.settings().withZone(zone)));
  }

  /**
   * This stream, whose later expressions may call {@code function} by its name.
   *
   * @throws IllegalArgumentException if the name is taken or the function cannot be serialized
   */
  public ColumnStream registerFunction(UserDefinedFunction function) {
    return new ColumnStream(plan.withFunction(function));
  }

  private ColumnStream withPending(CalcPlan pending) {
    return new ColumnStream(plan.withPending(pending));
  }

  /**
   * The rows for which {@code condition} is true: not those for which it is false or null.
   *
   * @throws ExpressionException if it does not fit the columns or is not BOOLEAN
   */
  public ColumnStream filter(Expression condition) {
    return withPending(plan.pending().filter(condition));
  }

  /**
   * These columns, in this order; each is named by its alias, its column or its text.
   *
   * @throws ExpressionException if one does not fit the columns or two have one name
   */
  public ColumnStream select(Expression... columns) {
    return withPending(plan.pending().select(List.of(columns)));
  }

  /**
   * All columns and one more, or with one replaced if there is one of this name.
   *
   * @throws ExpressionException if the expression does not fit the columns
   */
  public ColumnStream withColumn(String name, Expression value) {
    return withPending(plan.pending().withColumn(name, value));
  }

  /**
   * All columns but these.
   *
   * @throws ExpressionException if one does not exist or none is left
   */
  public ColumnStream drop(String... names) {
    return withPending(plan.pending().drop(Arrays.asList(names)));
  }

  /**
   * About this fraction of the rows, chosen by a hash of their values: the same rows in each run,
   * however they are batched and distributed; rows with equal values, of whatever kind, all or
   * none.
   *
   * @param fraction of different rows, from 0 to 1
   * @param seed another one chooses others
   * @throws ExpressionException if the fraction is not from 0 to 1, or there are none but BINARY,
   *     ARRAY and ROW columns, whose values do not count
   */
  public ColumnStream sample(double fraction, long seed) {
    return withPending(plan.pending().sample(fraction, seed));
  }

  /**
   * The rows of this stream and of {@code others}, each stream's in its order. A column may be null
   * if it may be in one of them.
   *
   * <p>Sent as {@link BatchExchange#union} sends them. There are as many subtasks as the most that
   * one of the streams has; rows of a stream that has fewer are sent to them in turns.
   *
   * @throws IllegalArgumentException if one has other columns, in name, type or order; says which
   */
  public ColumnStream union(ColumnStream... others) {
    return new ColumnStream(
        StreamPlan.union(
            Stream.concat(Stream.of(this), Arrays.stream(others))
                .map(stream -> stream.plan)
                .toList()));
  }

  /**
   * Sends each row to the subtask that owns its key: that to which Flink's {@code keyBy} sends the
   * value that {@link #toRows} gives for it, or the tuple of these values if there are several
   * columns. See {@link BatchExchange#keyBy}.
   *
   * @throws IllegalArgumentException if there is no column or over 16, one does not exist, or is an
   *     ARRAY or ROW
   */
  public ColumnStream keyBy(String... keys) {
    return new ColumnStream(plan.keyBy(keys));
  }

  /**
   * One row an element of the list in {@code column}, which the element takes the place of: Flink
   * SQL's {@code CROSS JOIN UNNEST}. A row whose list is empty or null vanishes.
   *
   * @throws IllegalArgumentException if the column does not exist or is no ARRAY
   */
  public ColumnStream explode(String column) {
    return explode(column, false);
  }

  /** As {@link #explode}, but a row whose list is empty or null stays, with a null element. */
  public ColumnStream explodeOuter(String column) {
    return explode(column, true);
  }

  private ColumnStream explode(String column, boolean outer) {
    plan.pending().field(column);
    Schema exploded = Explode.outputSchema(schema(), column, outer);
    String name = outer ? "ExplodeOuter" : "Explode";
    return new ColumnStream(
        plan.then(
            name,
            exploded,
            Explode.factory(schema(), column, outer),
            name + "(" + column + ")",
            "the row numbers, from the bounds of the lists"));
  }

  /**
   * The rows of each batch in the order of {@code keys}; those with equal keys stay in theirs.
   *
   * @param keys {@code col("price").desc()} and the like; the first decides, then the next
   * @throws IllegalArgumentException if there is no key, a column does not exist or has no order,
   *     or the stream is a changelog, whose order has a meaning
   */
  public ColumnStream sortWithinBatch(SortKey... keys) {
    Arrays.stream(keys).map(SortKey::column).forEach(plan.pending()::field);
    String text = Arrays.stream(keys).map(SortKey::toString).collect(Collectors.joining(", "));
    return new ColumnStream(
        plan.then(
            "SortWithinBatch",
            schema(),
            SortWithinBatch.factory(schema(), List.of(keys)),
            "SortWithinBatch(" + text + ")",
            "the order of the rows, from the key columns"));
  }

  /**
   * Sends batches to the subtasks in turns, as many as the environment's parallelism; see {@link
   * BatchExchange#roundRobin}.
   */
  public ColumnStream rebalance() {
    return new ColumnStream(plan.rebalance());
  }

  /**
   * This stream, whose last operator has an identifier for savepoints and logs, as with {@link
   * SingleOutputStreamOperator#uid}. Steps that become one operator end with it: later ones make
   * another. The first of the two operators of {@link #keyBy} and {@link #rebalance} gets {@code
   * uid-partition}, those of {@link #union} {@code uid-partition-1} and so on.
   *
   * @throws IllegalStateException if there is no step yet behind batches that are no operator's, or
   *     if the stream was gone on with already
   */
  public ColumnStream uid(String uid) {
    return withOperator(operator -> operator.uid(uid));
  }

  /**
   * This stream, whose last operator has a name in the user interface, metrics and logs, as with
   * {@link SingleOutputStreamOperator#name}. Ends an operator as {@link #uid} does.
   *
   * @throws IllegalStateException as {@link #uid}
   */
  public ColumnStream name(String name) {
    return withOperator(operator -> operator.name(name));
  }

  /**
   * This stream, whose last step, which must be one that distributes rows, does so over {@code
   * parallelism} subtasks: {@link RowStream#batch}, {@link #keyBy} or {@link #rebalance}. Later
   * steps have as many.
   *
   * @throws IllegalStateException if it is another, or as {@link #uid}
   */
  public ColumnStream setParallelism(int parallelism) {
    if (!plan.isDistributed()) {
      throw new IllegalStateException(
          "the last step keeps rows in their subtasks; call rebalance() before setParallelism");
    }
    return withOperator(operator -> operator.setParallelism(parallelism));
  }

  private ColumnStream withOperator(Consumer<SingleOutputStreamOperator<ColumnBatch>> change) {
    return new ColumnStream(plan.withLastOperator(change));
  }

  /** The batches, of a type that tells their schema; released by the rules of those. */
  public DataStream<ColumnBatch> toBatches() {
    return plan.batches();
  }

  /**
   * The rows, by position and by name, with the Java types of Flink's Table API. They keep the
   * event times that they came with; see {@link ColumnBatches#toRows}.
   */
  public SingleOutputStreamOperator<Row> toRows() {
    return plan.rows(
        ExternalRowDecoder::new, ExternalRowDecoder.typeInformation(schema()), Optional.empty());
  }

  /**
   * As {@link #toRows()}, with the event times of a column.
   *
   * @param timeColumn what gives a row its timestamp, for windows and the like: a TIMESTAMP, or a
   *     BIGINT of milliseconds since 1970-01-01T00:00Z; where it is null, the batch does
   * @throws IllegalArgumentException if there is no such column or it is of another type
   */
  public SingleOutputStreamOperator<Row> toRows(String timeColumn) {
    return plan.rows(
        ExternalRowDecoder::new,
        ExternalRowDecoder.typeInformation(schema()),
        Optional.of(timeColumn));
  }

  /**
   * The rows in Flink's internal form; one object is sent again and again. Event times are as in
   * {@link #toRows()}.
   */
  public SingleOutputStreamOperator<RowData> toRowData() {
    return plan.rows(
        RowDataDecoder.factory(), RowDataDecoder.typeInformation(schema()), Optional.empty());
  }

  /** As {@link #toRowData()}, with timestamps as {@link #toRows(String)}. */
  public SingleOutputStreamOperator<RowData> toRowData(String timeColumn) {
    return plan.rows(
        RowDataDecoder.factory(),
        RowDataDecoder.typeInformation(schema()),
        Optional.of(timeColumn));
  }

  /**
   * The rows as POJOs, each column in the field of its name. Event times are as in {@link
   * #toRows()}.
   *
   * @throws IllegalArgumentException if the class is no POJO for Flink, a column's field is missing
   *     or of a class that does not fit the column, or the stream is a changelog, whose kinds a
   *     POJO cannot hold
   */
  public <T> SingleOutputStreamOperator<T> toPojo(Class<T> pojoClass) {
    PojoTypeInfo<T> type = PojoDecoder.typeInformation(pojoClass, schema());
    return plan.rows(PojoDecoder.factory(type), type, Optional.empty());
  }

  /** As {@link #toPojo(Class)}, with timestamps as {@link #toRows(String)}. */
  public <T> SingleOutputStreamOperator<T> toPojo(Class<T> pojoClass, String timeColumn) {
    PojoTypeInfo<T> type = PojoDecoder.typeInformation(pojoClass, schema());
    return plan.rows(PojoDecoder.factory(type), type, Optional.of(timeColumn));
  }

  /**
   * The batches as Arrow roots, for operators in the same chain: see {@link ArrowTypeInformation}.
   * Roots have the timestamps of their batches.
   */
  public SingleOutputStreamOperator<VectorSchemaRoot> toArrow() {
    return ColumnBatches.toArrow(toBatches());
  }

  /**
   * The operators, one a line: what each does, which operators' rows it gets if not those of the
   * line before, and whether it works on a GPU, if the TaskManager has one and {@code
   * millrace.device} is not {@code host}, or on the host and why.
   */
  public String explain() {
    return plan.lastStage().explain();
  }

  @Override
  public String toString() {
    return "ColumnStream" + schema();
  }
}

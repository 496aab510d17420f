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
import io.millrace.operators.batching.ArrowBatchingOperator;
import io.millrace.operators.batching.ArrowUnbatchingOperator;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.exchange.BatchExchange;
import io.millrace.operators.lookup.Lookup;
import io.millrace.operators.transform.FailedRows;
import io.millrace.operators.wire.ArrowTypeInformation;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;

/**
 * A stream of rows that is processed in column batches, on a GPU if there is one.
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
 * <p>Each step is checked against its input columns when it is added; an {@link
 * ExpressionException} names the error. Consecutive {@link #filter}, {@link #select}, {@link
 * #withColumn} and {@link #drop} become one operator, which computes only the columns that are left
 * after the last of them. {@link #explain} prints the operators.
 *
 * <p>Immutable: each method returns a new stream, and a stream may have several consumers. Filters
 * and projections that have no operator yet are repeated for each consumer.
 *
 * <p>If the schema has a {@link io.millrace.operators.row.RowKindColumn}, the stream is a
 * changelog. A row keeps its kind through all steps.
 */
@PublicEvolving
public sealed class ColumnStream permits KeyedColumnStream {
  private final Supplier<StreamPlan> plan;

  ColumnStream(StreamPlan plan) {
    this(() -> plan);
  }

  ColumnStream(Supplier<StreamPlan> plan) {
    this.plan = plan;
  }

  /**
   * Starts from rows: {@link RowData}, {@link Row} or POJOs.
   *
   * @param schema the columns of the rows; for a POJO, some of its fields
   * @throws IllegalArgumentException if the stream has another type, or its RowData or POJO fields
   *     have other types than the columns
   */
  public static <T> RowStream<T> from(DataStream<T> rows, Schema schema) {
    return new RowStream<>(rows, schema);
  }

  /**
   * Starts from batches, such as the output of a columnar source.
   *
   * @param batches a stream of {@link ColumnBatchTypeInformation}
   * @throws IllegalArgumentException if the stream has another type
   */
  public static ColumnStream fromBatches(DataStream<ColumnBatch> batches) {
    String name = batches.getTransformation().getName();
    ExplainNode stage = new ExplainNode(name, Place.NONE, List.of(), List.of());
    return new ColumnStream(StreamPlan.of(batches, ExpressionSettings.DEFAULT, stage));
  }

  /**
   * Starts from Arrow roots of an operator in the same chain.
   *
   * @param roots a stream of {@link ArrowTypeInformation}
   * @param schema the schema of all roots
   * @throws IllegalArgumentException if the stream has another type, whose serializer would copy or
   *     send roots
   */
  public static ColumnStream fromArrow(DataStream<VectorSchemaRoot> roots, Schema schema) {
    DataStream<ColumnBatch> batches = ArrowBatchingOperator.append(roots, schema);
    ExplainNode stage = ExplainNode.batching("Batch Arrow");
    return new ColumnStream(StreamPlan.of(batches, ExpressionSettings.DEFAULT, stage));
  }

  final StreamPlan plan() {
    return plan.get();
  }

  /** The columns and their types. */
  public Schema schema() {
    return plan().schema();
  }

  /** Sets the session time zone of later expressions: Flink SQL's {@code table.local-time-zone}. */
  public ColumnStream withTimeZone(ZoneId zone) {
    return new ColumnStream(plan().withSettings(plan().settings().withZone(zone)));
  }

  /**
   * Makes {@code function} known to later expressions by its name.
   *
   * @throws IllegalArgumentException if the name is taken or the function cannot be serialized
   */
  public ColumnStream registerFunction(UserDefinedFunction function) {
    return new ColumnStream(plan().withFunction(function));
  }

  /**
   * Keeps the rows for which {@code condition} is true, and drops rows for which it is false or
   * null.
   *
   * @throws ExpressionException if the condition does not fit the columns or is not BOOLEAN
   */
  public ColumnStream filter(Expression condition) {
    return new ColumnStream(plan().withPending(plan().pending().filter(condition)));
  }

  /**
   * Keeps these columns, in this order. The name of a column is its alias, else the name of the
   * input column, else the text of the expression.
   *
   * @throws ExpressionException if an expression does not fit the columns or two have the same name
   */
  public ColumnStream select(Expression... columns) {
    return new ColumnStream(plan().withPending(plan().pending().select(List.of(columns))));
  }

  /**
   * Adds a column, or replaces the column with this name.
   *
   * @throws ExpressionException if the expression does not fit the columns
   */
  public ColumnStream withColumn(String name, Expression value) {
    return new ColumnStream(plan().withPending(plan().pending().withColumn(name, value)));
  }

  /**
   * Drops these columns.
   *
   * @throws ExpressionException if a column does not exist or no column is left
   */
  public ColumnStream drop(String... names) {
    return new ColumnStream(plan().withPending(plan().pending().drop(Arrays.asList(names))));
  }

  /**
   * Keeps about this fraction of the rows, chosen by a hash of their values: the same rows in each
   * run, for any batches and any parallelism. Rows with equal values, of any kind, are all kept or
   * all dropped.
   *
   * @param fraction of the distinct rows, from 0 to 1
   * @param seed selects other rows
   * @throws ExpressionException if the fraction is not from 0 to 1, or all columns are BINARY,
   *     ARRAY or ROW, which are not hashed
   */
  public ColumnStream sample(double fraction, long seed) {
    return new ColumnStream(plan().withPending(plan().pending().sample(fraction, seed)));
  }

  /**
   * The rows of this stream and of {@code others}; the rows of each stream keep their order. A
   * column is nullable if it is nullable in one of the streams.
   *
   * <p>Uses {@link BatchExchange#union}. The parallelism is the largest parallelism of the streams;
   * a stream with fewer subtasks sends its batches round robin.
   *
   * @throws IllegalArgumentException if a stream has other columns, in name, type or order
   */
  public ColumnStream union(ColumnStream... others) {
    Stream<ColumnStream> all = Stream.concat(Stream.of(this), Stream.of(others));
    return new ColumnStream(StreamPlan.union(all.map(ColumnStream::plan).toList()));
  }

  /**
   * Sends each row to the subtask that owns its key: the subtask to which Flink's {@code keyBy}
   * sends the value that {@link #toRows} gives for the key column, or the tuple of these values for
   * several columns. See {@link BatchExchange#keyBy}.
   *
   * @throws IllegalArgumentException if there is no key column, or more than 16, or one does not
   *     exist or is an ARRAY or ROW
   */
  public KeyedColumnStream keyBy(String... keys) {
    return new KeyedColumnStream(new KeyedExchange(plan(), List.of(keys)));
  }

  /**
   * Replaces each row with one row per element of the list in {@code column}; the element replaces
   * the list: Flink SQL's {@code CROSS JOIN UNNEST}. A row with an empty or null list is dropped.
   *
   * @throws IllegalArgumentException if the column does not exist or is not an ARRAY
   */
  public ColumnStream explode(String column) {
    return new ColumnStream(plan().explode(column, false));
  }

  /** Like {@link #explode}, but keeps a row with an empty or null list, with a null element. */
  public ColumnStream explodeOuter(String column) {
    return new ColumnStream(plan().explode(column, true));
  }

  /**
   * Adds the columns of a dimension table; see {@link Lookup}.
   *
   * @throws IllegalArgumentException if the lookup does not fit the columns
   */
  public ColumnStream lookup(Lookup lookup) {
    return new ColumnStream(plan().lookup(lookup));
  }

  /**
   * Sorts the rows of each batch by {@code keys}; the sort is stable.
   *
   * @param keys such as {@code col("price").desc()}, the most significant key first
   * @throws IllegalArgumentException if there is no key, a column does not exist or has no order,
   *     or the stream is a changelog, in which the order of rows has a meaning
   */
  public ColumnStream sortWithinBatch(SortKey... keys) {
    return new ColumnStream(plan().sortWithinBatch(List.of(keys)));
  }

  /** Sends batches round robin to all subtasks; see {@link BatchExchange#roundRobin}. */
  public ColumnStream rebalance() {
    return new ColumnStream(plan().rebalance());
  }

  /**
   * Appends an operator of your own, as {@link DataStream#transform} does.
   *
   * @param name the name of the operator
   * @param schema the columns of the batches that the operator emits
   */
  public ColumnStream transform(
      String name, Schema schema, OperatorFactory<ColumnBatch, ColumnBatch> operators) {
    return new ColumnStream(plan().then(name, schema, operators));
  }

  /**
   * Leaves out the rows for which the filters and projections before this step fail: they go to
   * {@link #failedRows} and do not fail the job. Ends an operator as {@link #uid} does.
   *
   * @throws IllegalStateException if the last step is not a filter or a projection
   */
  public ColumnStream skipFailedRows() {
    return new ColumnStream(plan().withFailedRows());
  }

  /**
   * The rows that {@link #skipFailedRows} leaves out: the input columns of the filters and
   * projections, and the column {@link FailedRows#REASON}. Only {@link #name} and {@link #uid} may
   * come between the two steps.
   *
   * @throws IllegalStateException if the last step is another one
   */
  public ColumnStream failedRows() {
    return new ColumnStream(plan().failedRows());
  }

  /**
   * The rows that {@link WindowedColumnStream#sideOutputLateRows} keeps.
   *
   * @throws IllegalStateException if the last step is not the windows' aggregate
   */
  public ColumnStream lateRows() {
    return new ColumnStream(plan().lateRows());
  }

  /**
   * Sets the identifier of the last operator for savepoints and logs, as {@link
   * SingleOutputStreamOperator#uid} does. It ends an operator: later filters and projections make
   * another. The first of the two operators of {@link #keyBy} and {@link #rebalance} gets {@code
   * uid-partition}, the first operators of {@link #union} get {@code uid-partition-1} and so on.
   *
   * @throws IllegalStateException if the stream has a consumer already, or no operator yet: it is a
   *     partitioning of batches that were given
   */
  public ColumnStream uid(String uid) {
    return new ColumnStream(plan().withLastOperator(operator -> operator.uid(uid)));
  }

  /**
   * Sets the name of the last operator in the user interface, metrics and logs, as {@link
   * SingleOutputStreamOperator#name} does. Ends an operator as {@link #uid} does.
   *
   * @throws IllegalStateException under the conditions of {@link #uid}
   */
  public ColumnStream name(String name) {
    return new ColumnStream(plan().withLastOperator(operator -> operator.name(name)));
  }

  /**
   * Sets the parallelism of the last step, which must be {@link RowStream#batch}, {@link #keyBy} or
   * {@link #rebalance}, and of later steps.
   *
   * @throws IllegalStateException if it is another step, or under the conditions of {@link #uid}
   */
  public ColumnStream setParallelism(int parallelism) {
    if (!plan().isDistributed()) {
      throw new IllegalStateException(
          "the last step keeps rows in their subtasks; call rebalance() before setParallelism");
    }
    return new ColumnStream(plan().withLastOperator(last -> last.setParallelism(parallelism)));
  }

  /** The batches, of {@link ColumnBatchTypeInformation}; {@link ColumnBatch} has their release. */
  public DataStream<ColumnBatch> toBatches() {
    return plan().batches();
  }

  /**
   * The rows, by position and by name, with the Java types of Flink's Table API.
   *
   * <p>A row has the event time with which it came into {@link RowStream#batch}. It has the
   * timestamp of its batch if it was never a row before, or if an operator in between makes batches
   * of {@link ColumnBatch#table} instead of {@link ColumnBatch#tableWithEventTimes}.
   */
  public SingleOutputStreamOperator<Row> toRows() {
    return plan().externalRows(Optional.empty());
  }

  /**
   * Like {@link #toRows()}, with event times from a column.
   *
   * @param timeColumn the timestamps of the rows: a TIMESTAMP, or a BIGINT of milliseconds since
   *     1970-01-01T00:00Z; a row with a null gets the timestamp of its batch
   * @throws IllegalArgumentException if there is no such column or it has another type
   */
  public SingleOutputStreamOperator<Row> toRows(String timeColumn) {
    return plan().externalRows(Optional.of(timeColumn));
  }

  /**
   * The rows in Flink's internal format; the same object is emitted for all rows. Event times are
   * as in {@link #toRows()}.
   */
  public SingleOutputStreamOperator<RowData> toRowData() {
    return plan().rowData(Optional.empty());
  }

  /** Like {@link #toRowData()}, with event times as in {@link #toRows(String)}. */
  public SingleOutputStreamOperator<RowData> toRowData(String timeColumn) {
    return plan().rowData(Optional.of(timeColumn));
  }

  /**
   * The rows as POJOs, each column in the field with its name. Event times are as in {@link
   * #toRows()}.
   *
   * @throws IllegalArgumentException if Flink does not take the class as a POJO, a column has no
   *     field or one of another type, or the stream is a changelog: a POJO cannot hold row kinds
   */
  public <T> SingleOutputStreamOperator<T> toPojo(Class<T> pojoClass) {
    return plan().pojos(pojoClass, Optional.empty());
  }

  /** Like {@link #toPojo(Class)}, with event times as in {@link #toRows(String)}. */
  public <T> SingleOutputStreamOperator<T> toPojo(Class<T> pojoClass, String timeColumn) {
    return plan().pojos(pojoClass, Optional.of(timeColumn));
  }

  /**
   * The batches as Arrow roots, for operators in the same chain; see {@link ArrowTypeInformation}.
   * Roots have the timestamps of their batches.
   */
  public SingleOutputStreamOperator<VectorSchemaRoot> toArrow() {
    return ArrowUnbatchingOperator.append(toBatches());
  }

  /**
   * The operators, one per line: the operation, its inputs if they are not the line before, and
   * whether it runs on a GPU (if the TaskManager has one and {@code millrace.device} is not {@code
   * host}) or on the host, and why.
   */
  public String explain() {
    return plan().lastStage().explain();
  }

  @Override
  public String toString() {
    return "ColumnStream" + schema();
  }
}

package io.millrace.operators.api;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.ExpressionException;
import io.millrace.expression.ExpressionSettings;
import io.millrace.expression.Expressions;
import io.millrace.expression.SortKey;
import io.millrace.expression.UserDefinedFunction;
import io.millrace.kernel.HashFunction;
import io.millrace.operators.batch.ArrowTypeInformation;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.ColumnBatchTypeInformation;
import io.millrace.operators.batch.ColumnBatches;
import io.millrace.operators.exchange.BatchExchange;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.PojoDecoder;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.Explode;
import io.millrace.operators.transform.SortWithinBatch;
import io.millrace.operators.transform.TableTransform;
import io.millrace.operators.transform.TransformOperator;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
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
 */
@PublicEvolving
public final class ColumnStream {
  private final DataStream<ColumnBatch> input;
  private final CalcPlan pending;
  private final ExpressionSettings settings;
  private final List<Stage> stages;

  private ColumnStream(
      DataStream<ColumnBatch> input,
      CalcPlan pending,
      ExpressionSettings settings,
      List<Stage> stages) {
    this.input = input;
    this.pending = pending;
    this.settings = settings;
    this.stages = stages;
  }

  static ColumnStream of(
      DataStream<ColumnBatch> batches, ExpressionSettings settings, List<Stage> stages) {
    Schema schema = ColumnBatchTypeInformation.schemaOf(batches.getType());
    return new ColumnStream(batches, CalcPlan.of(schema, settings), settings, List.copyOf(stages));
  }

  /**
   * Rows that are to be batched: {@link RowData}, {@link Row} or POJOs.
   *
   * @param schema the rows' columns; of a POJO, some of its fields
   * @throws IllegalArgumentException if the stream's type is none of those
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
    return of(batches, ExpressionSettings.DEFAULT, List.of(Stage.onDevice(name)));
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
    return of(batches, ExpressionSettings.DEFAULT, List.of(Stage.onHost("Batch Arrow")));
  }

  /** The columns, with their types. */
  public Schema schema() {
    return pending.outputSchema();
  }

  /**
   * This stream, whose later expressions have a session time zone.
   *
   * @param zone instead of UTC; Flink SQL's {@code table.local-time-zone}
   */
  public ColumnStream withTimeZone(ZoneId zone) {
    return withSettings(settings.withZone(zone));
  }

  /**
   * This stream, whose later expressions may call {@code function} by its name.
   *
   * @throws IllegalArgumentException if the name is taken
   */
  public ColumnStream registerFunction(UserDefinedFunction function) {
    return withSettings(settings.withFunction(function));
  }

  private ColumnStream withSettings(ExpressionSettings newSettings) {
    newSettings.context();
    return new ColumnStream(input, pending.withSettings(newSettings), newSettings, stages);
  }

  private ColumnStream withPending(CalcPlan plan) {
    return new ColumnStream(input, plan, settings, stages);
  }

  /**
   * The rows for which {@code condition} is true: not those for which it is false or null.
   *
   * @throws ExpressionException if it does not fit the columns or is not BOOLEAN
   */
  public ColumnStream filter(Expression condition) {
    return withPending(pending.filter(condition));
  }

  /**
   * These columns, in this order; each is named by its alias, its column or its text.
   *
   * @throws ExpressionException if one does not fit the columns or two have one name
   */
  public ColumnStream select(Expression... columns) {
    return withPending(pending.select(List.of(columns)));
  }

  /**
   * All columns and one more, or with one replaced if there is one of this name.
   *
   * @throws ExpressionException if the expression does not fit the columns
   */
  public ColumnStream withColumn(String name, Expression value) {
    List<Expression> columns = new ArrayList<>();
    for (String column : schema().names()) {
      columns.add(column.equals(name) ? value.as(name) : Expressions.col(column));
    }
    if (!schema().names().contains(name)) {
      columns.add(value.as(name));
    }
    return withPending(pending.select(columns));
  }

  /**
   * All columns but these.
   *
   * @throws ExpressionException if one does not exist or none is left
   */
  public ColumnStream drop(String... names) {
    Arrays.stream(names).forEach(pending::field);
    Set<String> dropped = Set.copyOf(Arrays.asList(names));
    return withPending(
        pending.select(
            schema().names().stream()
                .filter(name -> !dropped.contains(name))
                .map(Expressions::col)
                .toList()));
  }

  /**
   * About this fraction of the rows, chosen by a hash of their values: the same rows in each run,
   * however they are batched and distributed; rows with equal values all or none.
   *
   * @param fraction of different rows, from 0 to 1
   * @param seed another one chooses others
   * @throws ExpressionException if the fraction is not from 0 to 1, or there are none but BINARY,
   *     ARRAY and ROW columns, whose values do not count
   */
  public ColumnStream sample(double fraction, long seed) {
    return withPending(pending.sample(fraction, seed));
  }

  /**
   * The rows of this stream and of {@code others}, each stream's in its order.
   *
   * @throws IllegalArgumentException if one has other columns, in name, type or nullability; says
   *     which
   */
  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
  public ColumnStream union(ColumnStream... others) {
    Arrays.stream(others).forEach(other -> EqualColumns.check(schema(), other.schema()));
    DataStream<ColumnBatch>[] batches =
        Arrays.stream(others).map(ColumnStream::toBatches).toArray(DataStream[]::new);
    List<Stage> all = new ArrayList<>(allStages());
    Arrays.stream(others).forEach(other -> all.addAll(other.allStages()));
    all.add(Stage.onHost("Union"));
    return of(toBatches().union(batches), settings, all);
  }

  /**
   * Sends each row to the subtask that owns its key, as Flink's {@code keyBy} does; see {@link
   * BatchExchange#keyBy}. The hash is that of DataStream jobs where it takes the key, one column of
   * a type with a Java {@code hashCode}, else that of SQL jobs.
   *
   * @throws IllegalArgumentException if a column does not exist or is no key
   */
  public ColumnStream keyBy(String... keys) {
    Arrays.stream(keys).forEach(pending::field);
    DataStream<ColumnBatch> batches = toBatches();
    boolean java =
        keys.length == 1 && HashFunction.FLINK_JAVA.supports(pending.field(keys[0]).type());
    HashFunction hash = java ? HashFunction.FLINK_JAVA : HashFunction.FLINK_BINARY_ROW;
    DataStream<ColumnBatch> keyed = BatchExchange.keyBy(batches, keys).keyHash(hash).apply();
    return of(keyed, settings, with(Stage.onDevice("KeyBy(" + String.join(", ", keys) + ")")));
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
    pending.field(column);
    Schema exploded = Explode.outputSchema(schema(), column, outer);
    String name = outer ? "ExplodeOuter" : "Explode";
    return transform(
        name,
        Stage.onDevice(
            name + "(" + column + ")", "how often each row comes, of the bounds of the lists"),
        exploded,
        Explode.factory(schema(), column, outer));
  }

  /**
   * The rows of each batch in the order of {@code keys}; those with equal keys stay in theirs.
   *
   * @param keys {@code col("price").desc()} and the like; the first decides, then the next
   * @throws IllegalArgumentException if there is no key, or a column does not exist or has no order
   */
  public ColumnStream sortWithinBatch(SortKey... keys) {
    Arrays.stream(keys).map(SortKey::column).forEach(pending::field);
    String text = Arrays.stream(keys).map(SortKey::toString).collect(Collectors.joining(", "));
    return transform(
        "SortWithinBatch",
        Stage.onDevice(
            "SortWithinBatch(" + text + ")", "the order of the rows, by the key columns"),
        schema(),
        SortWithinBatch.factory(schema(), List.of(keys)));
  }

  private ColumnStream transform(
      String name, Stage stage, Schema schema, TableTransform.Factory transforms) {
    return of(append(toBatches(), name, stage, schema, transforms), settings, with(stage));
  }

  private static SingleOutputStreamOperator<ColumnBatch> append(
      DataStream<ColumnBatch> batches,
      String name,
      Stage stage,
      Schema schema,
      TableTransform.Factory transforms) {
    return TransformOperator.factory(transforms)
        .appendTo(batches, name, new ColumnBatchTypeInformation(schema))
        .setParallelism(batches.getParallelism())
        .setDescription(stage.name());
  }

  private List<Stage> allStages() {
    return pending.isIdentity() ? stages : with(stages, CalcStage.of(pending.calc()));
  }

  private List<Stage> with(Stage stage) {
    return with(allStages(), stage);
  }

  private static List<Stage> with(List<Stage> stages, Stage stage) {
    return Stream.concat(stages.stream(), Stream.of(stage)).toList();
  }

  /** The batches, of a type that tells their schema; released by the rules of those. */
  public DataStream<ColumnBatch> toBatches() {
    return pending.isIdentity()
        ? input
        : append(input, "Calc", CalcStage.of(pending.calc()), schema(), pending.transforms());
  }

  /**
   * The rows, by position and by name, with the Java types of Flink's Table API. Rows have the
   * timestamps of their batches.
   */
  public DataStream<Row> toRows() {
    return toRows(ExternalRowDecoder::new, ExternalRowDecoder.typeInformation(schema()));
  }

  /**
   * The rows in Flink's internal form; one object is sent again and again. Rows have the timestamps
   * of their batches; {@link ColumnBatches#toRows(DataStream, String)} gives them others.
   */
  public DataStream<RowData> toRowData() {
    return toRows(RowDataDecoder::new, InternalTypeInfo.of(SchemaConverter.toRowType(schema())));
  }

  /**
   * The rows as POJOs, each column in the field of its name. Rows have the timestamps of their
   * batches.
   *
   * @throws IllegalArgumentException if the class is no POJO for Flink, or a column's field is
   *     missing or of a class that does not fit the column
   */
  public <T> DataStream<T> toPojo(Class<T> pojoClass) {
    TypeInformation<T> type = TypeInformation.of(pojoClass);
    if (!(type instanceof PojoTypeInfo<T> pojo)) {
      throw new IllegalArgumentException(
          pojoClass + " is no POJO: it needs a public constructor and public fields or setters");
    }
    PojoDecoder.check(pojo, schema());
    return toRows(PojoDecoder.factory(pojo), type);
  }

  private <T> DataStream<T> toRows(RowDecoder.Factory<T> decoders, TypeInformation<T> type) {
    DataStream<ColumnBatch> batches = toBatches();
    return ColumnBatches.toRows(batches, decoders, type, Optional.empty())
        .setParallelism(batches.getParallelism());
  }

  /**
   * The batches as Arrow roots, for operators in the same chain: see {@link ArrowTypeInformation}.
   * Roots have the timestamps of their batches.
   */
  public DataStream<VectorSchemaRoot> toArrow() {
    return ColumnBatches.toArrow(toBatches());
  }

  /**
   * The operators, one a line: what each does, whether on the device, and what the host does of it.
   */
  public String explain() {
    StringBuilder text = new StringBuilder();
    List<Stage> all = allStages();
    for (int i = 0; i < all.size(); i++) {
      all.get(i).print(i + 1, text);
    }
    return text.toString();
  }

  @Override
  public String toString() {
    return "ColumnStream" + schema();
  }
}

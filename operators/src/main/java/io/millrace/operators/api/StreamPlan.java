// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.expression.SortKey;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.kernel.explode.Explode;
import io.millrace.operators.api.ExplainNode.Place;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.UnbatchingOperator;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.exchange.BatchExchange;
import io.millrace.operators.lookup.Lookup;
import io.millrace.operators.lookup.LookupOperator;
import io.millrace.operators.lookup.LookupPlan;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.PojoDecoder;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.ExplodeTransform;
import io.millrace.operators.transform.FailedRows;
import io.millrace.operators.transform.SortWithinBatch;
import io.millrace.operators.transform.TableTransform;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.window.WindowAggregateOperator;
import io.millrace.operators.wire.ArrowTypeInformation;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.OutputTag;

/**
 * The operators of a stream, and the filters and projections behind them that have no operator yet.
 * Immutable.
 *
 * @param input the output of the last operator
 * @param pending filters and projections that will become one operator
 * @param settings the settings of later expressions
 * @param stage the last operator
 */
record StreamPlan(
    DataStream<ColumnBatch> input,
    CalcPlan pending,
    ExpressionSettings settings,
    ExplainNode stage) {
  static final String STEPS_BEHIND =
      "there are steps behind this one already: uid, name and setParallelism belong right behind"
          + " the step that they are about";

  private static final String FAILED_ROWS = "failed-rows";

  /** A plan with no pending steps. */
  static StreamPlan of(
      DataStream<ColumnBatch> batches, ExpressionSettings settings, ExplainNode stage) {
    Schema schema = ColumnBatchTypeInformation.schemaOf(batches.getType());
    return new StreamPlan(batches, CalcPlan.of(schema, settings), settings, stage);
  }

  Schema schema() {
    return pending.outputSchema();
  }

  StreamPlan withPending(CalcPlan plan) {
    return new StreamPlan(input, plan, settings, stage);
  }

  StreamPlan withSettings(ExpressionSettings newSettings) {
    newSettings.context();
    return new StreamPlan(input, pending.withSettings(newSettings), newSettings, stage);
  }

  /**
   * This stream, whose later expressions may call {@code function}.
   *
   * @throws IllegalArgumentException if the name is taken or the function cannot be serialized
   */
  StreamPlan withFunction(UserDefinedFunction function) {
    try {
      InstantiationUtil.serializeObject(function);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "the function "
              + function.name()
              + " cannot be serialized with the job; all that it refers to has to be Serializable",
          e);
    }
    return withSettings(settings.withFunction(function));
  }

  /**
   * This stream behind an operator, or a distribution by keys.
   *
   * @param batches the output of the operator
   * @param stage the operation on the device
   * @param hostReasons the steps that run on the host
   */
  StreamPlan then(DataStream<ColumnBatch> batches, String stage, String... hostReasons) {
    return then(batches, stage, Place.DEVICE, hostReasons);
  }

  private StreamPlan then(
      DataStream<ColumnBatch> batches, String stage, Place place, String... hostReasons) {
    ExplainNode next = new ExplainNode(stage, place, List.of(hostReasons), List.of(lastStage()));
    return of(batches, settings, next);
  }

  /** This stream, whose last operator has state. */
  StreamPlan withState(String text) {
    return new StreamPlan(input, pending, settings, stage.withState(text));
  }

  /** This stream, whose batches go to the subtasks in turns. */
  StreamPlan rebalance() {
    return then(BatchExchange.roundRobin(batches()).apply(), "Rebalance", Place.NONE);
  }

  /**
   * Checks whether columns can be the key of {@link #keyBy}.
   *
   * @throws IllegalArgumentException if a column does not exist or cannot be a key, such as the
   *     kind of a changelog row
   */
  void checkKeys(List<String> keys) {
    if (RowKindColumn.isIn(schema()) && keys.contains(RowKindColumn.NAME)) {
      throw new IllegalArgumentException(
          "the kind of a changelog row cannot be a key: it would separate the changes of a row");
    }
    keys.forEach(pending::field);
    BatchExchange.checkKeys(schema(), keys);
  }

  /** This stream, each row of which is in the subtask that owns its key. */
  StreamPlan keyBy(String... keys) {
    List<DataType.Field> fields = Arrays.stream(keys).map(pending::field).toList();
    return then(
        BatchExchange.keyBy(batches(), keys).apply(),
        "KeyBy(keys=[" + String.join(", ", keys) + "], hash=" + KeyedSteps.hashText(fields) + ")");
  }

  /**
   * The late rows of the last operator.
   *
   * @throws IllegalStateException if the last operator is no window aggregate with that side output
   */
  StreamPlan lateRows() {
    if (lastConstructor() instanceof WindowAggregateOperator.Constructor windows
        && windows.lateRows() != null) {
      return sideOutput(windows.lateRows(), "Late rows");
    }
    throw new IllegalStateException(
        "lateRows belongs right behind an aggregate with sideOutputLateRows, but the last step is "
            + lastStage().name());
  }

  /**
   * This stream behind an exploded list column.
   *
   * @param outer whether a row with an empty or null list stays, with a null element
   * @throws IllegalArgumentException if the column does not exist or is not an ARRAY
   */
  StreamPlan explode(String column, boolean outer) {
    pending.field(column);
    return transform(
        outer ? "ExplodeOuter" : "Explode",
        column,
        Explode.outputSchema(schema(), column, outer),
        ExplodeTransform.factory(column, outer),
        "the row numbers, from the bounds of the lists");
  }

  /**
   * This stream, with each batch in the order of {@code keys}.
   *
   * @throws IllegalArgumentException as {@link SortWithinBatch#factory}
   */
  StreamPlan sortWithinBatch(List<SortKey> keys) {
    keys.stream().map(SortKey::column).forEach(pending::field);
    return transform(
        "SortWithinBatch",
        keys.stream().map(SortKey::toString).collect(Collectors.joining(", ")),
        schema(),
        SortWithinBatch.factory(schema(), keys),
        "the order of the rows, from the key columns");
  }

  /**
   * This stream with the columns of a dimension table.
   *
   * @throws IllegalArgumentException as {@link LookupPlan}
   */
  StreamPlan lookup(Lookup lookup) {
    lookup.keys().forEach(pending::field);
    LookupPlan plan = new LookupPlan(schema(), lookup);
    String text = lookup.toString();
    return then(
        append(
            batches(), lookup.operation(), text, plan.outputSchema(), LookupOperator.factory(plan)),
        text);
  }

  private StreamPlan transform(
      String name,
      String arguments,
      Schema schema,
      TableTransform.Factory transforms,
      String hostReason) {
    String text = name + "(" + arguments + ")";
    return then(
        append(batches(), name, text, schema, TransformOperator.factory(transforms)),
        text,
        hostReason);
  }

  /** This stream behind an operator of the user. */
  StreamPlan then(String name, Schema schema, OperatorFactory<ColumnBatch, ColumnBatch> operators) {
    return then(append(batches(), name, name, schema, operators), name, Place.NONE);
  }

  /**
   * This stream, whose pending filters and projections become an operator with a side output for
   * the rows that they fail for.
   *
   * @throws IllegalStateException if no filter or projection is pending
   */
  StreamPlan withFailedRows() {
    if (pending.isIdentity()) {
      throw new IllegalStateException(
          "skipFailedRows belongs right behind a filter or a projection, but the last step is "
              + stage.name());
    }
    return of(
        calc(TransformOperator.factory(pending.transforms(), failedRows(input))),
        settings,
        lastStage());
  }

  /**
   * The side output of the last operator.
   *
   * @throws IllegalStateException if the last operator has none
   */
  StreamPlan failedRows() {
    if (lastConstructor() instanceof TransformOperator.Constructor transform
        && transform.failedRows() != null) {
      return sideOutput(transform.failedRows(), "Failed rows");
    }
    throw new IllegalStateException(
        "failedRows belongs right behind skipFailedRows, but the last step is "
            + lastStage().name());
  }

  // What makes the last operator; null if it is none of ours, or steps are pending behind it.
  private OperatorFactory.Constructor<?, ?> lastConstructor() {
    return pending.isIdentity()
            && input.getTransformation() instanceof OneInputTransformation<?, ?> transformation
            && transformation.getOperatorFactory() instanceof OperatorFactory<?, ?> factory
        ? factory.constructor()
        : null;
  }

  private StreamPlan sideOutput(OutputTag<ColumnBatch> tag, String name) {
    SingleOutputStreamOperator<ColumnBatch> operator =
        (SingleOutputStreamOperator<ColumnBatch>) input;
    return of(
        operator.getSideOutput(tag),
        settings,
        new ExplainNode(name, Place.NONE, List.of(), List.of(stage)));
  }

  private static OutputTag<ColumnBatch> failedRows(DataStream<ColumnBatch> input) {
    Schema schema = ColumnBatchTypeInformation.schemaOf(input.getType());
    return new OutputTag<>(FAILED_ROWS, new ColumnBatchTypeInformation(FailedRows.schema(schema)));
  }

  /**
   * The rows of all streams; later expressions have the settings of the first.
   *
   * @throws IllegalArgumentException if one has other columns
   */
  static StreamPlan union(List<StreamPlan> streams) {
    if (streams.size() == 1) {
      return streams.get(0);
    }
    Schema schema = UnionSchema.of(streams.stream().map(StreamPlan::schema).toList());
    List<StreamPlan> same =
        streams.stream().map(stream -> stream.withPending(stream.pending.as(schema))).toList();
    List<DataStream<ColumnBatch>> batches = same.stream().map(StreamPlan::batches).toList();
    List<ExplainNode> stages = same.stream().map(StreamPlan::lastStage).toList();
    return of(
        BatchExchange.union(batches).apply(),
        streams.get(0).settings(),
        new ExplainNode("Union", Place.NONE, List.of(), stages));
  }

  static SingleOutputStreamOperator<ColumnBatch> append(
      DataStream<ColumnBatch> batches,
      String name,
      String description,
      Schema schema,
      OperatorFactory<ColumnBatch, ColumnBatch> operators) {
    return operators
        .appendTo(batches, name, new ColumnBatchTypeInformation(schema))
        .setParallelism(batches.getParallelism())
        .setDescription(description);
  }

  /** The batches of the stream; makes an operator of the pending filters and projections. */
  DataStream<ColumnBatch> batches() {
    return pending.isIdentity() ? input : calc(TransformOperator.factory(pending.transforms()));
  }

  private DataStream<ColumnBatch> calc(OperatorFactory<ColumnBatch, ColumnBatch> operators) {
    return append(input, "Calc", CalcExplain.name(pending.calc()), schema(), operators);
  }

  /** See {@link ColumnStream#toRows}; without a column, rows keep the times they came with. */
  SingleOutputStreamOperator<Row> externalRows(Optional<String> timeColumn) {
    return rows(ExternalRowDecoder::new, ExternalRowDecoder.typeInformation(schema()), timeColumn);
  }

  /** See {@link ColumnStream#toRowData}. */
  SingleOutputStreamOperator<RowData> rowData(Optional<String> timeColumn) {
    return rows(RowDataDecoder.factory(), RowDataDecoder.typeInformation(schema()), timeColumn);
  }

  /** See {@link ColumnStream#toPojo}. */
  <T> SingleOutputStreamOperator<T> pojos(Class<T> pojoClass, Optional<String> timeColumn) {
    PojoTypeInfo<T> type = PojoDecoder.typeInformation(pojoClass, schema());
    return rows(PojoDecoder.factory(type), type, timeColumn);
  }

  private <T> SingleOutputStreamOperator<T> rows(
      RowDecoder.Factory<T> decoders, TypeInformation<T> type, Optional<String> timeColumn) {
    timeColumn.ifPresent(pending::field);
    return UnbatchingOperator.append(batches(), decoders, type, timeColumn);
  }

  /** The last operator, including the operator of pending steps. */
  ExplainNode lastStage() {
    return pending.isIdentity() ? stage : CalcExplain.of(pending.calc(), stage);
  }

  /**
   * This stream, whose last operator is changed.
   *
   * @throws IllegalStateException if there is none, but a partitioning of batches that were given,
   *     or if there are others behind it
   */
  StreamPlan withLastOperator(Consumer<SingleOutputStreamOperator<ColumnBatch>> change) {
    if (pending.isIdentity() && isContinued()) {
      throw new IllegalStateException(STEPS_BEHIND);
    }
    StreamPlan plan = of(batches(), settings, lastStage());
    if (!(plan.input instanceof SingleOutputStreamOperator<ColumnBatch> operator)) {
      throw new IllegalStateException(
          "there is no operator yet: the stream is a partitioning of batches that were given");
    }
    change.accept(operator);
    return plan;
  }

  private boolean isContinued() {
    return input.getExecutionEnvironment().getTransformations().stream()
        .filter(operator -> operator.getId() != input.getId())
        .anyMatch(
            operator -> operator.getTransitivePredecessors().contains(input.getTransformation()));
  }

  /** Whether the last operator gets rows of other subtasks, or rows that Flink distributes. */
  boolean isDistributed() {
    return pending.isIdentity()
        && input.getTransformation() instanceof OneInputTransformation<?, ?> operator
        && (operator.getInputs().get(0) instanceof PartitionTransformation
            || !isColumnar(operator.getInputType()));
  }

  private static boolean isColumnar(TypeInformation<?> type) {
    return type instanceof ColumnBatchTypeInformation || type instanceof ArrowTypeInformation;
  }
}

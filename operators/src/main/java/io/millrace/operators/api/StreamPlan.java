// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.operators.api.ExplainNode.Place;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.ColumnBatches;
import io.millrace.operators.exchange.BatchExchange;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TableTransform;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ArrowTypeInformation;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.util.InstantiationUtil;

/**
 * The operators of a stream, and filters and projections behind them that are none yet. Immutable.
 *
 * @param input what the last operator gives
 * @param pending filters and projections that are to become one operator
 * @param settings of later expressions
 * @param stage the last operator
 */
record StreamPlan(
    DataStream<ColumnBatch> input,
    CalcPlan pending,
    ExpressionSettings settings,
    ExplainNode stage) {

  /** A stream whose operators all are there. */
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
   * @param batches what it gives
   * @param stage what it does, on the device
   * @param hostReasons what of it is done on the host
   */
  StreamPlan then(DataStream<ColumnBatch> batches, String stage, String... hostReasons) {
    return then(batches, stage, Place.DEVICE, hostReasons);
  }

  private StreamPlan then(
      DataStream<ColumnBatch> batches, String stage, Place place, String... hostReasons) {
    ExplainNode next = new ExplainNode(stage, place, List.of(hostReasons), List.of(lastStage()));
    return of(batches, settings, next);
  }

  /** This stream, whose batches go to the subtasks in turns. */
  StreamPlan rebalance() {
    return then(BatchExchange.roundRobin(batches()).apply(), "Rebalance", Place.NONE);
  }

  /**
   * This stream, each row of which is in the subtask that owns its key.
   *
   * @throws IllegalArgumentException if a column does not exist or is no key, such as the kind of a
   *     changelog's row
   */
  StreamPlan keyBy(String... keys) {
    if (RowKindColumn.isIn(schema()) && List.of(keys).contains(RowKindColumn.NAME)) {
      throw new IllegalArgumentException(
          "the kind of a changelog's row is no key: the changes of a row would part");
    }
    List<DataType.Field> fields = Arrays.stream(keys).map(pending::field).toList();
    return then(
        BatchExchange.keyBy(batches(), keys).keyHash(HashFunction.FLINK_JAVA).apply(),
        "KeyBy(keys=[" + String.join(", ", keys) + "], hash=" + hashText(fields) + ")");
  }

  // Whose hashCode() it is, for those who key by the same value behind the stream.
  private static String hashText(List<DataType.Field> keys) {
    List<String> classes =
        keys.stream()
            .map(key -> SchemaConverter.toDataType(Schema.of(key)).getChildren().get(0))
            .map(type -> type.getConversionClass().getSimpleName())
            .toList();
    if (classes.size() > 1) {
      return "Tuple" + classes.size() + "<" + String.join(", ", classes) + ">.hashCode()";
    }
    return keys.get(0).type().equals(DataType.BINARY)
        ? "Arrays.hashCode(byte[])"
        : classes.get(0) + ".hashCode()";
  }

  /** This stream behind an operator that makes tables of tables. */
  StreamPlan then(
      String name,
      Schema schema,
      TableTransform.Factory transforms,
      String stage,
      String hostReason) {
    return then(append(batches(), name, stage, schema, transforms), stage, hostReason);
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

  private static SingleOutputStreamOperator<ColumnBatch> append(
      DataStream<ColumnBatch> batches,
      String name,
      String description,
      Schema schema,
      TableTransform.Factory transforms) {
    return TransformOperator.factory(transforms)
        .appendTo(batches, name, new ColumnBatchTypeInformation(schema))
        .setParallelism(batches.getParallelism())
        .setDescription(description);
  }

  /** What the stream gives; makes an operator of what is pending. */
  DataStream<ColumnBatch> batches() {
    return pending.isIdentity()
        ? input
        : append(input, "Calc", CalcExplain.name(pending.calc()), schema(), pending.transforms());
  }

  /**
   * The rows of what the stream gives.
   *
   * @param timeColumn what gives rows their timestamps; empty for those that they came with
   * @throws IllegalArgumentException if there is no such column or it holds no time
   */
  <T> SingleOutputStreamOperator<T> rows(
      RowDecoder.Factory<T> decoders, TypeInformation<T> type, Optional<String> timeColumn) {
    timeColumn.ifPresent(pending::field);
    return ColumnBatches.toRows(batches(), decoders, type, timeColumn);
  }

  /** The last operator, which may be that of what is pending. */
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
      throw new IllegalStateException(
          "there are steps behind this one already: uid, name and setParallelism belong right behind"
              + " the step that they are about");
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

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.ArgumentName;
import io.millrace.operators.aggregate.ArgumentOperator;
import io.millrace.operators.aggregate.GroupAggregateOperator;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.LocalGroupAggregateOperator;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.deduplicate.DeduplicateOperator;
import io.millrace.operators.deduplicate.DeduplicatePlan;
import io.millrace.operators.deduplicate.Deduplication;
import io.millrace.operators.process.KeyedBatchFunction;
import io.millrace.operators.process.ProcessOperator;
import io.millrace.operators.process.ProcessPlan;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.window.TimeWindow;
import io.millrace.operators.window.WindowAggregateOperator;
import io.millrace.operators.window.WindowAggregatePlan;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.util.OutputTag;

/** The operators with state behind {@link StreamPlan#keyBy}. */
final class KeyedSteps {
  private static final String LATE_ROWS = "late-rows";

  private KeyedSteps() {}

  /**
   * A stream behind a group aggregate.
   *
   * @throws ExpressionException as {@link GroupAggregatePlan}, or if the stream has updates without
   *     the rows before them
   */
  static StreamPlan aggregate(
      StreamPlan stream, List<String> keys, List<Aggregate> aggregates, StateTtl stateTtl) {
    checkUpdates(stream);
    GroupAggregatePlan plan =
        new GroupAggregatePlan(stream.schema(), keys, aggregates, stream.settings(), stateTtl);
    StreamPlan arguments = stream;
    List<SingleOutputStreamOperator<ColumnBatch>> operators = new ArrayList<>();
    for (int i = 0; i < plan.keptArguments().size(); i++) {
      ArgumentName name = plan.keptArguments().get(i);
      SingleOutputStreamOperator<ColumnBatch> operator =
          StreamPlan.append(
              arguments.batches(),
              name.operator(),
              name.toString(),
              plan.argumentSchema(),
              ArgumentOperator.factory(plan, i));
      operators.add(operator);
      arguments =
          arguments
              .then(operator, name.toString(), plan.hostReasonsOfArgument(i).toArray(String[]::new))
              .withState(StateExplain.ofArgument(plan, i));
    }
    SingleOutputStreamOperator<ColumnBatch> operator =
        StreamPlan.append(
            arguments.batches(),
            "GroupAggregate",
            plan.toString(),
            plan.outputSchema(),
            GroupAggregateOperator.factory(plan));
    return arguments
        .then(
            new AggregateStream(plan.keptArguments(), operators, operator),
            plan.toString(),
            plan.hostReasons().toArray(String[]::new))
        .withState(StateExplain.ofKeys(plan));
  }

  /**
   * A stream behind a group aggregate in two phases, of which the first is in front of the
   * exchange.
   *
   * @throws ExpressionException as {@link TwoPhasePlan}, or if the stream has updates without the
   *     rows before them
   */
  static StreamPlan twoPhaseAggregate(
      KeyedExchange exchange,
      ExpressionSettings settings,
      List<Aggregate> aggregates,
      StateTtl stateTtl) {
    StreamPlan stream = exchange.input().withSettings(settings);
    checkUpdates(stream);
    TwoPhasePlan plan =
        new TwoPhasePlan(stream.schema(), exchange.keys(), aggregates, settings, stateTtl);
    StreamPlan partials =
        then(
            stream,
            "LocalGroupAggregate",
            plan.localText(),
            plan.partials(),
            LocalGroupAggregateOperator.factory(plan),
            plan.hostReasons());
    return then(
            exchange.exchange(partials),
            "GlobalGroupAggregate",
            plan.toString(),
            plan.outputSchema(),
            GroupAggregateOperator.factory(plan),
            List.of())
        .withState(StateExplain.ofKeys(plan.aggregates()));
  }

  private static void checkUpdates(StreamPlan stream) {
    if (RowKindColumn.isIn(stream.schema()) && hasUpserts(stream.input().getTransformation())) {
      throw new ExpressionException(
          "expected a changelog with the row before each update, got the changes of"
              + " deduplicate(...), which have only the row after it");
    }
  }

  private static boolean hasUpserts(Transformation<?> batches) {
    if (!(batches.getOutputType() instanceof ColumnBatchTypeInformation)) {
      return false;
    }
    if (batches instanceof OneInputTransformation<?, ?> operator
        && operator.getOperatorFactory() instanceof OperatorFactory<?, ?> factory) {
      if (factory.constructor() instanceof DeduplicateOperator.Constructor deduplicate
          && deduplicate.plan().isChangelog()) {
        return true;
      }
      // The function makes a changelog of its own.
      if (factory.getStreamOperatorClass(null) == ProcessOperator.class) {
        return false;
      }
    }
    return batches.getInputs().stream().anyMatch(KeyedSteps::hasUpserts);
  }

  /**
   * A stream with one row of each key.
   *
   * @throws ExpressionException as {@link DeduplicatePlan}
   */
  static StreamPlan deduplicate(
      StreamPlan stream, List<String> keys, Deduplication deduplication, StateTtl stateTtl) {
    DeduplicatePlan plan = new DeduplicatePlan(stream.schema(), keys, deduplication, stateTtl);
    return then(
            stream,
            "Deduplicate",
            plan.toString(),
            plan.outputSchema(),
            DeduplicateOperator.factory(plan),
            List.of())
        .withState(StateExplain.ofKeys(plan.stateSchema()));
  }

  /**
   * A stream behind a function with state.
   *
   * @throws ExpressionException as {@link ProcessPlan}
   */
  static StreamPlan process(
      StreamPlan stream, List<String> keys, KeyedBatchFunction function, StateTtl stateTtl) {
    ProcessPlan plan = new ProcessPlan(stream.schema(), keys, function, stateTtl);
    return then(
        stream,
        "Process",
        plan.toString(),
        plan.outputSchema(),
        ProcessOperator.factory(plan),
        plan.hostReasons());
  }

  /**
   * A stream behind a window aggregate.
   *
   * @param keepsLateRows whether late rows go to a side output
   * @throws ExpressionException as {@link WindowAggregatePlan}
   */
  static StreamPlan windowAggregate(
      StreamPlan stream,
      List<String> keys,
      TimeWindow window,
      List<Aggregate> aggregates,
      boolean keepsLateRows,
      Duration allowedLateness,
      Duration earlyFiring) {
    WindowAggregatePlan plan =
        new WindowAggregatePlan(
            stream.schema(),
            keys,
            window,
            aggregates,
            stream.settings(),
            allowedLateness,
            earlyFiring);
    OutputTag<ColumnBatch> lateRows =
        keepsLateRows
            ? new OutputTag<>(LATE_ROWS, new ColumnBatchTypeInformation(stream.schema()))
            : null;
    return then(
            stream,
            "WindowAggregate",
            plan.toString(),
            plan.outputSchema(),
            WindowAggregateOperator.factory(plan, lateRows),
            plan.hostReasons())
        .withState(StateExplain.ofSlices(plan.aggregates()));
  }

  private static StreamPlan then(
      StreamPlan stream,
      String name,
      String text,
      Schema schema,
      OperatorFactory<ColumnBatch, ColumnBatch> operators,
      List<String> hostReasons) {
    return stream.then(
        StreamPlan.append(stream.batches(), name, text, schema, operators),
        text,
        hostReasons.toArray(String[]::new));
  }

  // The hashCode() to use in a key selector behind the stream.
  static String hashText(List<DataType.Field> keys) {
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
}

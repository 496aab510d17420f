// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.batching.BatchingOperator;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.RowAppender;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.transfer.WatermarkMode;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.api.transformations.PhysicalTransformation;
import org.apache.flink.streaming.runtime.partitioner.GlobalPartitioner;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecEdge;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeConfig;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeContext;
import org.apache.flink.table.planner.plan.nodes.exec.SingleTransformationTranslator;
import org.apache.flink.table.planner.plan.nodes.exec.stream.StreamExecNode;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/**
 * The base of the nodes whose operators take batches. Where a node of Flink's produces an input,
 * this class makes batches of its rows.
 *
 * @param <T> the type of what the node gives
 */
@Internal
public abstract class BatchInputExecNode<T> extends ExecNodeBase<T>
    implements StreamExecNode<T>, SingleTransformationTranslator<T> {
  // No operators of Flink's have these names.
  private static final String STATE = "millrace-state";
  private static final String NO_STATE = "millrace";

  private final String kind;
  private transient int uids;
  private final List<NodeInput> inputs;
  private final transient Map<Integer, Transformation<ColumnBatch>> chosen = new HashMap<>();

  /**
   * @param kind Flink's name of such nodes, such as "Calc"
   * @param description what EXPLAIN says of the node
   */
  protected BatchInputExecNode(
      String kind, List<NodeInput> inputs, LogicalType output, String description) {
    super(
        ExecNodeContext.newNodeId(),
        new ExecNodeContext("stream-exec-millrace-" + kind + "_1"),
        new Configuration(),
        inputs.stream().map(NodeInput::property).toList(),
        output,
        description);
    this.kind = kind;
    this.inputs = List.copyOf(inputs);
  }

  /** Whether an input gives batches; otherwise it gives rows. */
  protected final boolean takesBatches(int input) {
    ExecNode<?> source = getInputEdges().get(input).getSource();
    return source instanceof BatchExecNode || ChosenColumns.of(source).isPresent();
  }

  /** The type of an input's rows. */
  protected final RowType inputType(int input) {
    return (RowType) getInputEdges().get(input).getOutputType();
  }

  /** Whether all rows of an input are insertions. */
  protected final boolean isInsertOnly(int input) {
    return inputs.get(input).insertOnly();
  }

  /** An input as batches. If it gives rows, all their fields become columns. */
  protected final Transformation<ColumnBatch> inputBatches(int input, PlannerBase planner) {
    return inputBatches(input, WatermarkMode.FLUSH, planner);
  }

  /**
   * As {@link #inputBatches(int, PlannerBase)}.
   *
   * @param watermarks the effect that a watermark may have on batches that an exchange has not sent
   *     yet
   */
  protected final Transformation<ColumnBatch> inputBatches(
      int input, WatermarkMode watermarks, PlannerBase planner) {
    ExecNode<?> node = getInputEdges().get(input).getSource();
    if (node instanceof BatchExecNode source) {
      return source.translateToBatches(planner, watermarks);
    }
    Optional<ChosenColumns> columns = ChosenColumns.of(node);
    if (columns.isPresent()) {
      return chosen.computeIfAbsent(input, i -> choose(columns.get(), planner));
    }
    Schema schema = SchemaConverter.toSchema(inputType(input));
    return batched(
        input,
        isInsertOnly(input) ? schema : RowKindColumn.addTo(schema),
        RowDataAppender.factory(),
        new PlanContext(planner.getTableConfig()).batchOptions(),
        planner);
  }

  private Transformation<ColumnBatch> choose(ChosenColumns columns, PlannerBase planner) {
    Transformation<ColumnBatch> batches = columns.source().translateToBatches(planner);
    Schema schema = ColumnBatchTypeInformation.schemaOf(batches.getOutputType());
    List<Expression> names =
        columns.columns().stream()
            .<Expression>map(column -> Expressions.col(schema.field(column).name()))
            .toList();
    CalcPlan plan =
        CalcPlan.of(schema, new PlanContext(planner.getTableConfig()).expressionSettings())
            .select(names);
    return append(
        batches,
        "columns",
        TransformOperator.factory(plan.transforms()),
        new ColumnBatchTypeInformation(plan.outputSchema()),
        planner.getTableConfig());
  }

  /**
   * The rows of an input as batches.
   *
   * @param schema of the batches
   * @param appenders make columns of rows
   */
  protected final Transformation<ColumnBatch> batched(
      int input,
      Schema schema,
      RowAppender.Factory<RowData> appenders,
      BatchOptions options,
      PlannerBase planner) {
    ExecEdge edge = getInputEdges().get(input);
    @SuppressWarnings("unchecked") // nodes of streams give rows
    Transformation<RowData> rows = (Transformation<RowData>) edge.translateToPlan(planner);
    TableConfig config = planner.getTableConfig();
    return append(
        rows,
        "batches",
        BatchingOperator.factory(schema, appenders, options),
        new ColumnBatchTypeInformation(schema),
        config);
  }

  /**
   * Appends an operator.
   *
   * @param step what the operator does of the node's work; empty if it does all
   */
  protected final <I, O> Transformation<O> append(
      Transformation<I> input,
      String step,
      OperatorFactory<I, O> factory,
      TypeInformation<O> type,
      TableConfig config) {
    String name = createFormattedTransformationName(getDescription(), name(step), config);
    OneInputTransformation<I, O> operator = factory.appendTo(input, name, type, config);
    operator.setDescription(createFormattedTransformationDescription(getDescription(), config));
    if (inputsContainSingleton() || isGlobal(input)) {
      operator.setParallelism(1);
      operator.setMaxParallelism(1);
    }
    setUid(operator, config);
    return operator;
  }

  // Of an operator without state: the uid need not be the same in another job.
  private void setUid(Transformation<?> operator, TableConfig config) {
    ExecNodeConfig node = ExecNodeConfig.ofTableConfig(config, false);
    if (node.shouldSetUid()) {
      operator.setUid(createTransformationUid(NO_STATE, node) + "-" + uids++);
    }
  }

  /**
   * Gives the operators behind {@code inputs}, up to {@code last}, their uids, if {@code
   * table.exec.uid.generation} asks for them. They have no state.
   */
  protected final void setUids(
      Transformation<?> last, Collection<Transformation<ColumnBatch>> inputs, TableConfig config) {
    if (inputs.contains(last)) {
      return;
    }
    if (last instanceof PhysicalTransformation) {
      setUid(last, config);
    }
    last.getInputs().forEach(input -> setUids(input, inputs, config));
  }

  /** Appends the node's operator with keyed state or, if it has several, the last of them. */
  protected final Transformation<ColumnBatch> appendKeyed(
      Transformation<ColumnBatch> input,
      OperatorFactory<ColumnBatch, ColumnBatch> factory,
      Schema output,
      TableConfig config) {
    return appendKeyed(input, "", "", factory, output, config);
  }

  /**
   * Appends an operator with keyed state, which is behind an exchange by Flink SQL's hash of keys.
   * Its uid, if {@code table.exec.uid.generation} asks for one, is not that of Flink's operator:
   * Flink refuses to restore the state of the one in the other.
   *
   * @param step as for {@link #append}
   * @param uidSuffix of its uid, other than those of the node's other operators
   * @param output the columns of the operator's batches
   */
  protected final Transformation<ColumnBatch> appendKeyed(
      Transformation<ColumnBatch> input,
      String step,
      String uidSuffix,
      OperatorFactory<ColumnBatch, ColumnBatch> factory,
      Schema output,
      TableConfig config) {
    Transformation<ColumnBatch> operator =
        append(
            input,
            step,
            factory.withKeyHash(HashFunction.FLINK_BINARY_ROW),
            new ColumnBatchTypeInformation(output),
            config);
    ExecNodeConfig node = ExecNodeConfig.ofTableConfig(config, false);
    if (node.shouldSetUid()) {
      operator.setUid(createTransformationUid(STATE, node) + uidSuffix);
    }
    return operator;
  }

  /**
   * Gives the operators of a connector's table their uids, if {@code table.exec.uid.generation}
   * asks for them.
   */
  protected final ProviderContext providerContext(TableConfig config) {
    ExecNodeConfig node = ExecNodeConfig.ofTableConfig(config, false);
    return name ->
        node.shouldSetUid() ? Optional.of(createTransformationUid(name, node)) : Optional.empty();
  }

  private String name(String step) {
    return "Millrace" + kind + (step.isEmpty() ? "" : " " + step);
  }

  private static boolean isGlobal(Transformation<?> input) {
    return input instanceof PartitionTransformation<?> partition
        && partition.getPartitioner() instanceof GlobalPartitioner;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.sink;

import io.millrace.column.Schema;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.sql.runtime.SinkColumns;
import io.millrace.operators.sql.table.BatchDynamicTableSink;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.api.InsertConflictStrategy;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.api.config.ExecutionConfigOptions.NotNullEnforcer;
import org.apache.flink.table.api.config.ExecutionConfigOptions.RowtimeInserter;
import org.apache.flink.table.api.config.ExecutionConfigOptions.SinkKeyedShuffle;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.connectors.DynamicSinkUtils;
import org.apache.flink.table.planner.plan.abilities.sink.RowLevelDeleteSpec;
import org.apache.flink.table.planner.plan.abilities.sink.RowLevelUpdateSpec;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalSink;
import org.apache.flink.table.runtime.operators.sink.constraint.ConstraintEnforcerExecutor;
import org.apache.flink.table.runtime.typeutils.TypeCheckUtils;
import org.apache.flink.table.types.logical.RowType;

/**
 * Decides about a sink: it has to be a {@link BatchDynamicTableSink}, and Flink's node would put
 * nothing in front of it but the check of NOT NULL columns.
 */
@Internal
public final class SinkMatcher extends NodeMatcher<StreamPhysicalSink, SinkSpec> {
  public SinkMatcher() {
    super(StreamPhysicalSink.class, SinkRel.KIND);
  }

  @Override
  protected SinkSpec match(StreamPhysicalSink node, PlanContext context) {
    if (!(node.tableSink() instanceof BatchDynamicTableSink sink)) {
      throw new UnsupportedNodeException("its sink takes rows");
    }
    TableConfig config = context.config();
    ResolvedSchema schema = node.contextResolvedTable().getResolvedSchema();
    checkChanges(node);
    checkShuffle(sink, schema, config);
    checkStatement(node);
    checkTimes(FlinkTypeFactory.toLogicalRowType(node.getInput().getRowType()), config);
    RowType consumed = DynamicSinkUtils.createConsumedType(schema, sink);
    checkConstraints(consumed, config);
    checkTypes(PlannedInput.batchSchema(node.getInput()), PlannedInput.schema(consumed));
    boolean drops =
        config.get(ExecutionConfigOptions.TABLE_EXEC_SINK_NOT_NULL_ENFORCER)
            == NotNullEnforcer.DROP;
    return new SinkSpec(sink, consumed, drops);
  }

  private static void checkChanges(StreamPhysicalSink node) {
    if (node.upsertMaterialize() && !NodeInput.isInsertOnly(node.getInput())) {
      throw new UnsupportedNodeException("the rows of a key are materialized in front of it");
    }
    InsertConflictStrategy strategy = node.conflictStrategy();
    if (strategy != null && !strategy.equals(InsertConflictStrategy.deduplicate())) {
      throw new UnsupportedNodeException("ON CONFLICT " + strategy.getBehavior());
    }
  }

  private static void checkShuffle(
      BatchDynamicTableSink sink, ResolvedSchema schema, TableConfig config) {
    SinkKeyedShuffle shuffle = config.get(ExecutionConfigOptions.TABLE_EXEC_SINK_KEYED_SHUFFLE);
    if (schema.getPrimaryKey().isEmpty() || shuffle == SinkKeyedShuffle.NONE) {
      return;
    }
    if (shuffle == SinkKeyedShuffle.FORCE || sink.parallelism().isPresent()) {
      throw new UnsupportedNodeException("rows are sent to it by the primary key");
    }
  }

  private static void checkStatement(StreamPhysicalSink node) {
    boolean isRowLevel =
        Arrays.stream(node.abilitySpecs())
            .anyMatch(
                spec -> spec instanceof RowLevelDeleteSpec || spec instanceof RowLevelUpdateSpec);
    if (isRowLevel) {
      throw new UnsupportedNodeException("it deletes or updates rows of the table");
    }
  }

  // Flink's node refuses the query, with a message for users.
  private static void checkTimes(RowType input, TableConfig config) {
    long times = input.getChildren().stream().filter(TypeCheckUtils::isRowTime).count();
    if (times > 1
        && config.get(ExecutionConfigOptions.TABLE_EXEC_SINK_ROWTIME_INSERTER)
            == RowtimeInserter.ENABLED) {
      throw new UnsupportedNodeException("the query has more than one rowtime attribute");
    }
  }

  private static void checkTypes(Schema given, Schema taken) {
    for (int i = 0; i < taken.size(); i++) {
      if (!SinkColumns.takes(taken.type(i), given.type(i))) {
        throw new UnsupportedNodeException(
            "column %s takes %s, and gets %s"
                .formatted(taken.field(i).name(), taken.type(i), given.type(i)));
      }
    }
  }

  private static void checkConstraints(RowType consumed, TableConfig config) {
    RowType withNulls =
        new RowType(
            consumed.getFields().stream()
                .map(field -> new RowType.RowField(field.getName(), field.getType().copy(true)))
                .toList());
    ConstraintEnforcerExecutor.create(
            withNulls,
            config.get(ExecutionConfigOptions.TABLE_EXEC_SINK_NOT_NULL_ENFORCER),
            config.get(ExecutionConfigOptions.TABLE_EXEC_SINK_TYPE_LENGTH_ENFORCER),
            config.get(ExecutionConfigOptions.TABLE_EXEC_SINK_NESTED_CONSTRAINT_ENFORCER))
        .ifPresent(
            executor -> {
              throw new UnsupportedNodeException(
                  Arrays.stream(executor.getConstraints())
                      .map(Object::toString)
                      .collect(Collectors.joining(", ")));
            });
  }

  @Override
  @SuppressWarnings("deprecation") // the constructor of Flink's node takes the columns
  protected RelNode decided(StreamPhysicalSink node, Decision<SinkSpec> decision) {
    return new SinkRel(
        node.getCluster(),
        node.getTraitSet(),
        node.getInput(),
        node.hints(),
        node.contextResolvedTable(),
        node.tableSink(),
        node.targetColumns(),
        node.abilitySpecs(),
        node.upsertMaterialize(),
        node.conflictStrategy(),
        decision);
  }
}

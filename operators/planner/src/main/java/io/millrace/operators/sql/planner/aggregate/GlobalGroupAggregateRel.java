// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlannerField;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalGlobalGroupAggregate;
import scala.Option;

/** A GlobalGroupAggregate about which is decided. */
final class GlobalGroupAggregateRel extends StreamPhysicalGlobalGroupAggregate
    implements MillraceRel {
  static final String KIND = "GlobalGroupAggregate";

  private final Option<Object> indexOfCountStar;
  private final Decision<GroupAggregateSpec> decision;

  private GlobalGroupAggregateRel(
      StreamPhysicalGlobalGroupAggregate global,
      RelTraitSet traits,
      RelNode input,
      Option<Object> indexOfCountStar,
      Decision<GroupAggregateSpec> decision) {
    super(
        global.getCluster(),
        traits,
        input,
        global.getRowType(),
        global.grouping(),
        global.aggCalls(),
        global.aggCallNeedRetractions(),
        global.localAggInputRowType(),
        global.needRetraction(),
        global.partialFinalType(),
        indexOfCountStar,
        global.hints());
    this.indexOfCountStar = indexOfCountStar;
    this.decision = decision;
  }

  @SuppressWarnings("unchecked") // as the constructor of Flink's node has it
  static GlobalGroupAggregateRel of(
      StreamPhysicalGlobalGroupAggregate global, Decision<GroupAggregateSpec> decision) {
    PlannerField fields = new PlannerField(StreamPhysicalGlobalGroupAggregate.class, global);
    return new GlobalGroupAggregateRel(
        global,
        global.getTraitSet(),
        global.getInput(),
        fields.get("indexOfCountStar", Option.class),
        decision);
  }

  private GlobalGroupAggregateRel with(
      RelTraitSet traits, RelNode input, Decision<GroupAggregateSpec> newDecision) {
    return new GlobalGroupAggregateRel(this, traits, input, indexOfCountStar, newDecision);
  }

  @Override
  public Decision<GroupAggregateSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return with(getTraitSet(), getInput(), Decision.kept(reason));
  }

  @Override
  public boolean takesPartials() {
    return decision.isSupported();
  }

  @Override
  public String getRelTypeName() {
    return decision.typeName(KIND);
  }

  @Override
  public RelWriter explainTerms(RelWriter terms) {
    return decision.explain(super.explainTerms(terms), this);
  }

  @Override
  public RelNode copy(RelTraitSet traits, List<RelNode> inputs) {
    return with(traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new GroupAggregateExecNode(
            KIND, decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription());
  }
}

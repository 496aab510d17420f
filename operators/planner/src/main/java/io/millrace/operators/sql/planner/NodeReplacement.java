// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner;

import io.millrace.operators.sql.planner.aggregate.GlobalGroupAggregateMatcher;
import io.millrace.operators.sql.planner.aggregate.GroupAggregateMatcher;
import io.millrace.operators.sql.planner.aggregate.IncrementalGroupAggregateMatcher;
import io.millrace.operators.sql.planner.aggregate.LocalGroupAggregateMatcher;
import io.millrace.operators.sql.planner.calc.CalcMatcher;
import io.millrace.operators.sql.planner.calc.DropUpdateBeforeMatcher;
import io.millrace.operators.sql.planner.deduplicate.DeduplicateMatcher;
import io.millrace.operators.sql.planner.deduplicate.DeduplicateRel;
import io.millrace.operators.sql.planner.exchange.ExchangeMatcher;
import io.millrace.operators.sql.planner.exchange.UnionMatcher;
import io.millrace.operators.sql.planner.expand.ExpandMatcher;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.sink.SinkMatcher;
import io.millrace.operators.sql.planner.source.ScanMatcher;
import io.millrace.operators.sql.planner.time.MiniBatchMatcher;
import io.millrace.operators.sql.planner.time.WatermarkMatcher;
import io.millrace.operators.sql.planner.values.ValuesMatcher;
import io.millrace.operators.sql.planner.window.GlobalWindowAggregateMatcher;
import io.millrace.operators.sql.planner.window.GroupWindowAggregateMatcher;
import io.millrace.operators.sql.planner.window.LocalWindowAggregateMatcher;
import io.millrace.operators.sql.planner.window.WindowAggregateMatcher;
import io.millrace.operators.sql.planner.window.WindowTableFunctionMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Calc;
import org.apache.calcite.rel.core.Exchange;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalDropUpdateBefore;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalIntermediateTableScan;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalTemporalJoin;

/**
 * Replaces the nodes of a plan. From the sources to the sinks, the matcher of each node's kind
 * decides about it; then nodes that are not worth the conversion of their rows go back to Flink.
 * Flink optimizes a plan with several sinks block by block, and some blocks twice: nodes that have
 * been decided about stay as they are.
 */
final class NodeReplacement {
  static final List<NodeMatcher<?, ?>> MATCHERS =
      List.of(
          new ScanMatcher(),
          new ValuesMatcher(),
          new WatermarkMatcher(),
          new MiniBatchMatcher(),
          new CalcMatcher(),
          new DropUpdateBeforeMatcher(),
          new ExchangeMatcher(),
          new UnionMatcher(),
          new DeduplicateMatcher(),
          new ExpandMatcher(),
          new GroupAggregateMatcher(),
          new LocalGroupAggregateMatcher(),
          new GlobalGroupAggregateMatcher(),
          new IncrementalGroupAggregateMatcher(),
          new WindowAggregateMatcher(),
          new LocalWindowAggregateMatcher(),
          new GlobalWindowAggregateMatcher(),
          new GroupWindowAggregateMatcher(),
          new WindowTableFunctionMatcher(),
          new SinkMatcher());

  private final PlanContext context;

  NodeReplacement(PlanContext context) {
    this.context = context;
  }

  RelNode replace(RelNode root) {
    return review(decide(root), false);
  }

  private RelNode decide(RelNode node) {
    RelNode current = withInputs(node, this::decide);
    RelNode decided =
        MATCHERS.stream()
            .filter(matcher -> matcher.accepts(current))
            .findFirst()
            .map(matcher -> matcher.replace(current, context))
            .orElse(current);
    if (!(decided instanceof MillraceRel rel)) {
      return withInputs(decided, input -> inputOfFlinks(decided, input));
    }
    return rel.takesPartials() ? decided : withInputs(decided, NodeReplacement::withoutPartials);
  }

  private static RelNode inputOfFlinks(RelNode consumer, RelNode input) {
    if (consumer instanceof StreamPhysicalTemporalJoin && input == consumer.getInput(1)) {
      keepAllVersions(input);
    }
    return consumer.getInputs().size() > 1 ? withoutExchange(input) : withoutPartials(input);
  }

  /**
   * Gives an exchange back to Flink whose rows an operator with several inputs takes. Such an
   * operator is never chained to the receiver of batches: the rows would be serialized once more,
   * and a receiver without state of its own would not get the maximum parallelism of a checkpoint.
   */
  private static RelNode withoutExchange(RelNode node) {
    return node instanceof MillraceRel rel
            && node instanceof Exchange
            && rel.decision().isSupported()
        ? rel.kept("its rows go to an operator with several inputs")
        : node;
  }

  /**
   * Gives de-duplications by event time back to Flink, as Millrace's give one version of a row for
   * each batch; also those of a part that several sinks share, which was planned, reviewed and
   * counted before: the nodes behind them take rows then.
   */
  private static void keepAllVersions(RelNode node) {
    if (node instanceof StreamPhysicalIntermediateTableScan scan) {
      keepAllVersions(scan.intermediateTable().relNode());
    } else if (node instanceof DeduplicateRel rel) {
      rel.keepAllVersions();
    } else if (node instanceof Exchange
        || node instanceof Calc
        || node instanceof StreamPhysicalDropUpdateBefore) {
      keepAllVersions(node.getInput(0));
    }
  }

  /**
   * Gives a first phase, and an exchange behind it, back to Flink, as the second one is Flink's.
   */
  private static RelNode withoutPartials(RelNode node) {
    return node instanceof MillraceRel rel && rel.givesPartials()
        ? withInputs(rel.kept("its second phase stays Flink's"), NodeReplacement::withoutPartials)
        : node;
  }

  /**
   * Gives sources that are read as rows back to Flink, and nodes between nodes of rows that are
   * cheap or, on a GPU, the host's work.
   */
  private RelNode review(RelNode node, boolean consumedAsBatches) {
    boolean givesBatches = MillraceRel.givesBatches(node);
    boolean takesBatches = node.getInputs().stream().anyMatch(MillraceRel::givesBatches);
    if (node instanceof MillraceRel rel
        && rel.decision().isSupported()
        && !consumedAsBatches
        && !takesBatches) {
      boolean isCheap = rel.decision().spec().isCheap();
      if (isCheap && node.getInputs().isEmpty()) {
        return rel.kept("a consumer takes its rows");
      }
      if (!context.replacesCheapNodes()) {
        if (isCheap) {
          return review(rel.kept("it does too little to make batches of rows"), false);
        }
        if (rel.decision().spec().isWorkOfHost() && !context.isForHost()) {
          return review(rel.kept("the host does all that costs time in it"), false);
        }
      }
    }
    return withInputs(node, input -> review(input, givesBatches));
  }

  private static RelNode withInputs(RelNode node, UnaryOperator<RelNode> step) {
    List<RelNode> inputs = new ArrayList<>();
    boolean changed = false;
    for (RelNode input : node.getInputs()) {
      RelNode next = step.apply(input);
      changed |= next != input;
      inputs.add(next);
    }
    return changed ? node.copy(node.getTraitSet(), inputs) : node;
  }
}

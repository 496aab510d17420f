// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.exchange;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.exchange.ExchangeTransformations;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.transfer.WatermarkMode;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** Batches sent to the subtasks that own the key groups of their rows, or to one subtask. */
final class ExchangeExecNode extends MillraceExecNode {
  private final ExchangeSpec spec;
  private transient Transformation<ColumnBatch> holding;

  ExchangeExecNode(ExchangeSpec spec, NodeInput input, String description) {
    super(ExchangeRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    return exchanged(planner, WatermarkMode.FLUSH);
  }

  @Override
  public Transformation<ColumnBatch> translateToBatches(
      PlannerBase planner, WatermarkMode watermarks) {
    if (watermarks == WatermarkMode.FLUSH) {
      return translateToBatches(planner);
    }
    if (holding == null) {
      holding = exchanged(planner, watermarks);
    }
    return holding;
  }

  private Transformation<ColumnBatch> exchanged(PlannerBase planner, WatermarkMode watermarks) {
    TableConfig config = planner.getTableConfig();
    Transformation<ColumnBatch> input = inputBatches(0, planner);
    String name = createFormattedTransformationName(getDescription(), "MillraceExchange", config);
    return spec.keys()
        .map(keys -> ExchangeTransformations.byKey(input, keys, watermarks, name, config))
        .orElseGet(() -> ExchangeTransformations.single(input, watermarks, name, config));
  }
}

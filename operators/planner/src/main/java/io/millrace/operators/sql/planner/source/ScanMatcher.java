// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.source;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.table.BatchScanTableSource;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalTableSourceScan;

/** Decides about a scan: its source has to be a {@link BatchScanTableSource}. */
@Internal
public final class ScanMatcher extends NodeMatcher<StreamPhysicalTableSourceScan, ScanSpec> {
  public ScanMatcher() {
    super(StreamPhysicalTableSourceScan.class, ScanRel.KIND);
  }

  @Override
  protected ScanSpec match(StreamPhysicalTableSourceScan scan, PlanContext context) {
    if (scan.eventTimeSnapshotRequired()) {
      throw new UnsupportedNodeException("a temporal join needs snapshots of the table");
    }
    return ScanSpec.of(scan.tableSourceTable());
  }

  @Override
  protected RelNode decided(StreamPhysicalTableSourceScan scan, Decision<ScanSpec> decision) {
    return new ScanRel(
        scan.getCluster(),
        scan.getTraitSet(),
        scan.getHints(),
        scan.tableSourceTable(),
        scan.eventTimeSnapshotRequired(),
        decision);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.time;

import io.millrace.operators.sql.planner.calc.CalcSpec;
import io.millrace.operators.sql.planner.node.NodeSpec;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * The watermarks of a table.
 *
 * @param times projects each row to its watermark and its event time
 * @param output the type of the rows
 */
@Internal
public record WatermarkSpec(CalcSpec times, RowType output) implements NodeSpec {
  @Override
  public List<String> hostReasons() {
    return times.hostReasons();
  }
}

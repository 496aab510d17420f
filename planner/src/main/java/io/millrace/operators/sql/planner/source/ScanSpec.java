// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.source;

import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.table.BatchScanTableSource;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * A scan.
 *
 * @param source to which everything has been pushed down
 * @param output the type of the rows of its batches
 */
@Internal
public record ScanSpec(BatchScanTableSource source, RowType output) implements NodeSpec {}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.sink;

import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.table.BatchDynamicTableSink;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * A sink.
 *
 * @param consumed the type of the rows that the table takes, with its names and NOT NULL
 * @param dropsNulls whether rows with a null in a NOT NULL column are dropped; they fail the job
 *     otherwise
 */
@Internal
public record SinkSpec(BatchDynamicTableSink sink, RowType consumed, boolean dropsNulls)
    implements NodeSpec {}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.NodeSpec;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * The first phase of aggregates.
 *
 * @param aggregates over the fields of the input
 * @param combines whether rows of a key are combined; if the aggregates do not allow it, the rows
 *     go to the second phase as they are, with their keys first
 * @param output the type of the rows that Flink's first phase gives
 */
@Internal
public record LocalGroupAggregateSpec(KeyedAggregates aggregates, boolean combines, RowType output)
    implements NodeSpec {}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.operators.sql.planner.aggregate.KeyedAggregates;
import io.millrace.operators.sql.planner.node.NodeSpec;
import java.util.OptionalInt;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * The first phase of aggregates by window: rows go to the second phase as they are, with their keys
 * first.
 *
 * @param timeField the position of the time field in the input; empty for windows of processing
 *     time
 * @param output the type of the rows that Flink's first phase gives
 */
@Internal
public record LocalWindowAggregateSpec(
    KeyedAggregates aggregates, WindowShape shape, OptionalInt timeField, RowType output)
    implements NodeSpec {}

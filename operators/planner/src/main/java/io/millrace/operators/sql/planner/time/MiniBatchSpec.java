// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.time;

import io.millrace.operators.sql.planner.node.NodeSpec;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.plan.trait.MiniBatchInterval;
import org.apache.flink.table.types.logical.RowType;

/**
 * The mini-batches of a table.
 *
 * @param interval how long they are, in which time
 * @param output the type of the rows
 */
@Internal
public record MiniBatchSpec(MiniBatchInterval interval, RowType output) implements NodeSpec {}

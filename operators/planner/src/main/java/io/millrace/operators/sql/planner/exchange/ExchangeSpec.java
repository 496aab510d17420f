// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.exchange;

import io.millrace.operators.sql.planner.node.NodeSpec;
import java.util.List;
import java.util.Optional;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * An exchange.
 *
 * @param keys indices of the fields by which rows are sent; empty if all go to one subtask
 * @param output the type of the rows
 */
@Internal
public record ExchangeSpec(Optional<List<Integer>> keys, RowType output) implements NodeSpec {}

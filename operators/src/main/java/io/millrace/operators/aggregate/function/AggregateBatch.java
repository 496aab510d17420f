// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate.function;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.operators.context.DeviceContext;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Rows of a keyed stream and the accumulators of their keys, in the memory of the device and
 * ordered by the stream of {@code device}.
 *
 * @param rows a column for each argument, named {@code f0}, {@code f1} and so on; of a changelog
 *     with a {@link io.millrace.operators.row.RowKindColumn} behind them. Without rows that a
 *     filter leaves out; maybe none
 * @param keyNumbers an INT without nulls for each row: the number of its key, a row of {@code
 *     accumulators}. There may be keys without rows
 * @param accumulators for each key its accumulators, null before its first row
 */
@PublicEvolving
public record AggregateBatch(
    Table rows, Column keyNumbers, Table accumulators, DeviceContext device) {}

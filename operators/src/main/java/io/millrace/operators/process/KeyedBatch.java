// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.operators.context.DeviceContext;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Rows of a keyed stream and the state of their keys, in the memory of the device and ordered by
 * the stream of {@code device}.
 *
 * @param rows with the columns of the stream
 * @param keyNumbers an INT without nulls for each row: the number of its key, a row of {@code keys}
 * @param keys the distinct keys of the rows, in the order in which they come first
 * @param state for each of {@code keys} its value of each state column, null if it has none
 * @param entries reads the maps and lists of the keys; valid until the function returns
 * @param watermark the watermark before the rows, in milliseconds since the epoch; {@link
 *     Long#MIN_VALUE} if there was none
 * @param processingTime the clock of the machine, in milliseconds since the epoch
 */
@PublicEvolving
public record KeyedBatch(
    Table rows,
    Column keyNumbers,
    Table keys,
    Table state,
    EntryReader entries,
    long watermark,
    long processingTime,
    DeviceContext device) {}

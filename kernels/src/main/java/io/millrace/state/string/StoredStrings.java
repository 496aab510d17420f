// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import java.util.List;

/**
 * The strings of some rows of a state table, with addresses on the device.
 *
 * @param tails the positions of their tails in a row
 * @param firstRow the first row
 * @param rows at least 1
 * @param chunkTable address of an INT64 for each chunk of state rows: its address
 * @param strings likewise of the words of long strings
 */
record StoredStrings(
    List<Integer> tails,
    long firstRow,
    int rows,
    int rowWords,
    long chunkTable,
    int chunkShift,
    long strings) {}

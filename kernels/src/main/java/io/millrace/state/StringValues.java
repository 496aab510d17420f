// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.state.row.KeyWord;
import io.millrace.state.row.LongStrings;

/**
 * A key column with strings of a {@link StateValuesBatch}, as addresses on the device.
 *
 * @param head the word of a state row with the head of the string; see {@link KeyWord}
 * @param strings address of an INT64 for each chunk of {@link LongStrings}, its address
 * @param offsets address of an INT32 for each row of the result, and one more
 * @param bytes address of the bytes of the result; 0 as long as their number is unknown
 * @param lookBack address of {@link LongStrings#lookBackBytes} bytes
 */
record StringValues(int head, long strings, long offsets, long bytes, long lookBack) {

  StringValues to(long address) {
    return new StringValues(head, strings, offsets, address, lookBack);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import io.millrace.operators.context.SendPace;

/**
 * How many records the reader puts into a block. The operator in the reader's chain sets it; an
 * operator that is not in the chain cannot, and blocks then stay as small as the first one.
 */
final class RecordLimit {
  private volatile int records = SendPace.FIRST_ROWS;

  int records() {
    return records;
  }

  /** Asks for at most this many records in the next block. */
  void set(int newRecords) {
    records = Math.max(1, newRecords);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.column.Schema;
import io.millrace.format.BidLines;

/** Bids of the Nexmark benchmark as lines of CSV, of about 165 bytes. */
public final class CsvBidLines {
  /** The columns of a bid. */
  public static final Schema SCHEMA = BidLines.SCHEMA;

  private CsvBidLines() {}

  /** The lines, the same for the same number. */
  public static byte[] lines(int rows) {
    return BidLines.lines(rows, "", ",", ",", ",", ",", ",", ",\"", "\"\n");
  }
}

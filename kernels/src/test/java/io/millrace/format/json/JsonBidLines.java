// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.column.Schema;
import io.millrace.format.BidLines;

/** Bids of the Nexmark benchmark as lines of JSON, of about 243 bytes. */
public final class JsonBidLines {
  /** The columns of a bid. */
  public static final Schema SCHEMA = BidLines.SCHEMA;

  private JsonBidLines() {}

  /** The lines, the same for the same number. */
  public static byte[] lines(int rows) {
    return BidLines.lines(
        rows,
        "{\"auction\":",
        ",\"bidder\":",
        ",\"price\":",
        ",\"channel\":\"",
        "\",\"url\":\"",
        "\",\"dateTime\":\"",
        "\",\"extra\":\"",
        "\"}\n");
  }
}

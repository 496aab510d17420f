// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.column.Schema;
import io.millrace.format.json.JsonBidLines;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Bids of the Nexmark benchmark as lines of CSV, of about 165 bytes. */
public final class CsvBidLines {
  /** The columns of a bid. */
  public static final Schema SCHEMA = JsonBidLines.SCHEMA;

  private static final String[] CHANNELS = {"Google", "Facebook", "Baidu", "Apple"};
  private static final int LINE_BYTES = 190;

  private CsvBidLines() {}

  /** The lines, the same for the same number. */
  public static byte[] lines(int rows) {
    Random random = new Random(rows);
    StringBuilder lines = new StringBuilder(rows * LINE_BYTES);
    for (int i = 0; i < rows; i++) {
      lines
          .append(1000 + random.nextInt(1000))
          .append(',')
          .append(random.nextInt(100_000))
          .append(',')
          .append(random.nextInt(100_000_000))
          .append(',')
          .append(CHANNELS[random.nextInt(CHANNELS.length)])
          .append(",https://www.nexmark.com/abc")
          .append(random.nextInt(100_000))
          .append("/item.htm?query=1,2026-11-21 10:")
          .append(10 + random.nextInt(50))
          .append(':')
          .append(10 + random.nextInt(50))
          .append('.')
          .append(100 + random.nextInt(900))
          .append(",\"");
      random
          .ints(40 + random.nextInt(60), 'a', 'z' + 1)
          .forEach(letter -> lines.append((char) letter));
      lines.append("\"\n");
    }
    return lines.toString().getBytes(StandardCharsets.US_ASCII);
  }
}

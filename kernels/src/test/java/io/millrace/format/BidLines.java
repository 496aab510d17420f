// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/** Bids of the Nexmark benchmark as lines of text. */
public final class BidLines {
  /** The columns of a bid. */
  public static final Schema SCHEMA =
      Schema.of(
          Field.of("auction", DataType.INT64),
          Field.of("bidder", DataType.INT64),
          Field.of("price", DataType.INT64),
          Field.of("channel", DataType.STRING),
          Field.of("url", DataType.STRING),
          Field.of("dateTime", DataType.timestamp(3)),
          Field.of("extra", DataType.STRING));

  private static final String[] CHANNELS = {"Google", "Facebook", "Baidu", "Apple"};
  private static final int LINE_BYTES = 260;

  private BidLines() {}

  /**
   * The lines, the same for the same number.
   *
   * @param around what stands before each of the seven values, and behind the last
   */
  public static byte[] lines(int rows, String... around) {
    Random random = new Random(rows);
    StringBuilder lines = new StringBuilder(rows * LINE_BYTES);
    for (int i = 0; i < rows; i++) {
      lines
          .append(around[0])
          .append(1000 + random.nextInt(1000))
          .append(around[1])
          .append(random.nextInt(100_000))
          .append(around[2])
          .append(random.nextInt(100_000_000))
          .append(around[3])
          .append(CHANNELS[random.nextInt(CHANNELS.length)])
          .append(around[4])
          .append("https://www.nexmark.com/abc")
          .append(random.nextInt(100_000))
          .append("/item.htm?query=1")
          .append(around[5])
          .append("2026-11-21 10:")
          .append(10 + random.nextInt(50))
          .append(':')
          .append(10 + random.nextInt(50))
          .append('.')
          .append(100 + random.nextInt(900))
          .append(around[6]);
      random
          .ints(40 + random.nextInt(60), 'a', 'z' + 1)
          .forEach(letter -> lines.append((char) letter));
      lines.append(around[7]);
    }
    return lines.toString().getBytes(StandardCharsets.US_ASCII);
  }
}

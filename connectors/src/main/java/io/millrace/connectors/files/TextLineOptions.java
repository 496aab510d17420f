// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.Serializable;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How a text file is cut into lines.
 *
 * @param framing what ends a line
 * @param delimiter an ASCII character between fields, for {@link LineFraming#QUOTED_LINE_FEED}: a
 *     quote opens a field only at its start
 * @param header whether a file's first line is a header: it is not a line then, but comes with each
 * @param maximumLineBytes longer lines are {@linkplain TextLine#truncated truncated}
 */
@PublicEvolving
public record TextLineOptions(
    LineFraming framing, char delimiter, boolean header, int maximumLineBytes)
    implements Serializable {
  /** Lines that end at every line feed and are up to 16 MiB long; no header. */
  public static final TextLineOptions DEFAULT =
      new TextLineOptions(LineFraming.LINE_FEED, ',', false, 16 << 20);

  public TextLineOptions {
    Objects.requireNonNull(framing, "framing is null");
    if (delimiter >= 0x80) {
      throw new IllegalArgumentException("'" + delimiter + "' is not an ASCII character");
    }
    if (maximumLineBytes < 1) {
      throw new IllegalArgumentException("no lines of at most " + maximumLineBytes + " bytes");
    }
  }

  /** The same with line feeds within quoted fields, between which there is {@code between}. */
  public TextLineOptions withQuotedLineFeeds(char between) {
    return new TextLineOptions(LineFraming.QUOTED_LINE_FEED, between, header, maximumLineBytes);
  }

  public TextLineOptions withHeader(boolean present) {
    return new TextLineOptions(framing, delimiter, present, maximumLineBytes);
  }

  public TextLineOptions withMaximumLineBytes(int bytes) {
    return new TextLineOptions(framing, delimiter, header, bytes);
  }
}

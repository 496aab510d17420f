// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How CSV is written and read: as in RFC 4180. Fields may be between double quotes, and must be if
 * they have a delimiter, a quote (which is doubled) or a line end in them. An empty field is null;
 * an empty field between quotes is the empty string.
 *
 * @param delimiter an ASCII character between fields
 * @param header whether a file's first line names the columns
 */
@PublicEvolving
public record CsvOptions(char delimiter, boolean header) implements Serializable {
  /** Commas, no header. */
  public static final CsvOptions DEFAULT = new CsvOptions(',', false);

  public CsvOptions {
    if (delimiter >= 0x80 || delimiter == '"' || delimiter == '\n' || delimiter == '\r') {
      throw new IllegalArgumentException("fields cannot be delimited by '" + delimiter + "'");
    }
  }

  public CsvOptions withHeader(boolean present) {
    return new CsvOptions(delimiter, present);
  }

  public CsvOptions withDelimiter(char other) {
    return new CsvOptions(other, header);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import org.apache.flink.annotation.Internal;

/** The end of a line of a text file. */
@Internal
public enum LineFraming {
  /** Every line feed. Files can be split and read in parallel. */
  LINE_FEED,
  /**
   * A line feed that is not within a field between double quotes, as in CSV with line feeds in its
   * values. A quote opens a field only as its first character, and closes it only before a
   * delimiter or a line end. A file is read as a whole. A quote that is never closed takes the
   * following lines with it, up to the longest line allowed; reading then goes on at the next line
   * feed.
   */
  QUOTED_LINE_FEED
}

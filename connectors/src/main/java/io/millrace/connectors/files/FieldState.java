// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import org.apache.flink.annotation.Internal;

/** Where a reader of CSV stands within a field, which says whether a line feed ends the record. */
@Internal
public enum FieldState {
  START,
  PLAIN,
  QUOTED,
  /** Behind a quote that closes the field or is the first of two. */
  CLOSED;

  /** The state behind the next byte of the record. */
  public FieldState behind(byte b, byte delimiter) {
    if (this == QUOTED) {
      return b == '"' ? CLOSED : QUOTED;
    }
    if (b == delimiter) {
      return START;
    }
    return b == '"' && this != PLAIN ? QUOTED : PLAIN;
  }
}

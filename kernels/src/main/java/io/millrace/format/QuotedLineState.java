// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

/**
 * Whether a byte of CSV is within quotes: the state behind each byte. The twin of line_state.cuh.
 */
enum QuotedLineState {
  /** At the start of a field. */
  START,
  /** In a field without quotes. */
  PLAIN,
  /** In a field with quotes. */
  QUOTED,
  /** Behind a quote that closes the field or is the first of two. */
  CLOSED,
  /** Behind an escape in a field without quotes. */
  ESCAPED,
  /** Behind an escape in a field with quotes. */
  QUOTED_ESCAPED;

  boolean isQuoted() {
    return this == QUOTED || this == QUOTED_ESCAPED;
  }

  /** Whether bytes without a meaning of their own leave the state as it is. */
  boolean isSteady() {
    return this == PLAIN || this == QUOTED;
  }

  /** The state behind a line feed. */
  QuotedLineState behindLineFeed() {
    return isQuoted() ? QUOTED : START;
  }

  /** The state behind another byte. */
  QuotedLineState behind(int next, FieldQuotes quotes) {
    return switch (this) {
      case ESCAPED -> PLAIN;
      case QUOTED_ESCAPED -> QUOTED;
      case QUOTED ->
          next == quotes.quote() ? CLOSED : inField(next, quotes, QUOTED_ESCAPED, QUOTED);
      case START, CLOSED, PLAIN -> {
        if (next == quotes.delimiter()) {
          yield START;
        }
        boolean opens = next == quotes.quote() && this != PLAIN;
        yield opens ? QUOTED : inField(next, quotes, ESCAPED, PLAIN);
      }
    };
  }

  private static QuotedLineState inField(
      int next, FieldQuotes quotes, QuotedLineState escaped, QuotedLineState other) {
    return next == quotes.escape() ? escaped : other;
  }
}

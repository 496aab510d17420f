// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import org.apache.flink.annotation.Internal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A line of the log about something that happens seldom and that who runs a cluster looks for:
 * {@code event=spill_burst job="StreamingEtl" ...}, pairs of a key and a value under the logger
 * {@code io.millrace.events}. Values of text are in double quotes, with a backslash before a double
 * quote or a backslash, and with spaces for line ends.
 */
@Internal
public final class EventLine {
  private static final Logger LOG = LoggerFactory.getLogger("io.millrace.events");

  private final StringBuilder line;

  /**
   * @param event its name, in lower case with underscores
   */
  public EventLine(String event) {
    line = new StringBuilder("event=").append(event);
  }

  public EventLine with(String key, long value) {
    line.append(' ').append(key).append('=').append(value);
    return this;
  }

  public EventLine with(String key, String value) {
    String escaped = value.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\R", " ");
    line.append(' ').append(key).append("=\"").append(escaped).append('"');
    return this;
  }

  /** Writes the line at the level INFO. */
  public void log() {
    LOG.info("{}", line);
  }

  @Override
  public String toString() {
    return line.toString();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import org.apache.flink.annotation.Internal;

/** The kinds of event. */
@Internal
public enum EventKind {
  PERSON(0),
  AUCTION(1),
  BID(2);

  private final int eventType;

  EventKind(int eventType) {
    this.eventType = eventType;
  }

  /** The {@code event_type} of the unified schema. */
  public int eventType() {
    return eventType;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.annotation.PublicEvolving;

/** The places that hold spillable memory, fastest first. */
@PublicEvolving
public enum SpillTier {
  DEVICE("gpu"),
  HOST("cpu"),
  DISK("disk");

  private final String label;

  SpillTier(String label) {
    this.label = label;
  }

  /** The tier's name in statistics and metrics. */
  public String label() {
    return label;
  }
}

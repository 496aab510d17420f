package io.millrace.memory;

/** Where spillable memory may be, the fastest tier first. */
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

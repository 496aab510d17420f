package io.millrace.memory;

/** What a pointer is wanted for. */
public enum AccessMode {
  /** The memory is only read. */
  READ,
  /** The memory may be written. */
  WRITE
}

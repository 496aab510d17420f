// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.annotation.PublicEvolving;

/** The use of a pointer. */
@PublicEvolving
public enum AccessMode {
  /** The memory is only read. */
  READ,
  /** The memory may be written. */
  WRITE
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import java.io.Serializable;

/**
 * How much of a map is read at a time, and how small a map is left alone.
 *
 * @param scanRows the most rows of the state that are read at a time when all entries are
 * @param scanBytes the memory of these rows in the state, about: fewer rows are read if they are
 *     larger
 * @param compactionRows the fewest rows of a map that are worth a look for removed entries
 */
record EntryLimits(int scanRows, long scanBytes, long compactionRows) implements Serializable {
  private static final long serialVersionUID = 1L;

  static final EntryLimits DEFAULT = new EntryLimits(1 << 18, 64L << 20, 1 << 12);
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

/** A hash function over the rows of a chunk. Used by one thread. */
interface ChunkHash {
  /**
   * Writes the hashes of the first {@code count} rows.
   *
   * @param columns key columns and struct levels, loaded with the chunk; the fields of a struct
   *     follow it, depth first
   */
  void hash(KeyVector[] columns, int count, int[] hashes);
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

/** Writes state rows as columns, on the host or by the kernels of state_values.cu. */
interface StateValuesKernels {

  /** Writes the rows, without strings. Enqueued. Allocates nothing. */
  void write(StateValuesBatch batch);

  /**
   * Writes the offsets of the strings of a key column. Enqueued. Allocates nothing.
   *
   * @param total address of an INT64 in staging memory for the number of bytes
   */
  void writeOffsets(StateValuesBatch batch, StringValues strings, long total);

  /** Writes the bytes behind {@link #writeOffsets}. Enqueued. Allocates nothing. */
  void writeBytes(StateValuesBatch batch, StringValues strings);
}

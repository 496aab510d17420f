// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

/** Writes state rows as columns, on the host or by the kernels of state_values.cu. */
interface StateValuesKernels {

  /** Writes the rows, without strings. Enqueued. Allocates nothing. */
  void write(StateValuesBatch batch);
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.column.Column;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;

/** Appends vector values to a new column in host memory. */
interface VectorWriter extends AutoCloseable {

  /**
   * Appends the values of {@code selected} in their order.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if memory runs out or the column would
   *     exceed 2 GiB of bytes
   */
  void append(HostVector values, Rows selected);

  /**
   * Returns a column of the appended values, which the caller closes. This writer is empty
   * afterwards.
   */
  Column finish();

  /** Frees the memory that was not handed out by {@link #finish}. */
  @Override
  void close();
}

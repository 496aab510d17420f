// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.memory.Buffer;

/** Nodes and buffers of Arrow arrays, depth first, in the order that Arrow gives them. */
@Internal
public interface ArrowArraySource {

  /**
   * A buffer of an array.
   *
   * @param memory host memory, a slice that the receiver closes; may be longer than the buffer,
   *     with padding behind it
   * @param length bytes of the buffer
   */
  record ArrowBuffer(Buffer memory, long length) {}

  /**
   * The next array's node.
   *
   * @throws ArrowFormatException if there are no more
   */
  ArrowNode nextNode() throws ArrowFormatException;

  /**
   * The next buffer of the array of the last node.
   *
   * @param needed bytes that it must have; a source that does not know its buffers' lengths takes
   *     this for it, others leave the check to the caller
   * @throws ArrowFormatException if there are no more, or it is not within the data
   */
  ArrowBuffer nextBuffer(long needed) throws ArrowFormatException;
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;

/**
 * The metadata of an Arrow array.
 *
 * @param length number of elements after the offset
 * @param nullCount number of null elements; {@link #UNKNOWN} if not counted
 * @param offset number of elements of the buffers before the array's first element
 */
@Internal
public record ArrowNode(long length, long nullCount, long offset) {
  public static final long UNKNOWN = -1;

  public static ArrowNode of(long length, long nullCount) {
    return new ArrowNode(length, nullCount, 0);
  }
}

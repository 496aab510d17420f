// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;

/**
 * What Arrow says of one array beside its buffers.
 *
 * @param length elements, the offset not counted
 * @param nullCount how many of them are null; {@link #UNKNOWN} if nobody has counted
 * @param offset elements of the buffers before the first
 */
@Internal
public record ArrowNode(long length, long nullCount, long offset) {
  public static final long UNKNOWN = -1;

  public static ArrowNode of(long length, long nullCount) {
    return new ArrowNode(length, nullCount, 0);
  }
}

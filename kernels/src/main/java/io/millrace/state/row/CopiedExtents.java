// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.PublicEvolving;

/**
 * How many extents were copied because they were written to while a snapshot held them, and their
 * bytes.
 */
@PublicEvolving
public record CopiedExtents(long count, long bytes) {
  public static final CopiedExtents NONE = new CopiedExtents(0, 0);

  public CopiedExtents plus(CopiedExtents other) {
    return new CopiedExtents(count + other.count, bytes + other.bytes);
  }
}

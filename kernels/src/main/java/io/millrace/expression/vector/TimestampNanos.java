// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.PublicEvolving;
import java.io.Serializable;

/**
 * A value of TIMESTAMP(7..9).
 *
 * @param millis milliseconds since 1970-01-01T00:00
 * @param nanos nanoseconds of the millisecond, 0 to 999 999
 */
@PublicEvolving
public record TimestampNanos(long millis, int nanos) implements Serializable {
  private static final long serialVersionUID = 1L;
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import java.time.ZoneId;
import java.util.Optional;

/** The part of a session that functions and casts depend on when a call is bound. */
@Internal
public interface BindingContext {
  /** The session's time zone. */
  ZoneId zone();

  /** The cast from one type to another; empty if there is none. */
  Optional<CastRule> cast(DataType from, DataType to);
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.column.DataType;
import java.time.ZoneId;
import java.util.Optional;

/** The session of one resolver, which numbers calls. Not thread-safe. */
final class CallNumbers implements BindingContext {
  private static final int CALLS_OF_A_STEP = 32;

  private final ResolutionContext context;
  private long calls;

  CallNumbers(ResolutionContext context) {
    this.context = context;
  }

  @Override
  public ZoneId zone() {
    return context.zone();
  }

  @Override
  public boolean hasBatch() {
    return context.batchStep().isPresent();
  }

  @Override
  public long nextCall() {
    return ((long) context.batchStep().orElse(0) << CALLS_OF_A_STEP) + ++calls;
  }

  @Override
  public Optional<CastRule> cast(DataType from, DataType to) {
    return context.functions().cast(from, to);
  }
}

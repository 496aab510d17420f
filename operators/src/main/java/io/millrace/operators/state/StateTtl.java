// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static org.apache.flink.util.TimeUtils.formatWithHighestUnit;

import io.millrace.state.row.Accumulator;
import java.io.Serializable;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.api.TimeDomain;

/**
 * How long a key stays in keyed state.
 *
 * @param duration in whole milliseconds; zero: for ever
 * @param domain of the clock: that of the machine, or the watermark of the operator
 * @param isOfBatches whether rows expire by the times of batches, which do not go back, also behind
 *     a restore: where several operators, one behind the other, keep parts of the state of a key,
 *     the first one reads the machine's clock for each batch, and the others get the time with it
 */
@Internal
public record StateTtl(Duration duration, TimeDomain domain, boolean isOfBatches)
    implements Serializable {
  /** Keys stay for ever. */
  public static final StateTtl NONE = ofProcessingTime(Duration.ZERO);

  private static final long serialVersionUID = 1L;

  public StateTtl {
    Objects.requireNonNull(domain, "domain");
  }

  /** The time-to-live of an operator that keeps all of the state of a key. */
  public StateTtl(Duration duration, TimeDomain domain) {
    this(duration, domain, false);
  }

  public static StateTtl ofProcessingTime(Duration duration) {
    return new StateTtl(duration, TimeDomain.PROCESSING_TIME);
  }

  public static StateTtl ofEventTime(Duration duration) {
    return new StateTtl(duration, TimeDomain.EVENT_TIME);
  }

  /**
   * The same {@linkplain #isOfBatches by the times of batches}, or by watermarks: these come to
   * several operators between the same batches.
   */
  public StateTtl ofBatches() {
    return isNone() || isEventTime() ? this : new StateTtl(duration, domain, true);
  }

  /** Whether keys stay for ever. */
  public boolean isNone() {
    return duration.isZero();
  }

  public boolean isEventTime() {
    return !isNone() && domain == TimeDomain.EVENT_TIME;
  }

  long toMillis() {
    return duration.toMillis();
  }

  /** The accumulator of keys that expire by their last update; its name tells the domain. */
  public Accumulator updateTime() {
    return Accumulator.updateTime(updateName(domain));
  }

  /** The accumulator of keys that expire by their first update; its name tells the domain. */
  public Accumulator creationTime() {
    return Accumulator.creationTime(creationName(domain));
  }

  /** The domain of an accumulator of a checkpoint; empty if the accumulator is none of a time. */
  static Optional<TimeDomain> domainOf(String accumulator) {
    return Arrays.stream(TimeDomain.values())
        .filter(
            domain ->
                accumulator.equals(updateName(domain)) || accumulator.equals(creationName(domain)))
        .findFirst();
  }

  private static String updateName(TimeDomain domain) {
    return domain == TimeDomain.EVENT_TIME ? "$UPDATE_WATERMARK" : "$UPDATE_TIME";
  }

  private static String creationName(TimeDomain domain) {
    return domain == TimeDomain.EVENT_TIME ? "$CREATION_WATERMARK" : "$CREATION_TIME";
  }

  /**
   * What a plan says about it: {@code , stateTtl=[1 h]}, {@code , stateTtl=[1 h, EVENT_TIME]}, or
   * nothing if keys stay for ever.
   */
  public String text() {
    if (isNone()) {
      return "";
    }
    String time = formatWithHighestUnit(duration);
    return ", stateTtl=[" + time + (isEventTime() ? ", " + domain + "]" : "]");
  }
}

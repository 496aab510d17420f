// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.io.Serializable;
import java.time.Duration;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;

/**
 * The windows of time that a row belongs to, by a time column or by the clock: those of Flink SQL's
 * window table-valued functions. Made by {@link Tumble}, {@link Hop}, {@link Cumulate} and {@link
 * Session}. Immutable.
 *
 * <p>A window consists of slices, so that a row belongs to one slice. A slice is known by its end,
 * which is the end of a window too. Times are milliseconds since 1970-01-01T00:00; a window has its
 * start and not its end.
 */
@PublicEvolving
public final class TimeWindow implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The window functions. */
  enum Function {
    TUMBLE,
    HOP,
    CUMULATE,
    /** The size and the slices are as wide as the gap; windows are of rows and not of time. */
    SESSION
  }

  private final Function function;
  // null: windows are of processing time.
  private final String timeColumn;
  private final long size;
  private final long step;
  private final long offset;

  /**
   * @param timeColumn null for windows of processing time
   * @param size of the longest window
   * @param step the width of a slice
   * @throws IllegalArgumentException if a width is not a positive number of milliseconds, or {@code
   *     size} is not a multiple of {@code step}
   */
  TimeWindow(Function function, String timeColumn, Duration size, Duration step) {
    this(function, timeColumn, positiveMillis(size), positiveMillis(step), 0);
    if (this.size % this.step != 0) {
      throw new IllegalArgumentException(
          "expected a size of "
              + function
              + " that is a multiple of "
              + this.step
              + " ms, got "
              + this.size
              + " ms");
    }
  }

  private TimeWindow(Function function, String timeColumn, long size, long step, long offset) {
    this.function = function;
    this.timeColumn = timeColumn;
    this.size = size;
    this.step = step;
    this.offset = offset;
  }

  private static long positiveMillis(Duration width) {
    long millis = wholeMillis(width);
    if (millis <= 0) {
      throw new IllegalArgumentException("expected a positive duration, got " + width);
    }
    return millis;
  }

  private static long wholeMillis(Duration width) {
    if (!width.equals(Duration.ofMillis(width.toMillis()))) {
      throw new IllegalArgumentException("expected whole milliseconds, got " + width);
    }
    return width.toMillis();
  }

  /**
   * These windows, moved by {@code newOffset}, which may be negative.
   *
   * @throws IllegalArgumentException if it is not a number of milliseconds, or these are sessions
   */
  public TimeWindow offset(Duration newOffset) {
    if (function == Function.SESSION) {
      throw new IllegalArgumentException("sessions begin with a row: they have no offset");
    }
    return new TimeWindow(function, timeColumn, size, step, wholeMillis(newOffset));
  }

  /** The name of the column with the times of rows; empty for windows of processing time. */
  public Optional<String> timeColumn() {
    return Optional.ofNullable(timeColumn);
  }

  /** Whether rows belong to windows by the clock when they arrive. */
  public boolean isProcessingTime() {
    return timeColumn == null;
  }

  /** Whether the windows are sessions, of rows that are at most {@link #sliceWidth} apart. */
  boolean isSession() {
    return function == Function.SESSION;
  }

  Function function() {
    return function;
  }

  /** The size of the longest window. */
  long size() {
    return size;
  }

  /** The width of a slice. */
  long sliceWidth() {
    return step;
  }

  /**
   * Whether the first window of {@code time} begins, and its slice ends, within the milliseconds of
   * a BIGINT.
   *
   * @param distance that they have to the first and the last of these milliseconds
   */
  boolean hasSlice(long time, long distance) {
    try {
      long sinceOffset = Math.subtractExact(time, offset);
      long sliceEnd = Math.addExact(time - Math.floorMod(sinceOffset, step), step);
      long firstStart =
          function == Function.CUMULATE
              ? Math.subtractExact(time, Math.floorMod(sinceOffset, size))
              : Math.subtractExact(sliceEnd, size);
      return firstStart >= Long.MIN_VALUE + distance && sliceEnd <= Long.MAX_VALUE - distance;
    } catch (ArithmeticException e) {
      return false;
    }
  }

  /** The end of the slice of {@code time}. */
  long sliceEnd(long time) {
    return floor(time, step) + step;
  }

  /** The start of the slice of {@code time}. */
  long sliceStart(long time) {
    return floor(time, step);
  }

  private long floor(long time, long width) {
    return time - Math.floorMod(time - offset, width);
  }

  /** The start of the window that ends at {@code windowEnd}. */
  long windowStart(long windowEnd) {
    return function == Function.CUMULATE ? floor(windowEnd - 1, size) : windowEnd - size;
  }

  /** The end of the last window with the slice that ends at {@code sliceEnd}. */
  long lastWindowEnd(long sliceEnd) {
    return function == Function.CUMULATE
        ? floor(sliceEnd - 1, size) + size
        : sliceEnd - step + size;
  }

  /** The end of the first slice of the window that ends at {@code windowEnd}. */
  long firstSliceEnd(long windowEnd) {
    return windowStart(windowEnd) + step;
  }

  /** Such as {@code HOP(time_col=[ts], size=[10 s], slide=[2 s])}, as Flink's plans say. */
  @Override
  public String toString() {
    return function + "(time_col=[" + timeColumn().orElse("PROCTIME()") + "], " + widths() + ")";
  }

  /**
   * What the slices depend on, such as {@code HOP(size=[10 s], slide=[2 s]) of event time}.
   * Checkpoints have this text.
   */
  String shape() {
    String domain = isProcessingTime() ? "processing time" : "event time";
    return function + "(" + widths() + ") of " + domain;
  }

  private String widths() {
    String widths =
        switch (function) {
          case TUMBLE -> "size=[" + text(size) + "]";
          case HOP -> "size=[" + text(size) + "], slide=[" + text(step) + "]";
          case SESSION -> "gap=[" + text(size) + "]";
          case CUMULATE -> "max_size=[" + text(size) + "], step=[" + text(step) + "]";
        };
    String moved = offset == 0 ? "" : ", offset=[" + text(offset) + "]";
    return widths + moved;
  }

  private static String text(long millis) {
    return millis % 1_000 == 0 ? millis / 1_000 + " s" : millis + " ms";
  }
}

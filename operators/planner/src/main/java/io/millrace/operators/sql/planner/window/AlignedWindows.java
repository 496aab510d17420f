// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.expression.Expression;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.window.WindowShape.Cumulative;
import io.millrace.operators.sql.planner.window.WindowShape.Hopping;
import io.millrace.operators.sql.planner.window.WindowShape.Tumbling;
import java.time.Duration;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.plan.logical.SessionWindowSpec;
import org.apache.flink.table.planner.plan.logical.WindowSpec;

/**
 * The windows that a time belongs to, as expressions: those of TUMBLE, HOP and CUMULATE. The
 * windows around a time have numbers from 0 up to {@link #count} less one, and the time belongs to
 * some of them or to all. Expressions take the milliseconds from the offset to the time, a BIGINT,
 * and the number, an INT; they give milliseconds from the time.
 *
 * @param size of the longest window, in milliseconds
 * @param step from a window to the next one, in milliseconds
 * @param grows whether windows with the same start get longer step by step; else all have one size
 */
@Internal
record AlignedWindows(long size, long step, boolean grows, Duration offset) {

  /**
   * The windows of a table-valued function.
   *
   * @throws UnsupportedNodeException if they depend on other rows, or on parts of a millisecond
   */
  static AlignedWindows of(WindowSpec window) {
    if (window instanceof SessionWindowSpec) {
      throw new UnsupportedNodeException("the windows of SESSION depend on rows to come");
    }
    WindowShape shape = WindowShape.of(window, new int[0]);
    if (shape instanceof Tumbling tumbling) {
      return of(tumbling.size(), tumbling.size(), false, tumbling.offset());
    }
    if (shape instanceof Hopping hopping) {
      return of(hopping.size(), hopping.slide(), false, hopping.offset());
    }
    Cumulative cumulative = (Cumulative) shape;
    return of(cumulative.maxSize(), cumulative.step(), true, cumulative.offset());
  }

  private static AlignedWindows of(Duration size, Duration step, boolean grows, Duration offset) {
    return new AlignedWindows(millis(size), millis(step), grows, offset);
  }

  private static long millis(Duration width) {
    if (!width.equals(Duration.ofMillis(width.toMillis()))) {
      throw new UnsupportedNodeException("a window of " + width);
    }
    return width.toMillis();
  }

  /** Whether each time belongs to one window. */
  boolean isTumbling() {
    return step == size;
  }

  /** How many windows a time belongs to at most. */
  int count() {
    return Math.toIntExact((size + step - 1) / step);
  }

  Expression startAfter(Expression time, Expression number) {
    return grows
        ? remainder(time, size).negate()
        : remainder(time, step).plus(number.times(step)).negate();
  }

  Expression endAfter(Expression time, Expression number) {
    return grows
        ? number.plus(1).times(step).minus(remainder(time, step))
        : startAfter(time, number).plus(size);
  }

  /** Whether the time belongs to the window with the number. */
  Expression contains(Expression time, Expression number) {
    return grows
        ? endAfter(time, number).le(startAfter(time, number).plus(size))
        : endAfter(time, number).gt(0L);
  }

  /** What a time is behind a multiple of {@code width}, also in front of the offset. */
  private static Expression remainder(Expression time, long width) {
    return time.mod(width).plus(width).mod(width);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.window.Cumulate;
import io.millrace.operators.window.Hop;
import io.millrace.operators.window.Session;
import io.millrace.operators.window.TimeWindow;
import io.millrace.operators.window.Tumble;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.table.expressions.ValueLiteralExpression;
import org.apache.flink.table.planner.plan.logical.CumulativeWindowSpec;
import org.apache.flink.table.planner.plan.logical.HoppingWindowSpec;
import org.apache.flink.table.planner.plan.logical.LogicalWindow;
import org.apache.flink.table.planner.plan.logical.SessionGroupWindow;
import org.apache.flink.table.planner.plan.logical.SessionWindowSpec;
import org.apache.flink.table.planner.plan.logical.SlidingGroupWindow;
import org.apache.flink.table.planner.plan.logical.TumblingGroupWindow;
import org.apache.flink.table.planner.plan.logical.TumblingWindowSpec;
import org.apache.flink.table.planner.plan.logical.WindowSpec;

/** The windows of a node, over a time column that is known later. */
sealed interface WindowShape {
  /**
   * The windows.
   *
   * @param timeColumn empty for windows of processing time
   * @throws IllegalArgumentException if Millrace has no such windows, such as those of HOP whose
   *     size is not a multiple of the slide
   */
  TimeWindow over(Optional<String> timeColumn);

  /** As {@link Tumble}. */
  record Tumbling(Duration size, Duration offset) implements WindowShape {
    @Override
    public TimeWindow over(Optional<String> timeColumn) {
      return timeColumn
          .map(column -> Tumble.over(column, size))
          .orElseGet(() -> Tumble.overProcessingTime(size))
          .offset(offset);
    }
  }

  /** As {@link Hop}. */
  record Hopping(Duration size, Duration slide, Duration offset) implements WindowShape {
    @Override
    public TimeWindow over(Optional<String> timeColumn) {
      return timeColumn
          .map(column -> Hop.over(column, size))
          .orElseGet(() -> Hop.overProcessingTime(size))
          .every(slide)
          .offset(offset);
    }
  }

  /** As {@link Cumulate}. */
  record Cumulative(Duration maxSize, Duration step, Duration offset) implements WindowShape {
    @Override
    public TimeWindow over(Optional<String> timeColumn) {
      return timeColumn
          .map(column -> Cumulate.over(column, maxSize))
          .orElseGet(() -> Cumulate.overProcessingTime(maxSize))
          .every(step)
          .offset(offset);
    }
  }

  /** As {@link Session}. */
  record Sessions(Duration gap) implements WindowShape {
    @Override
    public TimeWindow over(Optional<String> timeColumn) {
      return timeColumn
          .map(column -> Session.over(column, gap))
          .orElseGet(() -> Session.overProcessingTime(gap));
    }
  }

  /**
   * The windows of a table-valued function.
   *
   * @param grouping positions of the key fields
   * @throws UnsupportedNodeException if Millrace has no such windows
   */
  static WindowShape of(WindowSpec window, int[] grouping) {
    if (window instanceof TumblingWindowSpec tumbling) {
      return new Tumbling(tumbling.getSize(), orZero(tumbling.getOffset()));
    }
    if (window instanceof HoppingWindowSpec hopping) {
      return new Hopping(hopping.getSize(), hopping.getSlide(), orZero(hopping.getOffset()));
    }
    if (window instanceof CumulativeWindowSpec cumulative) {
      return new Cumulative(
          cumulative.getMaxSize(), cumulative.getStep(), orZero(cumulative.getOffset()));
    }
    if (window instanceof SessionWindowSpec session
        && fields(session.getPartitionKeyIndices()).equals(fields(grouping))) {
      return new Sessions(session.getGap());
    }
    throw new UnsupportedNodeException("window " + window);
  }

  private static Duration orZero(Duration offset) {
    return offset == null ? Duration.ZERO : offset;
  }

  private static Set<Integer> fields(int[] positions) {
    return IntStream.of(positions).boxed().collect(Collectors.toSet());
  }

  /**
   * The windows of {@code GROUP BY TUMBLE(...)}, {@code HOP(...)} or {@code SESSION(...)}.
   *
   * @throws UnsupportedNodeException if Millrace has no such windows
   */
  static WindowShape of(LogicalWindow window) {
    if (window instanceof TumblingGroupWindow tumbling) {
      return new Tumbling(duration(tumbling.size()), Duration.ZERO);
    }
    if (window instanceof SlidingGroupWindow sliding) {
      return new Hopping(duration(sliding.size()), duration(sliding.slide()), Duration.ZERO);
    }
    if (window instanceof SessionGroupWindow session) {
      return new Sessions(duration(session.gap()));
    }
    throw new UnsupportedNodeException("window " + window);
  }

  private static Duration duration(ValueLiteralExpression literal) {
    return literal
        .getValueAs(Duration.class)
        .orElseThrow(() -> new UnsupportedNodeException("window of " + literal + " rows"));
  }
}

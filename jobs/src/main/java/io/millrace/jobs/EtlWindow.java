// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.window.Cumulate;
import io.millrace.operators.window.Hop;
import io.millrace.operators.window.Session;
import io.millrace.operators.window.TimeWindow;
import io.millrace.operators.window.Tumble;
import io.millrace.operators.window.WindowAggregatePlan;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;

/**
 * The windows that rows are grouped by, besides their key.
 *
 * @param allowedLateness how long rows change windows that have ended; zero: not at all
 * @param earlyFiring the time between results of windows that have not ended; zero: there are none
 */
record EtlWindow(TimeWindow window, Duration allowedLateness, Duration earlyFiring) {
  private static final String SECTION = "group-by.window";

  static final ConfigOption<Duration> TUMBLE =
      key(SECTION + ".tumble")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("The size of windows that follow each other.");
  static final ConfigOption<Duration> HOP_SIZE =
      key(SECTION + ".hop.size")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("The size of windows that overlap.");
  static final ConfigOption<Duration> HOP_SLIDE =
      key(SECTION + ".hop.slide")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("The time between the starts of windows that overlap.");
  static final ConfigOption<Duration> CUMULATE_MAX =
      key(SECTION + ".cumulate.max")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("The size of the longest of windows that have one start.");
  static final ConfigOption<Duration> CUMULATE_STEP =
      key(SECTION + ".cumulate.step")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("The time between the ends of windows that have one start.");
  static final ConfigOption<Duration> SESSION =
      key(SECTION + ".session")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("The time without rows of a key that ends its session.");
  static final ConfigOption<String> TIME =
      key(SECTION + ".time")
          .stringType()
          .noDefaultValue()
          .withDescription("The selected column with the times of rows.");
  static final ConfigOption<Duration> OFFSET =
      key(SECTION + ".offset")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("Moves the starts of windows, but not of sessions.");
  static final ConfigOption<Duration> EARLY_FIRING =
      key(SECTION + ".early-firing")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("The time between results of windows that have not ended; 0 s: none.");
  static final ConfigOption<Duration> ALLOWED_LATENESS =
      key(SECTION + ".allowed-lateness")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("How long rows change windows that have ended; 0 s: not at all.");
  static final ConfigOption<String> LATE_ROWS =
      key(SECTION + ".late-rows")
          .stringType()
          .noDefaultValue()
          .withDescription("Folder for the rows that are too late for their windows.");

  private static final List<ConfigOption<Duration>> FUNCTIONS =
      List.of(TUMBLE, HOP_SIZE, CUMULATE_MAX, SESSION);

  /** The options of window functions. */
  static final List<ConfigOption<?>> OF_FUNCTIONS =
      List.of(TUMBLE, HOP_SIZE, HOP_SLIDE, CUMULATE_MAX, CUMULATE_STEP, SESSION);

  /** The options that any window may have. */
  static final List<ConfigOption<?>> OF_WINDOWS =
      List.of(TIME, OFFSET, EARLY_FIRING, ALLOWED_LATENESS, LATE_ROWS);

  /** Whether rows are grouped by windows. */
  static boolean isGiven(Configuration settings) {
    return FUNCTIONS.stream().anyMatch(settings::contains);
  }

  /**
   * The windows; empty if there are none.
   *
   * @throws UsageException if there are several window functions, one lacks a setting, or sizes do
   *     not fit together
   */
  static Optional<EtlWindow> parse(Configuration settings) {
    checkTogether(settings, HOP_SLIDE, HOP_SIZE);
    checkTogether(settings, CUMULATE_STEP, CUMULATE_MAX);
    List<ConfigOption<Duration>> given = FUNCTIONS.stream().filter(settings::contains).toList();
    if (given.isEmpty()) {
      return Optional.empty();
    }
    if (given.size() > 1) {
      throw new UsageException(
          SECTION
              + ": expected one window function, got "
              + given.stream().map(ConfigOption::key).collect(Collectors.joining(" and ")));
    }
    String time = settings.getOptional(TIME).orElseThrow(() -> missing(given.get(0), TIME));
    try {
      TimeWindow window = window(settings, given.get(0), time);
      return Optional.of(
          new EtlWindow(
              settings.contains(OFFSET) ? window.offset(settings.get(OFFSET)) : window,
              wholeMillis(settings, ALLOWED_LATENESS),
              wholeMillis(settings, EARLY_FIRING)));
    } catch (IllegalArgumentException e) {
      throw new UsageException(SECTION + ": " + e.getMessage());
    }
  }

  private static Duration wholeMillis(Configuration settings, ConfigOption<Duration> option) {
    Duration time = settings.get(option);
    if (!time.equals(Duration.ofMillis(time.toMillis()))) {
      throw new UsageException(option.key() + ": expected whole milliseconds, got " + time);
    }
    return time;
  }

  /**
   * The aggregates of these windows.
   *
   * @throws ExpressionException as {@link WindowAggregatePlan} without allowed lateness and early
   *     firing
   * @throws UsageException if there cannot be allowed lateness or early firing, naming the option
   */
  WindowAggregatePlan plan(Schema selected, List<String> keys, List<Aggregate> aggregates) {
    plan(selected, keys, aggregates, Duration.ZERO, Duration.ZERO);
    try {
      plan(selected, keys, aggregates, allowedLateness, Duration.ZERO);
    } catch (ExpressionException e) {
      throw new UsageException(ALLOWED_LATENESS.key() + ": " + e.getMessage());
    }
    try {
      return plan(selected, keys, aggregates, allowedLateness, earlyFiring);
    } catch (ExpressionException e) {
      throw new UsageException(EARLY_FIRING.key() + ": " + e.getMessage());
    }
  }

  private WindowAggregatePlan plan(
      Schema selected,
      List<String> keys,
      List<Aggregate> aggregates,
      Duration lateness,
      Duration interval) {
    return new WindowAggregatePlan(
        selected, keys, window, aggregates, ExpressionSettings.DEFAULT, lateness, interval);
  }

  /** Whether rows change rows that were written before. */
  boolean isChangelog() {
    return !allowedLateness.isZero() || !earlyFiring.isZero();
  }

  private static TimeWindow window(
      Configuration settings, ConfigOption<Duration> function, String time) {
    Duration size = settings.get(function);
    if (function.equals(TUMBLE)) {
      return Tumble.over(time, size);
    }
    if (function.equals(SESSION)) {
      return Session.over(time, size);
    }
    return function.equals(HOP_SIZE)
        ? Hop.over(time, size).every(required(settings, function, HOP_SLIDE))
        : Cumulate.over(time, size).every(required(settings, function, CUMULATE_STEP));
  }

  private static Duration required(
      Configuration settings, ConfigOption<?> function, ConfigOption<Duration> width) {
    return settings.getOptional(width).orElseThrow(() -> missing(function, width));
  }

  private static void checkTogether(
      Configuration settings, ConfigOption<?> option, ConfigOption<?> needed) {
    if (settings.contains(option) && !settings.contains(needed)) {
      throw missing(option, needed);
    }
  }

  private static UsageException missing(ConfigOption<?> option, ConfigOption<?> needed) {
    return new UsageException(option.key() + " needs " + needed.key());
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.millrace.operators.window.Cumulate;
import io.millrace.operators.window.Hop;
import io.millrace.operators.window.TimeWindow;
import io.millrace.operators.window.Tumble;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;

/** The settings of the windows that rows are grouped by, besides their key. */
final class EtlWindow {
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
  static final ConfigOption<String> TIME =
      key(SECTION + ".time")
          .stringType()
          .noDefaultValue()
          .withDescription("The selected column with the times of rows.");
  static final ConfigOption<Duration> OFFSET =
      key(SECTION + ".offset")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription("Moves the starts of windows.");

  private static final List<ConfigOption<Duration>> FUNCTIONS =
      List.of(TUMBLE, HOP_SIZE, CUMULATE_MAX);

  static final List<ConfigOption<?>> ALL =
      List.of(TUMBLE, HOP_SIZE, HOP_SLIDE, CUMULATE_MAX, CUMULATE_STEP, TIME, OFFSET);

  private EtlWindow() {}

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
  static Optional<TimeWindow> parse(Configuration settings) {
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
      return Optional.of(window(settings, given.get(0), time).offset(settings.get(OFFSET)));
    } catch (IllegalArgumentException e) {
      throw new UsageException(SECTION + ": " + e.getMessage());
    }
  }

  private static TimeWindow window(
      Configuration settings, ConfigOption<Duration> function, String time) {
    Duration size = settings.get(function);
    if (function.equals(TUMBLE)) {
      return Tumble.over(time, size);
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

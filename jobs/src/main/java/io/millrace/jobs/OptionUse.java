// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static io.millrace.jobs.EtlOptions.BAD_ROWS_PATH;
import static io.millrace.jobs.EtlOptions.BATCH_LATENCY;
import static io.millrace.jobs.EtlOptions.CSV_DELIMITER;
import static io.millrace.jobs.EtlOptions.CSV_HEADER;
import static io.millrace.jobs.EtlOptions.CSV_QUOTED_LINE_FEEDS;
import static io.millrace.jobs.EtlOptions.GROUP_BY_AGGREGATES;
import static io.millrace.jobs.EtlOptions.GROUP_BY_KEYS;
import static io.millrace.jobs.EtlOptions.GROUP_BY_RESULT;
import static io.millrace.jobs.EtlOptions.GROUP_BY_STATE_TTL;
import static io.millrace.jobs.EtlOptions.GROUP_BY_TWO_PHASE;
import static io.millrace.jobs.EtlOptions.MAX_BAD_ROWS;
import static io.millrace.jobs.EtlOptions.ON_ERROR;
import static io.millrace.jobs.EtlOptions.PARTITION_BY;
import static io.millrace.jobs.EtlOptions.SINK_EXISTING;
import static io.millrace.jobs.EtlOptions.SINK_FORMAT;
import static io.millrace.jobs.EtlOptions.SINK_PATH;
import static io.millrace.jobs.EtlOptions.SINK_TYPE;
import static io.millrace.jobs.EtlOptions.SOURCE_EVENTS;
import static io.millrace.jobs.EtlOptions.SOURCE_FORMAT;
import static io.millrace.jobs.EtlOptions.SOURCE_PATH;
import static io.millrace.jobs.EtlOptions.SOURCE_RATE;
import static io.millrace.jobs.EtlOptions.SOURCE_SCHEMA;
import static io.millrace.jobs.EtlOptions.SOURCE_TYPE;

import io.millrace.jobs.EtlOptions.Format;
import io.millrace.jobs.EtlOptions.OnError;
import io.millrace.jobs.EtlOptions.SinkType;
import io.millrace.jobs.EtlOptions.SourceType;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;

/** Which options a job looks at: one that it would ignore is refused. */
final class OptionUse {

  /**
   * The condition on the other settings under which an option has an effect.
   *
   * @param text in words, behind "only where"
   */
  private record Condition(String text, Predicate<Configuration> holds) {}

  private static final Condition GENERATED =
      new Condition(
          "source.type is nexmark", settings -> settings.get(SOURCE_TYPE) == SourceType.NEXMARK);
  private static final Condition FROM_FILES =
      new Condition(
          "source.type is files", settings -> settings.get(SOURCE_TYPE) == SourceType.FILES);
  private static final Condition FROM_TEXT =
      new Condition(
          "source.type is files and source.format is json or csv",
          settings ->
              FROM_FILES.holds.test(settings) && settings.get(SOURCE_FORMAT) != Format.PARQUET);
  private static final Condition TO_FILES =
      new Condition("sink.type has files", settings -> writes(settings, SinkType.FILES));
  private static final Condition TO_JOINED_FILES =
      new Condition(
          "sink.type has files and sink.auto-compaction is true",
          settings -> TO_FILES.holds.test(settings) && settings.get(EtlFileSink.COMPACTION));
  private static final Condition TO_KAFKA =
      new Condition("sink.type has kafka", settings -> writes(settings, SinkType.KAFKA));
  private static final Condition TO_POSTGRES =
      new Condition("sink.type has postgres", settings -> writes(settings, SinkType.POSTGRES));
  private static final Condition FROM_KAFKA =
      new Condition(
          "source.type is kafka", settings -> settings.get(SOURCE_TYPE) == SourceType.KAFKA);
  private static final Condition FROM_AVRO =
      new Condition(
          "source.type is kafka and source.kafka.format is avro",
          settings ->
              FROM_KAFKA.holds.test(settings)
                  && settings.get(EtlKafka.FORMAT) == EtlKafka.Format.AVRO);
  private static final Condition TO_AVRO =
      new Condition(
          "sink.type has kafka and sink.kafka.format is avro",
          settings ->
              TO_KAFKA.holds.test(settings)
                  && settings.get(EtlKafkaSink.FORMAT) == EtlKafkaSink.Format.AVRO);
  private static final Condition TEXT =
      new Condition(
          "files of JSON or CSV, or topics, are read",
          settings -> FROM_TEXT.holds.test(settings) || FROM_KAFKA.holds.test(settings));
  private static final Condition READ =
      new Condition(
          "source.type is files or kafka",
          settings -> settings.get(SOURCE_TYPE) != SourceType.NEXMARK);
  private static final Condition FROM_CSV =
      new Condition(
          "CSV files are read",
          settings -> FROM_FILES.holds.test(settings) && settings.get(SOURCE_FORMAT) == Format.CSV);
  private static final Condition CSV =
      new Condition(
          "CSV files are read or written",
          settings ->
              FROM_CSV.holds.test(settings)
                  || (TO_FILES.holds.test(settings) && settings.get(SINK_FORMAT) == Format.CSV));
  private static final Condition SKIPPED =
      new Condition(
          "files of JSON or CSV, or topics, are read and on-error is skip",
          settings -> TEXT.holds.test(settings) && settings.get(ON_ERROR) == OnError.SKIP);
  private static final Condition SKIPPED_RECORDS =
      new Condition(
          "source.type is kafka and on-error is skip",
          settings -> FROM_KAFKA.holds.test(settings) && SKIPPED.holds.test(settings));

  private static final Condition GROUPED =
      new Condition("group-by.keys is given", settings -> settings.contains(GROUP_BY_KEYS));
  private static final Condition NOT_GROUPED =
      new Condition("group-by.keys is not given", settings -> !settings.contains(GROUP_BY_KEYS));

  private static final Condition WINDOWED =
      new Condition(
          "group-by.keys and a window are given",
          settings -> GROUPED.holds.test(settings) && EtlWindow.isGiven(settings));
  private static final Condition WITH_FIXED_WINDOWS =
      new Condition(
          "group-by.keys and a window other than group-by.window.session are given",
          settings -> WINDOWED.holds.test(settings) && !settings.contains(EtlWindow.SESSION));
  private static final Condition WINDOWED_TO_FILES =
      new Condition(
          "group-by.keys and a window are given, and sink.type has files",
          settings -> WINDOWED.holds.test(settings) && TO_FILES.holds.test(settings));
  private static final Condition WITHOUT_WINDOWS =
      new Condition(
          "group-by.keys is given and no window is",
          settings -> GROUPED.holds.test(settings) && !EtlWindow.isGiven(settings));
  private static final Condition CHANGES =
      new Condition(
          "group-by.keys is given, no window is, and group-by.result is changes",
          settings ->
              WITHOUT_WINDOWS.holds.test(settings)
                  && settings.get(GROUP_BY_RESULT) == EtlOptions.GroupByResult.CHANGES);
  private static final Condition WINDOWED_INPUT =
      new Condition(
          "rows of JSON or CSV files, or of topics, are grouped by windows",
          settings -> TEXT.holds.test(settings) && WINDOWED.holds.test(settings));
  private static final Condition WITH_WATERMARK =
      new Condition(
          "source.watermark.column is given",
          settings ->
              WINDOWED_INPUT.holds.test(settings) && settings.contains(EtlWatermark.COLUMN));

  private static final Condition IDLE =
      new Condition(
          "source.type is kafka and source.watermark.column is given",
          settings -> FROM_KAFKA.holds.test(settings) && WITH_WATERMARK.holds.test(settings));
  private static final Condition WITH_KEYS =
      new Condition(
          "sink.type has kafka and sink.kafka.format is json or avro",
          settings ->
              TO_KAFKA.holds.test(settings)
                  && settings.get(EtlKafkaSink.FORMAT) != EtlKafkaSink.Format.ARROW);
  private static final Condition IN_TRANSACTIONS =
      new Condition(
          "sink.type has kafka and sink.kafka.guarantee is exactly-once",
          settings ->
              TO_KAFKA.holds.test(settings)
                  && settings.get(EtlKafkaSink.GUARANTEE) == DeliveryGuarantee.EXACTLY_ONCE);

  /** The conditions of options whose names begin so. */
  private static final Map<String, Condition> OF_PREFIXES =
      Map.of(
          EtlKafka.METADATA,
          FROM_KAFKA,
          EtlKafka.PROPERTIES,
          FROM_KAFKA,
          EtlKafkaSink.PROPERTIES,
          TO_KAFKA);

  // All other options matter always.
  private static final Map<String, Condition> CONDITIONS = new HashMap<>();

  static {
    CONDITIONS.put(SOURCE_EVENTS.key(), GENERATED);
    CONDITIONS.put(SOURCE_RATE.key(), GENERATED);
    CONDITIONS.put(SOURCE_PATH.key(), FROM_FILES);
    CONDITIONS.put(SOURCE_FORMAT.key(), FROM_FILES);
    CONDITIONS.put(SOURCE_SCHEMA.key(), READ);
    CONDITIONS.put(BATCH_LATENCY.key(), FROM_FILES);
    CONDITIONS.put(SINK_PATH.key(), TO_FILES);
    CONDITIONS.put(SINK_FORMAT.key(), TO_FILES);
    CONDITIONS.put(SINK_EXISTING.key(), TO_FILES);
    EtlFileSink.ALL.forEach(option -> CONDITIONS.put(option.key(), TO_FILES));
    EtlFileSink.OF_COMPACTION.forEach(option -> CONDITIONS.put(option.key(), TO_JOINED_FILES));
    CONDITIONS.put(CSV_HEADER.key(), CSV);
    CONDITIONS.put(CSV_DELIMITER.key(), CSV);
    CONDITIONS.put(CSV_QUOTED_LINE_FEEDS.key(), FROM_CSV);
    CONDITIONS.put(ON_ERROR.key(), TEXT);
    CONDITIONS.put(GROUP_BY_AGGREGATES.key(), GROUPED);
    CONDITIONS.put(GROUP_BY_RESULT.key(), WITHOUT_WINDOWS);
    CONDITIONS.put(GROUP_BY_STATE_TTL.key(), CHANGES);
    CONDITIONS.put(GROUP_BY_TWO_PHASE.key(), WITHOUT_WINDOWS);
    EtlWindow.OF_FUNCTIONS.forEach(option -> CONDITIONS.put(option.key(), GROUPED));
    EtlWindow.OF_WINDOWS.forEach(option -> CONDITIONS.put(option.key(), WINDOWED));
    CONDITIONS.put(EtlWindow.OFFSET.key(), WITH_FIXED_WINDOWS);
    CONDITIONS.put(EtlWindow.LATE_ROWS.key(), WINDOWED_TO_FILES);
    CONDITIONS.put(EtlWatermark.COLUMN.key(), WINDOWED_INPUT);
    CONDITIONS.put(EtlWatermark.DELAY.key(), WITH_WATERMARK);
    CONDITIONS.put(PARTITION_BY.key(), NOT_GROUPED);
    EtlKafka.ALL.forEach(option -> CONDITIONS.put(option.key(), FROM_KAFKA));
    EtlKafkaSink.ALL.forEach(option -> CONDITIONS.put(option.key(), TO_KAFKA));
    CONDITIONS.put(EtlKafka.IDLE.key(), IDLE);
    CONDITIONS.put(EtlKafkaSink.KEY.key(), WITH_KEYS);
    CONDITIONS.put(EtlKafkaSink.TRANSACTIONS.key(), IN_TRANSACTIONS);
    EtlAvro.OF_SOURCE.forEach(option -> CONDITIONS.put(option.key(), FROM_AVRO));
    EtlAvro.OF_SINK.forEach(option -> CONDITIONS.put(option.key(), TO_AVRO));
    EtlPostgresSink.ALL.forEach(option -> CONDITIONS.put(option.key(), TO_POSTGRES));
    CONDITIONS.put(EtlKafkaSink.DEAD_LETTERS.key(), SKIPPED_RECORDS);
    CONDITIONS.put(BAD_ROWS_PATH.key(), SKIPPED);
    CONDITIONS.put(MAX_BAD_ROWS.key(), SKIPPED);
  }

  private OptionUse() {}

  private static boolean writes(Configuration settings, SinkType type) {
    return settings.get(SINK_TYPE).contains(type);
  }

  /**
   * Checks that each option that is given matters. One of the file may be idle where the command
   * line changes what the file says it depends on, such as {@code --sink discard} for a trial run.
   *
   * @param settings all of them
   * @param fileKeys options that the file gives
   * @param commandLineKeys options that the command line gives
   * @param fileSettings the file's alone
   * @throws UsageException naming the first option without effect, and the option it depends on
   */
  static void check(
      Configuration settings,
      Set<String> fileKeys,
      Set<String> commandLineKeys,
      Configuration fileSettings) {
    Set<String> given = new TreeSet<>(fileKeys);
    given.addAll(commandLineKeys);
    for (String key : given) {
      condition(key)
          .filter(condition -> !condition.holds.test(settings))
          .filter(condition -> commandLineKeys.contains(key) || !condition.holds.test(fileSettings))
          .ifPresent(
              condition -> {
                throw new UsageException(
                    key + " has no effect here: it is used only where " + condition.text);
              });
    }
  }

  private static Optional<Condition> condition(String key) {
    for (Map.Entry<String, Condition> prefix : OF_PREFIXES.entrySet()) {
      if (key.startsWith(prefix.getKey())) {
        return Optional.of(prefix.getValue());
      }
    }
    return Optional.ofNullable(CONDITIONS.get(key));
  }
}

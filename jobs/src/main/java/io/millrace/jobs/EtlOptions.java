// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.millrace.operators.sql.SchemaParser;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;

/** The settings of {@link StreamingEtl}, as they are named in its YAML file. */
final class EtlOptions {
  enum SourceType {
    NEXMARK,
    FILES,
    KAFKA
  }

  enum SinkType {
    FILES,
    KAFKA,
    POSTGRES,
    DISCARD
  }

  enum Format {
    JSON,
    CSV,
    ARROW,
    PARQUET
  }

  enum OnError {
    SKIP,
    FAIL
  }

  /** What is written of the aggregates of each key. */
  enum GroupByResult {
    LAST,
    CHANGES
  }

  /** The handling of an output folder that has files already. */
  enum ExistingFiles {
    REFUSE,
    APPEND,
    OVERWRITE
  }

  static final ConfigOption<SourceType> SOURCE_TYPE =
      key("source.type")
          .enumType(SourceType.class)
          .defaultValue(SourceType.NEXMARK)
          .withDescription("The source of rows: nexmark (generated bids), files or kafka.");
  static final ConfigOption<Long> SOURCE_EVENTS =
      key("source.events")
          .longType()
          .defaultValue(1_000_000L)
          .withDescription("Rows to generate; 0 for no limit.");
  static final ConfigOption<Long> SOURCE_RATE =
      key("source.rate")
          .longType()
          .defaultValue(0L)
          .withDescription("Rows to generate per second; 0 for no limit.");
  static final ConfigOption<String> SOURCE_PATH =
      key("source.path").stringType().noDefaultValue().withDescription("File or folder to read.");
  static final ConfigOption<Format> SOURCE_FORMAT =
      key("source.format")
          .enumType(Format.class)
          .defaultValue(Format.JSON)
          .withDescription(
              "Format of the files to read: json (one object per line), csv or parquet.");
  static final ConfigOption<String> SOURCE_SCHEMA =
      key("source.schema")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Columns of the files, as in SQL: 'id BIGINT, name STRING'; of Parquet files, those of the"
                  + " first file if not given.");
  static final ConfigOption<String> WHERE =
      key("where")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Rows to keep, as in SQL: 'price > 1000 AND channel LIKE ''A%'''; all if not given.");
  static final ConfigOption<String> SELECT =
      key("select")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Columns to write, as in SQL: 'a, UPPER(b) AS c, d * 0.908 AS e'; all if not given.");
  static final ConfigOption<String> GROUP_BY_KEYS =
      key("group-by.keys")
          .stringType()
          .noDefaultValue()
          .withDescription("Selected columns; the aggregates are of the rows of each key.");
  static final ConfigOption<String> GROUP_BY_AGGREGATES =
      key("group-by.aggregates")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Aggregates of the selected columns, as in SQL: 'COUNT(*) AS bids, MAX(price) AS"
                  + " highest'.");
  static final ConfigOption<GroupByResult> GROUP_BY_RESULT =
      key("group-by.result")
          .enumType(GroupByResult.class)
          .defaultValue(GroupByResult.LAST)
          .withDescription(
              "What is written: the last row of each key, at the end of the input, or all changes,"
                  + " as they come.");
  static final ConfigOption<Duration> GROUP_BY_STATE_TTL =
      key("group-by.state-ttl")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription(
              "With group-by.result changes: a key without rows for so long is forgotten, and its"
                  + " next row begins again; 0 s: never.");
  static final ConfigOption<Boolean> GROUP_BY_TWO_PHASE =
      key("group-by.two-phase")
          .booleanType()
          .defaultValue(false)
          .withDescription(
              "Whether the rows of each key of a batch are combined before they are sent to the"
                  + " subtask of the key: faster if keys come several times in a batch.");
  static final ConfigOption<String> PARTITION_BY =
      key("partition.by")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Columns whose hash decides the subtask of a row; the first selected one if not"
                  + " given.");
  static final ConfigOption<List<SinkType>> SINK_TYPE =
      key("sink.type")
          .enumType(SinkType.class)
          .asList()
          .defaultValues(SinkType.FILES)
          .withDescription(
              "The sinks of rows: files, kafka and postgres, or several of them; or discard.");
  static final ConfigOption<String> SINK_PATH =
      key("sink.path")
          .stringType()
          .defaultValue("millrace-output")
          .withDescription("Folder to write.");
  static final ConfigOption<Format> SINK_FORMAT =
      key("sink.format")
          .enumType(Format.class)
          .defaultValue(Format.CSV)
          .withDescription("Format of the files to write: json, csv, arrow or parquet.");
  static final ConfigOption<ExistingFiles> SINK_EXISTING =
      key("sink.existing")
          .enumType(ExistingFiles.class)
          .defaultValue(ExistingFiles.REFUSE)
          .withDescription(
              "If the output folder has files already: refuse to start, append (add files) or"
                  + " overwrite (delete the part files first).");
  static final ConfigOption<Boolean> CSV_HEADER =
      key("csv.header")
          .booleanType()
          .defaultValue(false)
          .withDescription("Whether CSV files, read or written, begin with the columns' names.");
  static final ConfigOption<String> CSV_DELIMITER =
      key("csv.delimiter")
          .stringType()
          .defaultValue(",")
          .withDescription(
              "The character between fields of CSV files, read or written; \\t is a tab.");
  static final ConfigOption<Boolean> CSV_QUOTED_LINE_FEEDS =
      key("csv.quoted-line-feeds")
          .booleanType()
          .defaultValue(true)
          .withDescription(
              "Whether values of CSV files to read may have line feeds between quotes. Without"
                  + " them one large file is read by several subtasks.");
  static final ConfigOption<OnError> ON_ERROR =
      key("on-error")
          .enumType(OnError.class)
          .defaultValue(OnError.SKIP)
          .withDescription(
              "If a row cannot be parsed or computed: skip (it goes to the bad rows)"
                  + " or fail the job.");
  static final ConfigOption<String> BAD_ROWS_PATH =
      key("bad-rows.path")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Folder for the rows that were skipped, with reason and position; '<sink.path>-bad'"
                  + " if not given.");
  static final ConfigOption<String> MAX_BAD_ROWS =
      key("bad-rows.max")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "The most bad rows before the job fails: a number such as 100, or a share of all"
                  + " rows such as 1%, which is compared when the input is at its end.");
  static final ConfigOption<Integer> BATCH_ROWS =
      key("batch.rows")
          .intType()
          .defaultValue(1 << 16)
          .withDescription("The most rows in a batch.");
  static final ConfigOption<Duration> BATCH_LATENCY =
      key("batch.latency")
          .durationType()
          .defaultValue(Duration.ofMillis(100))
          .withDescription("The longest time a row waits for its batch to fill.");
  static final ConfigOption<Integer> PARALLELISM =
      key("parallelism")
          .intType()
          .defaultValue(2)
          .withDescription(
              "Subtasks of each operator, and so partitions; on a cluster its own default wins"
                  + " over this one.");
  static final ConfigOption<Duration> CHECKPOINT_INTERVAL =
      key("checkpoint.interval")
          .durationType()
          .defaultValue(Duration.ofSeconds(5))
          .withDescription(
              "Time between checkpoints; files are committed by them. On a cluster its own interval"
                  + " wins over the default.");
  static final ConfigOption<String> CHECKPOINT_PATH =
      key("checkpoint.path")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Folder in which checkpoints are kept, to resume from after the process died.");
  static final ConfigOption<String> SAVEPOINT_PATH =
      key("savepoint.path")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Folder for the savepoint of a job that is stopped; '<sink.path>-savepoints' if not"
                  + " given.");
  static final ConfigOption<String> DEVICE =
      key("millrace.device")
          .stringType()
          .defaultValue("auto")
          .withDescription("Where kernels run: auto, cuda or host.");

  /** How keys begin whose ends are names of the user. */
  static final List<String> PREFIXES =
      List.of(EtlKafka.METADATA, EtlKafka.PROPERTIES, EtlKafkaSink.PROPERTIES);

  static final List<ConfigOption<?>> ALL =
      Stream.of(
              List.of(SOURCE_TYPE, SOURCE_EVENTS, SOURCE_RATE),
              List.of(SOURCE_PATH, SOURCE_FORMAT, SOURCE_SCHEMA),
              EtlKafka.ALL,
              EtlAvro.OF_SOURCE,
              EtlWatermark.ALL,
              List.of(WHERE, SELECT, GROUP_BY_KEYS, GROUP_BY_AGGREGATES),
              List.of(GROUP_BY_RESULT, GROUP_BY_STATE_TTL, GROUP_BY_TWO_PHASE),
              EtlWindow.OF_FUNCTIONS,
              EtlWindow.OF_WINDOWS,
              List.of(PARTITION_BY, SINK_TYPE, SINK_PATH, SINK_FORMAT, SINK_EXISTING),
              EtlFileSink.ALL,
              EtlKafkaSink.ALL,
              EtlAvro.OF_SINK,
              EtlPostgresSink.ALL,
              List.of(CSV_HEADER, CSV_DELIMITER, CSV_QUOTED_LINE_FEEDS),
              List.of(
                  ON_ERROR,
                  BAD_ROWS_PATH,
                  EtlKafkaSink.DEAD_LETTERS,
                  MAX_BAD_ROWS,
                  BATCH_ROWS,
                  BATCH_LATENCY),
              List.of(PARALLELISM, CHECKPOINT_INTERVAL, CHECKPOINT_PATH, SAVEPOINT_PATH, DEVICE))
          .<ConfigOption<?>>flatMap(List::stream)
          .toList();

  private EtlOptions() {}

  /**
   * A setting that a job cannot do without.
   *
   * @param what what needs it, as a sentence begins
   * @throws UsageException if it is missing or blank
   */
  static String required(Configuration settings, ConfigOption<String> option, String what) {
    return settings
        .getOptional(option)
        .filter(value -> !value.isBlank())
        .orElseThrow(() -> new UsageException(what + " needs " + option.key()));
  }

  /** The names of columns that a setting lists; none if it is not given. */
  static List<String> names(Configuration settings, ConfigOption<String> option) {
    return settings.getOptional(option).map(SchemaParser::parseNames).orElse(List.of());
  }

  /** The settings as typed, none of which is from a file; see {@link #parse(Map, Map)}. */
  static Configuration parse(Map<String, String> commandLine) {
    return parse(Map.of(), commandLine);
  }

  /**
   * The settings as typed, checked one by one; the command line wins over the file. A null stands
   * for a key that has no value in the file, which is as if it were not there.
   *
   * @throws UsageException for a key that does not exist, a value that is empty or does not parse,
   *     or an option that would be ignored
   */
  static Configuration parse(Map<String, String> file, Map<String, String> commandLine) {
    file.keySet().forEach(key -> checkKey(key, file.get(key) == null));
    commandLine.keySet().forEach(key -> checkKey(key, false));
    Map<String, String> fileValues = new TreeMap<>(file);
    fileValues.values().removeIf(Objects::isNull);
    Map<String, String> all = new TreeMap<>(fileValues);
    all.putAll(commandLine);
    all.forEach(EtlOptions::checkNotEmpty);
    Configuration configuration = typed(all);
    requireAtLeast(1, configuration.get(PARALLELISM), PARALLELISM);
    requireAtLeast(1, configuration.get(BATCH_ROWS), BATCH_ROWS);
    requireAtLeast(0, configuration.get(SOURCE_EVENTS), SOURCE_EVENTS);
    requireAtLeast(0, configuration.get(SOURCE_RATE), SOURCE_RATE);
    EtlFileSink.check(configuration);
    requireMillisecond(configuration, BATCH_LATENCY);
    requireMillisecond(configuration, CHECKPOINT_INTERVAL);
    configuration.getOptional(MAX_BAD_ROWS).ifPresent(BadRowLimit::parse);
    OptionUse.check(configuration, fileValues.keySet(), commandLine.keySet(), typed(fileValues));
    return configuration;
  }

  private static void checkKey(String key, boolean mayBeSection) {
    List<String> keys = ALL.stream().map(ConfigOption::key).toList();
    boolean exists =
        keys.contains(key)
            || PREFIXES.stream().anyMatch(prefix -> key.startsWith(prefix))
            || (mayBeSection && keys.stream().anyMatch(name -> name.startsWith(key + ".")));
    if (!exists) {
      throw new UsageException(
          "there is no option '" + key + "'; the options are " + String.join(", ", keys));
    }
  }

  private static void checkNotEmpty(String key, String value) {
    if (value.isEmpty() || (value.isBlank() && !key.equals(CSV_DELIMITER.key()))) {
      throw new UsageException(key + " is empty; leave it out, or give it a value");
    }
  }

  /** A path to read implies the source type files. */
  private static Configuration typed(Map<String, String> values) {
    Map<String, String> texts = new TreeMap<>(values);
    texts.computeIfPresent(SINK_TYPE.key(), (key, types) -> types.replaceAll("\\s*,\\s*", ";"));
    Configuration configuration = Configuration.fromMap(texts);
    for (ConfigOption<?> option : ALL) {
      check(configuration, option);
    }
    if (configuration.contains(SOURCE_PATH) && !configuration.contains(SOURCE_TYPE)) {
      configuration.set(SOURCE_TYPE, SourceType.FILES);
    }
    return configuration;
  }

  private static void check(Configuration configuration, ConfigOption<?> option) {
    try {
      configuration.getOptional(option);
    } catch (IllegalArgumentException e) {
      String text = configuration.toMap().get(option.key());
      Object value =
          option.defaultValue() instanceof List<?> list ? list.get(0) : option.defaultValue();
      String choices =
          value instanceof Enum<?> constant
              ? "one of "
                  + Arrays.stream(constant.getDeclaringClass().getEnumConstants())
                      .map(choice -> choice.toString().toLowerCase(Locale.ROOT))
                      .collect(Collectors.joining(", "))
              : value instanceof Duration
                  ? "a duration such as 100ms or 10s"
                  : value instanceof MemorySize
                      ? "a size such as 128mb"
                      : value instanceof Boolean ? "true or false" : "a whole number";
      throw new UsageException(option.key() + ": expected " + choices + ", got '" + text + "'");
    }
  }

  static void requireAtLeast(long minimum, long value, ConfigOption<?> option) {
    if (value < minimum) {
      throw new UsageException(option.key() + ": expected at least " + minimum + ", got " + value);
    }
  }

  private static void requireMillisecond(
      Configuration configuration, ConfigOption<Duration> option) {
    Duration value = configuration.get(option);
    if (value.toMillis() < 1) {
      throw new UsageException(
          option.key() + ": expected at least 1 ms, got " + value.toMillis() + " ms");
    }
  }
}

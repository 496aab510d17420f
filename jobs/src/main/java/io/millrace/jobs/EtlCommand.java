// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command line of {@link StreamingEtl}; each option stands for a key of the YAML file. */
@Command(
    name = "millrace etl",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpAutoWidth = true,
    version = "Millrace 0.1.0",
    description =
        "Streams rows from a source into column batches, filters and projects them on the device,"
            + " hash-partitions the rows by key over the subtasks, aggregates them by key if asked"
            + " to, and writes them with exactly-once commits.",
    footer = {
      "",
      "Exit codes: 0 finished; 1 the job failed; 2 the command or its input is wrong, nothing was"
          + " done; 3 there were more bad rows than --max-bad-rows; 130 or 143 stopped by SIGINT or"
          + " SIGTERM, with a savepoint to resume from.",
      "Example: millrace etl --source files --input bids.json --schema 'auction BIGINT, price INT'"
          + " --select 'auction, CAST(price AS DOUBLE) AS price' --key auction --output out"
    })
final class EtlCommand {
  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      description = "YAML file with settings; options given here win over it.")
  Path config;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Any key of the file, such as --set sink.kafka.topic=bids; docs/etl.md lists them.")
  Map<String, String> settings;

  @Option(
      names = "--source",
      paramLabel = "TYPE",
      description = "nexmark (default), files or kafka.")
  String source;

  @Option(
      names = "--events",
      paramLabel = "N",
      description = "Rows to generate (default 1000000); 0 for no limit.")
  String events;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Rows to generate per second; 0 (default) for no limit.")
  String rate;

  @Option(names = "--input", paramLabel = "PATH", description = "File or folder to read.")
  String input;

  @Option(
      names = "--input-format",
      paramLabel = "FORMAT",
      description = "json (default: one object per line), csv or parquet.")
  String inputFormat;

  @Option(
      names = "--schema",
      paramLabel = "COLUMNS",
      description = "Columns of the files: 'id BIGINT, name STRING'.")
  String schema;

  @Option(
      names = "--watermark",
      paramLabel = "COLUMN",
      description =
          "Column of the files whose times end windows (default: all windows end with the input).")
  String watermark;

  @Option(
      names = "--watermark-delay",
      paramLabel = "TIME",
      description = "How far the watermark is behind the greatest time that was read (default 0s).")
  String watermarkDelay;

  @Option(
      names = "--where",
      paramLabel = "CONDITION",
      description = "Rows to keep, as in SQL: \"price > 10 AND name LIKE 'A%%'\" (default: all).")
  String where;

  @Option(
      names = "--select",
      paramLabel = "ITEMS",
      description =
          "Columns to write, as in SQL: 'a, UPPER(b) AS c, d * 0.908 AS e' (default: all).")
  String select;

  @Option(
      names = "--group-by",
      paramLabel = "COLUMNS",
      description =
          "Selected columns: writes --aggregates of the rows of each key instead of the rows.")
  String groupBy;

  @Option(
      names = "--aggregates",
      paramLabel = "ITEMS",
      description =
          "Aggregates of selected columns, as in SQL: \"COUNT(*) AS n, SUM(a) FILTER (WHERE b > 0) AS"
              + " s\".")
  String aggregates;

  @Option(
      names = "--group-by-result",
      paramLabel = "ROWS",
      description =
          "last (default): the last row of each key, at the end of the input; or changes: all as they"
              + " come, with the operation in the column op.")
  String groupByResult;

  @Option(
      names = "--state-ttl",
      paramLabel = "TIME",
      description =
          "For --group-by-result changes: forgets keys without rows for so long (default 0s: never).")
  String stateTtl;

  @Option(
      names = "--two-phase",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "BOOLEAN",
      description =
          "Whether the rows of each key of a batch are combined before they are sent (default"
              + " false).")
  String twoPhase;

  @Mixin EtlWindowCommand window;

  @Option(
      names = "--key",
      paramLabel = "COLUMNS",
      description =
          "Columns to partition by (default: the first one selected), if there is no --group-by.")
  String key;

  @Option(
      names = "--sink",
      paramLabel = "TYPE",
      description = "files (default), kafka and postgres, or several; or discard.")
  String sink;

  @Option(
      names = "--output",
      paramLabel = "PATH",
      description = "Folder to write (default millrace-output).")
  String output;

  @Option(
      names = "--output-format",
      paramLabel = "FORMAT",
      description = "csv (default), json, arrow (IPC streams) or parquet.")
  String outputFormat;

  @Option(names = "--append", description = "Add files to an output folder that has some.")
  boolean append;

  @Option(
      names = "--overwrite",
      description = "Delete the part files of the output folder before the job starts.")
  boolean overwrite;

  @Mixin EtlFileSinkCommand fileSink;

  @Option(
      names = "--csv-header",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "BOOLEAN",
      description =
          "Whether CSV files, read and written, begin with the columns' names (default false). Files"
              + " to read are read by these names.")
  String csvHeader;

  @Option(
      names = "--csv-delimiter",
      paramLabel = "CHARACTER",
      description = "Between fields of CSV files, read and written (default a comma; \\t a tab).")
  String csvDelimiter;

  @Option(
      names = "--csv-quoted-line-feeds",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "BOOLEAN",
      description =
          "Whether quoted values of CSV files to read may have line feeds (default true). With"
              + " false, several subtasks read one large file.")
  String csvQuotedLineFeeds;

  @Option(
      names = "--on-error",
      paramLabel = "ACTION",
      description =
          "What a row of a file does that cannot be parsed or computed: skip (default) it, or fail"
              + " the job.")
  String onError;

  @Option(
      names = "--bad-rows",
      paramLabel = "PATH",
      description = "Folder for skipped rows with reason and position (default OUTPUT-bad).")
  String badRows;

  @Option(
      names = "--max-bad-rows",
      paramLabel = "N|N%",
      description =
          "The most bad rows: one more fails the job (default no limit). A share of all rows, such"
              + " as 1%%, is compared at the input's end.")
  String maxBadRows;

  @Option(
      names = "--batch-rows",
      paramLabel = "N",
      description = "The most rows in a batch (default 65536).")
  String batchRows;

  @Option(
      names = "--latency",
      paramLabel = "TIME",
      description = "The longest time a row waits for its batch (default 100ms).")
  String latency;

  @Option(
      names = {"-p", "--parallelism"},
      paramLabel = "N",
      description =
          "Subtasks of each operator, and so partitions (default 2; on a cluster, its own default).")
  String parallelism;

  @Option(
      names = "--checkpoint-interval",
      paramLabel = "TIME",
      description =
          "Time between checkpoints, which commit files (default 5s; on a cluster, its own"
              + " interval).")
  String checkpointInterval;

  @Option(
      names = "--checkpoints",
      paramLabel = "PATH",
      description =
          "Folder in which checkpoints are kept (default: in memory), to resume from after a crash.")
  String checkpoints;

  @Option(
      names = "--savepoints",
      paramLabel = "PATH",
      description =
          "Folder for the savepoint that SIGINT or SIGTERM takes (default OUTPUT-savepoints).")
  String savepoints;

  @Option(
      names = "--resume",
      paramLabel = "PATH",
      description =
          "Savepoint or checkpoint that the job resumes from; on a cluster: flink run -s PATH.")
  String resume;

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      description = "auto (default: the GPU if there is one), cuda or host.")
  String device;

  @Option(names = "--web", description = "Open Flink's web UI while the job runs here.")
  boolean web;

  @Option(
      names = "--web-port",
      paramLabel = "PORT",
      description = "Port of the web UI (default 8081, or a free one if that is taken).")
  Integer webPort;

  boolean hasWebUi() {
    return web || webPort != null;
  }

  /** Settings of the file; none if no file is given. */
  Map<String, String> fileSettings() {
    return config == null ? Map.of() : YamlSettings.read(config);
  }

  /** The settings of the command line, which win over the settings of the file. */
  Map<String, String> givenSettings() {
    Map<String, String> given = new LinkedHashMap<>();
    given.put(EtlOptions.SOURCE_TYPE.key(), source);
    given.put(EtlOptions.SOURCE_EVENTS.key(), events);
    given.put(EtlOptions.SOURCE_RATE.key(), rate);
    given.put(EtlOptions.SOURCE_PATH.key(), input);
    given.put(EtlOptions.SOURCE_FORMAT.key(), inputFormat);
    given.put(EtlOptions.SOURCE_SCHEMA.key(), schema);
    given.put(EtlWatermark.COLUMN.key(), watermark);
    given.put(EtlWatermark.DELAY.key(), watermarkDelay);
    given.put(EtlOptions.WHERE.key(), where);
    given.put(EtlOptions.SELECT.key(), select);
    given.put(EtlOptions.GROUP_BY_KEYS.key(), groupBy);
    given.put(EtlOptions.GROUP_BY_AGGREGATES.key(), aggregates);
    given.put(EtlOptions.GROUP_BY_RESULT.key(), groupByResult);
    given.put(EtlOptions.GROUP_BY_STATE_TTL.key(), stateTtl);
    given.put(EtlOptions.GROUP_BY_TWO_PHASE.key(), twoPhase);
    window.addTo(given);
    given.put(EtlOptions.PARTITION_BY.key(), key);
    given.put(EtlOptions.SINK_TYPE.key(), sink);
    given.put(EtlOptions.SINK_PATH.key(), output);
    given.put(EtlOptions.SINK_FORMAT.key(), outputFormat);
    given.put(EtlOptions.SINK_EXISTING.key(), existing());
    fileSink.addTo(given);
    given.put(EtlOptions.CSV_HEADER.key(), csvHeader);
    given.put(EtlOptions.CSV_DELIMITER.key(), csvDelimiter);
    given.put(EtlOptions.CSV_QUOTED_LINE_FEEDS.key(), csvQuotedLineFeeds);
    given.put(EtlOptions.ON_ERROR.key(), onError);
    given.put(EtlOptions.BAD_ROWS_PATH.key(), badRows);
    given.put(EtlOptions.MAX_BAD_ROWS.key(), maxBadRows);
    given.put(EtlOptions.BATCH_ROWS.key(), batchRows);
    given.put(EtlOptions.BATCH_LATENCY.key(), latency);
    given.put(EtlOptions.PARALLELISM.key(), parallelism);
    given.put(EtlOptions.CHECKPOINT_INTERVAL.key(), checkpointInterval);
    given.put(EtlOptions.CHECKPOINT_PATH.key(), checkpoints);
    given.put(EtlOptions.SAVEPOINT_PATH.key(), savepoints);
    given.put(EtlOptions.DEVICE.key(), device);
    if (settings != null) {
      given.putAll(settings);
    }
    given.values().removeIf(Objects::isNull);
    return given;
  }

  private String existing() {
    if (append && overwrite) {
      throw new UsageException("--append and --overwrite exclude each other");
    }
    return append ? "append" : overwrite ? "overwrite" : null;
  }
}

package io.millrace.jobs;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
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
            + " hash-partitions the rows by key over the subtasks, and writes them with"
            + " exactly-once commits.",
    footer = {
      "",
      "Exit codes: 0 finished, 1 the job failed, 2 the command or its input is wrong.",
      "Example: millrace etl --source files --input bids.json --schema 'auction BIGINT, price INT'"
          + " --select 'auction, CAST(price AS DOUBLE) AS price' --key auction --output out"
    })
final class EtlCommand {
  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      description = "YAML file with settings; options given here win over it.")
  Path config;

  @Option(names = "--source", paramLabel = "TYPE", description = "nexmark (default) or files.")
  String source;

  @Option(
      names = "--events",
      paramLabel = "N",
      description = "Rows to generate (default 1000000); 0 goes on for ever.")
  String events;

  @Option(
      names = "--rate",
      paramLabel = "N",
      description = "Rows a second to generate; 0 (default) is as fast as it goes.")
  String rate;

  @Option(names = "--input", paramLabel = "PATH", description = "File or folder to read.")
  String input;

  @Option(
      names = "--input-format",
      paramLabel = "FORMAT",
      description = "json (default: one object a line) or csv.")
  String inputFormat;

  @Option(
      names = "--schema",
      paramLabel = "COLUMNS",
      description = "Columns of the files: 'id BIGINT, name STRING'.")
  String schema;

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
      names = "--key",
      paramLabel = "COLUMNS",
      description = "Columns to partition by (default: the first one selected).")
  String key;

  @Option(names = "--sink", paramLabel = "TYPE", description = "files (default) or discard.")
  String sink;

  @Option(
      names = "--output",
      paramLabel = "PATH",
      description = "Folder to write (default millrace-output).")
  String output;

  @Option(
      names = "--output-format",
      paramLabel = "FORMAT",
      description = "csv (default), json or arrow (IPC streams).")
  String outputFormat;

  @Option(
      names = "--csv-header",
      paramLabel = "BOOLEAN",
      description = "Whether CSV files begin with the columns' names (default false).")
  String csvHeader;

  @Option(
      names = "--on-error",
      paramLabel = "ACTION",
      description = "What a row that cannot be parsed does: skip (default) it, or fail the job.")
  String onError;

  @Option(
      names = "--bad-rows",
      paramLabel = "PATH",
      description = "Folder for skipped rows with reason and position (default OUTPUT-bad).")
  String badRows;

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
      description = "Subtasks of each operator, and so partitions (default 2).")
  String parallelism;

  @Option(
      names = "--checkpoint-interval",
      paramLabel = "TIME",
      description = "Time between checkpoints (default 5s).")
  String checkpointInterval;

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      description = "auto (default: the GPU if there is one), cuda or host.")
  String device;

  @Option(names = "--web", description = "Open Flink's web UI while the job runs here.")
  boolean web;

  /** Settings of the file, overridden by those of the command line. */
  Map<String, String> settings() {
    Map<String, String> settings =
        config == null ? new HashMap<>() : new HashMap<>(YamlSettings.read(config));
    Map<String, String> given = new LinkedHashMap<>();
    given.put(EtlOptions.SOURCE_TYPE.key(), source);
    given.put(EtlOptions.SOURCE_EVENTS.key(), events);
    given.put(EtlOptions.SOURCE_RATE.key(), rate);
    given.put(EtlOptions.SOURCE_PATH.key(), input);
    given.put(EtlOptions.SOURCE_FORMAT.key(), inputFormat);
    given.put(EtlOptions.SOURCE_SCHEMA.key(), schema);
    given.put(EtlOptions.WHERE.key(), where);
    given.put(EtlOptions.SELECT.key(), select);
    given.put(EtlOptions.PARTITION_BY.key(), key);
    given.put(EtlOptions.SINK_TYPE.key(), sink);
    given.put(EtlOptions.SINK_PATH.key(), output);
    given.put(EtlOptions.SINK_FORMAT.key(), outputFormat);
    given.put(EtlOptions.CSV_HEADER.key(), csvHeader);
    given.put(EtlOptions.ON_ERROR.key(), onError);
    given.put(EtlOptions.BAD_ROWS_PATH.key(), badRows);
    given.put(EtlOptions.BATCH_ROWS.key(), batchRows);
    given.put(EtlOptions.BATCH_LATENCY.key(), latency);
    given.put(EtlOptions.PARALLELISM.key(), parallelism);
    given.put(EtlOptions.CHECKPOINT_INTERVAL.key(), checkpointInterval);
    given.put(EtlOptions.DEVICE.key(), device);
    given.forEach(
        (option, value) -> {
          if (value != null) {
            settings.put(option, value);
          }
        });
    return settings;
  }
}

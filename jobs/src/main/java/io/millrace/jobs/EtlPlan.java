// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.column.Schema;
import io.millrace.connectors.files.InputFiles;
import io.millrace.connectors.files.LinePosition;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.connectors.parquet.ParquetFileSource;
import io.millrace.connectors.records.CsvRecordFormat;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.format.RecordFilter;
import io.millrace.format.csv.CsvReader;
import io.millrace.format.json.JsonReader;
import io.millrace.jobs.EtlOptions.Format;
import io.millrace.jobs.EtlOptions.GroupByResult;
import io.millrace.jobs.EtlOptions.OnError;
import io.millrace.jobs.EtlOptions.SinkType;
import io.millrace.jobs.EtlOptions.SourceType;
import io.millrace.operators.exchange.BatchExchange;
import io.millrace.operators.sql.SchemaParser;
import io.millrace.operators.sql.SqlTextException;
import io.millrace.operators.transform.CalcPlan;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;
import org.apache.flink.table.data.RowData;

/**
 * Settings that fit together: what the job reads, selects, groups or partitions by, and writes.
 *
 * @param sourceSchema the columns of the source
 * @param selection from the source's rows to the sink's
 * @param hasPositions whether rows carry their positions, because an expression may fail for them
 * @param grouping the aggregates of the selected rows; empty if the rows themselves are written
 * @param keys the selected columns that rows are partitioned by
 */
record EtlPlan(
    Configuration configuration,
    Schema sourceSchema,
    EtlSelection selection,
    boolean hasPositions,
    Optional<EtlGrouping> grouping,
    List<String> keys) {

  private static final String READING = "reading files";

  /**
   * Checks the settings against each other and against the files.
   *
   * @throws UsageException saying the first thing that does not fit; nothing has been written
   */
  static EtlPlan of(Configuration configuration) {
    try {
      return parse(configuration);
    } catch (SqlTextException e) {
      throw new UsageException(e.getMessage());
    }
  }

  private static EtlPlan parse(Configuration configuration) {
    Schema declared = sourceSchema(configuration);
    EtlSelection selection = EtlSelection.parse(configuration, declared);
    Schema source = columnsToRead(configuration, declared, selection);
    CalcPlan calc = selection.plan(source);
    boolean hasPositions = calc.canFail() && skipsBadRows(configuration);
    if (hasPositions) {
      selection = selection.orColumnsOf(source);
      calc = selection.plan(positioned(source));
    }
    Schema selected = calc.outputSchema();
    Optional<EtlGrouping> grouping =
        EtlGrouping.parse(configuration, selected, skipsBadRows(configuration));
    List<String> keys =
        grouping
            .map(EtlGrouping::keys)
            .or(
                () ->
                    configuration
                        .getOptional(EtlOptions.PARTITION_BY)
                        .map(SchemaParser::parseNames))
            .orElseGet(() -> List.of(selected.field(0).name()));
    checkKeys(selected, keys);
    checkEnds(configuration, grouping);
    checkSinks(configuration);
    EtlPlan plan = new EtlPlan(configuration, source, selection, hasPositions, grouping, keys);
    plan.csv();
    plan.watermarks();
    return plan;
  }

  // Columns of Parquet files that no expression reads are not read.
  private static Schema columnsToRead(
      Configuration configuration, Schema declared, EtlSelection selection) {
    boolean readsAll =
        configuration.get(EtlOptions.SOURCE_TYPE) != SourceType.FILES
            || configuration.get(EtlOptions.SOURCE_FORMAT) != Format.PARQUET
            || selection.columns().isEmpty();
    if (readsAll) {
      return declared;
    }
    List<String> read = selection.plan(declared).columnsRead();
    return declared.select(read.isEmpty() ? declared.names().subList(0, 1) : read);
  }

  private static void checkEnds(Configuration configuration, Optional<EtlGrouping> grouping) {
    boolean isEndless =
        switch (configuration.get(EtlOptions.SOURCE_TYPE)) {
          case NEXMARK -> configuration.get(EtlOptions.SOURCE_EVENTS) == 0;
          case KAFKA -> configuration.get(EtlKafka.END) == EtlKafka.End.NONE;
          case FILES -> false;
        };
    if (grouping.isPresent()
        && grouping.get().window().isEmpty()
        && isEndless
        && configuration.get(EtlOptions.GROUP_BY_RESULT) == GroupByResult.LAST) {
      throw new UsageException(
          "group-by.result: last needs input that ends, and "
              + (configuration.get(EtlOptions.SOURCE_TYPE) == SourceType.KAFKA
                  ? EtlKafka.END.key() + " is none"
                  : EtlOptions.SOURCE_EVENTS.key() + " is 0")
              + "; set changes");
    }
    if (grouping.flatMap(EtlGrouping::window).isPresent()
        && configuration.get(EtlOptions.SOURCE_TYPE) == SourceType.KAFKA
        && isEndless
        && !configuration.contains(EtlWatermark.COLUMN)) {
      throw new UsageException(
          "windows of topics that do not end need " + EtlWatermark.COLUMN.key());
    }
  }

  private static void checkSinks(Configuration configuration) {
    List<SinkType> sinks = configuration.get(EtlOptions.SINK_TYPE);
    if (sinks.stream().distinct().count() < sinks.size()
        || (sinks.contains(SinkType.DISCARD) && sinks.size() > 1)) {
      throw new UsageException(
          "sink.type: expected each of files, kafka and postgres at most once, or discard alone");
    }
    if (sinks.contains(SinkType.KAFKA)) {
      EtlKafkaSink.check(configuration);
    }
    if (sinks.contains(SinkType.POSTGRES)) {
      EtlPostgresSink.check(configuration);
    }
  }

  /**
   * Checks that the keys of sinks are written.
   *
   * @throws UsageException if one is not
   */
  void checkWritten(Schema written) {
    if (sinkTypes().contains(SinkType.KAFKA)) {
      EtlKafkaSink.checkColumns(configuration, written);
    }
    if (sinkTypes().contains(SinkType.POSTGRES)) {
      EtlPostgresSink.checkColumns(configuration, written);
    }
  }

  SourceType sourceType() {
    return configuration.get(EtlOptions.SOURCE_TYPE);
  }

  List<SinkType> sinkTypes() {
    return configuration.get(EtlOptions.SINK_TYPE);
  }

  boolean writesFiles() {
    return sinkTypes().contains(SinkType.FILES);
  }

  Format sinkFormat() {
    return configuration.get(EtlOptions.SINK_FORMAT);
  }

  String sinkPath() {
    return configuration.get(EtlOptions.SINK_PATH);
  }

  /** Whether records that are not rows go to a topic of Kafka. */
  boolean writesDeadLetters() {
    return skipsBadRows() && configuration.contains(EtlKafkaSink.DEAD_LETTERS);
  }

  String badRowsPath() {
    return configuration.getOptional(EtlOptions.BAD_ROWS_PATH).orElse(sinkPath() + "-bad");
  }

  /** Where late rows are written, if they are: only where the sink writes files. */
  Optional<String> lateRowsPath() {
    return configuration
        .getOptional(EtlWindow.LATE_ROWS)
        .filter(path -> writesFiles() && grouping.isPresent());
  }

  String savepointsPath() {
    return configuration.getOptional(EtlOptions.SAVEPOINT_PATH).orElse(sinkPath() + "-savepoints");
  }

  /** Whether rows that cannot be read or computed go to {@link #badRowsPath}. */
  boolean skipsBadRows() {
    return skipsBadRows(configuration);
  }

  private static boolean skipsBadRows(Configuration configuration) {
    boolean reads =
        switch (configuration.get(EtlOptions.SOURCE_TYPE)) {
          case NEXMARK -> false;
          case FILES -> configuration.get(EtlOptions.SOURCE_FORMAT) != Format.PARQUET;
          case KAFKA -> true;
        };
    return reads && configuration.get(EtlOptions.ON_ERROR) == OnError.SKIP;
  }

  boolean readsParquet() {
    return sourceType() == SourceType.FILES
        && configuration.get(EtlOptions.SOURCE_FORMAT) == Format.PARQUET;
  }

  /** Whether files are read in blocks of lines, which become batches without rows in between. */
  boolean readsBlocks() {
    return sourceType() == SourceType.FILES
        && !hasPositions
        && switch (configuration.get(EtlOptions.SOURCE_FORMAT)) {
          case JSON -> JsonReader.unsupported(sourceSchema).isEmpty();
          case CSV -> CsvReader.unsupported(sourceSchema).isEmpty();
          case ARROW, PARQUET -> false;
        };
  }

  /** The format of lines that are read in blocks. */
  RecordFormat recordFormat() {
    return configuration.get(EtlOptions.SOURCE_FORMAT) == Format.CSV
        ? new CsvRecordFormat(sourceSchema, csv())
        : new JsonRecordFormat(sourceSchema);
  }

  /**
   * The condition, if the source evaluates it: over columns of fixed width, before it copies
   * strings. Empty if the selection does, or there is none.
   */
  Optional<RecordFilter> sourceFilter() {
    return selection
        .condition()
        .map(condition -> RecordFilter.of(condition, ExpressionSettings.DEFAULT))
        .filter(
            filter ->
                switch (sourceType()) {
                  case FILES -> readsBlocks() && filter.unsupported(sourceSchema).isEmpty();
                  case KAFKA -> EtlKafka.isFiltered(configuration, filter, columnWatermarks());
                  case NEXMARK -> false;
                });
  }

  /** What is left to select of the source's rows. */
  EtlSelection selectionOfRows() {
    return sourceFilter().isPresent()
        ? new EtlSelection(Optional.empty(), selection.columns())
        : selection;
  }

  /** The columns of the rows that the selection gets. */
  Schema inputSchema() {
    return hasPositions ? positioned(sourceSchema) : sourceSchema;
  }

  private static Schema positioned(Schema source) {
    try {
      return LinePosition.addTo(source);
    } catch (IllegalArgumentException e) {
      throw new UsageException(EtlOptions.SOURCE_SCHEMA.key() + ": " + e.getMessage());
    }
  }

  BadRowLimit badRowLimit() {
    return configuration
        .getOptional(EtlOptions.MAX_BAD_ROWS)
        .map(BadRowLimit::parse)
        .orElse(BadRowLimit.NONE);
  }

  /**
   * How CSV files are read and written.
   *
   * @throws UsageException if the delimiter is not one character, or one that cannot be
   */
  CsvOptions csv() {
    String text = configuration.get(EtlOptions.CSV_DELIMITER);
    String delimiter = text.equals("\\t") ? "\t" : text;
    if (delimiter.length() != 1) {
      throw new UsageException("csv.delimiter: expected one character, got '" + text + "'");
    }
    try {
      return CsvOptions.DEFAULT
          .withHeader(configuration.get(EtlOptions.CSV_HEADER))
          .withDelimiter(delimiter.charAt(0));
    } catch (IllegalArgumentException e) {
      throw new UsageException("csv.delimiter: " + e.getMessage());
    }
  }

  /**
   * The watermarks of rows from files that are read line by line.
   *
   * @throws UsageException as {@link EtlWatermark#strategy}
   */
  WatermarkStrategy<RowData> watermarks() {
    return EtlWatermark.strategy(configuration, sourceSchema);
  }

  /**
   * The watermarks of batches from files that are read in blocks; empty if no column is named.
   *
   * @throws UsageException as {@link EtlWatermark#ofColumn}
   */
  Optional<EventTimeWatermarks> columnWatermarks() {
    return EtlWatermark.ofColumn(configuration, sourceSchema);
  }

  /** How files are cut into lines. */
  TextLineOptions lines() {
    if (configuration.get(EtlOptions.SOURCE_FORMAT) != Format.CSV) {
      return TextLineOptions.DEFAULT;
    }
    TextLineOptions lines = TextLineOptions.DEFAULT.withHeader(csv().header());
    return configuration.get(EtlOptions.CSV_QUOTED_LINE_FEEDS)
        ? lines.withQuotedLineFeeds(csv().delimiter())
        : lines;
  }

  private static Schema sourceSchema(Configuration configuration) {
    if (configuration.get(EtlOptions.SOURCE_TYPE) == SourceType.NEXMARK) {
      return NexmarkSchemas.BID;
    }
    if (configuration.get(EtlOptions.SOURCE_TYPE) == SourceType.KAFKA) {
      EtlKafka.check(configuration);
      return EtlKafka.schema(configuration);
    }
    String path = EtlOptions.required(configuration, EtlOptions.SOURCE_PATH, READING);
    if (configuration.get(EtlOptions.SOURCE_FORMAT) == Format.ARROW) {
      throw new UsageException("expected json, csv or parquet for source.format, got arrow");
    }
    try {
      List<Path> files = InputFiles.resolve(List.of(path));
      if (configuration.get(EtlOptions.SOURCE_FORMAT) == Format.PARQUET
          && !configuration.contains(EtlOptions.SOURCE_SCHEMA)) {
        return ParquetFileSource.readSchema(files.get(0));
      }
    } catch (IOException e) {
      throw new UsageException(e.getMessage());
    }
    return SchemaParser.parse(
        EtlOptions.SOURCE_SCHEMA.key(),
        EtlOptions.required(configuration, EtlOptions.SOURCE_SCHEMA, READING));
  }

  private static void checkKeys(Schema schema, List<String> keys) {
    try {
      BatchExchange.checkKeys(schema, keys);
    } catch (IllegalArgumentException e) {
      throw new UsageException(EtlOptions.PARTITION_BY.key() + ": " + e.getMessage());
    }
  }
}

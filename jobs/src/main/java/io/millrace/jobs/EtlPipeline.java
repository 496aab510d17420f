// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.column.Schema;
import io.millrace.connectors.files.FailedRowsOperator;
import io.millrace.connectors.files.LineParsingFunction;
import io.millrace.connectors.files.MalformedLine;
import io.millrace.connectors.files.MalformedLinePolicy;
import io.millrace.connectors.files.MalformedLineSerializer;
import io.millrace.connectors.files.TextFileSource;
import io.millrace.connectors.files.TextLine;
import io.millrace.connectors.files.TextLineFormat;
import io.millrace.connectors.files.block.TextBlock;
import io.millrace.connectors.files.block.TextBlockFormat;
import io.millrace.connectors.files.block.TextDecodingOperator;
import io.millrace.connectors.files.scan.FileScanOptions;
import io.millrace.connectors.files.sink.FileSinkOptions;
import io.millrace.connectors.files.sink.FileSinks;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.CsvLineParser;
import io.millrace.connectors.formats.JsonLineParser;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.connectors.formats.LineParser;
import io.millrace.connectors.kafka.KafkaDecodingOperator;
import io.millrace.connectors.kafka.MalformedKafkaRecord;
import io.millrace.connectors.nexmark.NexmarkOptions;
import io.millrace.connectors.nexmark.NexmarkStreams;
import io.millrace.connectors.parquet.ParquetFileSink;
import io.millrace.connectors.parquet.ParquetFileSource;
import io.millrace.connectors.parquet.ParquetWriterOptions;
import io.millrace.jobs.EtlOptions.Format;
import io.millrace.jobs.EtlOptions.SinkType;
import io.millrace.jobs.cluster.ClusterStatus;
import io.millrace.jobs.operator.BadRowCountingFunction;
import io.millrace.jobs.operator.CountingOperator;
import io.millrace.jobs.operator.DiscardingOperator;
import io.millrace.jobs.operator.FailedRowCountingFunction;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.api.KeyedColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.ParameterTool;

/** Makes the job of an {@link EtlPlan}. */
final class EtlPipeline {
  private final StreamExecutionEnvironment environment;
  private final EtlPlan plan;
  private final Configuration configuration;
  private final FileSinkOptions fileOptions;
  // The side output of the parser; null until it is added, and if no files are read.
  private DataStream<MalformedLine> malformedLines;
  // null if no topics are read
  private DataStream<MalformedKafkaRecord> deadLetters;

  private EtlPipeline(StreamExecutionEnvironment environment, EtlPlan plan) {
    this.environment = environment;
    this.plan = plan;
    this.configuration = plan.configuration();
    this.fileOptions = EtlFileSink.options(configuration, EtlEnvironment.mayBeResumed(environment));
  }

  /**
   * Adds the job to {@code environment}.
   *
   * @throws UsageException if the files to read are gone
   */
  static void build(StreamExecutionEnvironment environment, EtlPlan plan) {
    new EtlPipeline(environment, plan).build();
  }

  private void build() {
    ColumnStream selected = select(count(source(), EtlProgress.IN));
    if (plan.skipsBadRows()) {
      badRowsSink(selected);
    }
    KeyedColumnStream partitioned =
        selected.keyBy(plan.keys().toArray(String[]::new)).uid("partition");
    ColumnStream result =
        plan.grouping().map(grouping -> group(grouping, partitioned)).orElse(partitioned);
    ColumnStream counted = count(result, EtlProgress.OUT);
    environment
        .getConfig()
        .setGlobalJobParameters(
            ParameterTool.fromMap(Map.of(ClusterStatus.EXPLAIN, counted.explain())));
    sink(counted);
  }

  private static ColumnStream count(ColumnStream batches, String place) {
    return batches
        .transform("count " + place, batches.schema(), CountingOperator.factory(place))
        .uid("count-" + place);
  }

  private ColumnStream group(EtlGrouping grouping, KeyedColumnStream rows) {
    if (grouping.window().isPresent()) {
      ColumnStream windows = grouping.windows(rows);
      lateRowsSink(count(windows.lateRows(), EtlProgress.LATE));
      return grouping.result(windows);
    }
    return switch (configuration.get(EtlOptions.GROUP_BY_RESULT)) {
      case LAST -> grouping.result(rows, batches());
      case CHANGES -> grouping.changes(rows);
    };
  }

  private BatchOptions batches() {
    return BatchOptions.latency(configuration.get(EtlOptions.BATCH_LATENCY))
        .withRows(1, configuration.get(EtlOptions.BATCH_ROWS));
  }

  private ColumnStream source() {
    return switch (plan.sourceType()) {
      case NEXMARK -> generated();
      case FILES -> read();
      case KAFKA -> readTopics();
    };
  }

  private ColumnStream generated() {
    long events = configuration.get(EtlOptions.SOURCE_EVENTS);
    long rate = configuration.get(EtlOptions.SOURCE_RATE);
    return ColumnStream.fromBatches(
        NexmarkStreams.bidBatches(
            environment,
            NexmarkOptions.of(events == 0 ? NexmarkOptions.UNBOUNDED : events)
                .withPerSecond(rate == 0 ? NexmarkOptions.UNLIMITED : rate)
                .withBatchRows(configuration.get(EtlOptions.BATCH_ROWS))));
  }

  private ColumnStream select(ColumnStream source) {
    EtlSelection selection = plan.selectionOfRows();
    if (selection.isEmpty()) {
      return source;
    }
    ColumnStream selected = selection.applyTo(source);
    return (plan.hasPositions() ? selected.skipFailedRows() : selected).name("calc").uid("calc");
  }

  /** Writes the lines that could not be parsed and the rows that could not be computed. */
  private void badRowsSink(ColumnStream selected) {
    DataStream<MalformedLine> badRows = malformedLines;
    if (plan.hasPositions()) {
      DataStream<MalformedLine> failed =
          FailedRowsOperator.describe(selected.failedRows().toBatches(), plan.sourceSchema())
              .uid("describe-failed-rows")
              .map(new FailedRowCountingFunction())
              .returns(MalformedLineSerializer.typeInformation())
              .uid("count-failed-rows");
      badRows = malformedLines.union(failed);
      if (plan.writesDeadLetters()) {
        deadLetters = deadLetters.union(EtlKafka.records(failed));
      }
    }
    SingleOutputStreamOperator<MalformedLine> counted =
        badRows
            .process(new BadRowCountingFunction(plan.badRowLimit().rows()))
            .returns(MalformedLineSerializer.typeInformation())
            .uid("count-bad-rows")
            // One subtask sees all bad rows, even if the scheduler chooses the parallelism.
            .forceNonParallel();
    if (plan.writesDeadLetters()) {
      counted.sinkTo(new DiscardingSink<>()).uid("bad-rows");
      EtlKafkaSink.writeDeadLetters(deadLetters, configuration);
    } else {
      FileSinks.malformedLines(counted, new Path(plan.badRowsPath()), fileOptions).uid("bad-rows");
    }
  }

  private ColumnStream read() {
    if (plan.readsParquet()) {
      return readParquet();
    }
    return plan.readsBlocks() ? readBlocks() : readLines();
  }

  private ColumnStream readTopics() {
    SingleOutputStreamOperator<ColumnBatch> batches =
        EtlKafka.read(
            environment,
            configuration,
            plan.skipsBadRows(),
            plan.hasPositions(),
            plan.columnWatermarks(),
            plan.sourceFilter());
    DataStream<MalformedKafkaRecord> malformed =
        batches.getSideOutput(KafkaDecodingOperator.MALFORMED_RECORDS);
    malformedLines = EtlKafka.lines(malformed);
    deadLetters = malformed;
    return ColumnStream.fromBatches(batches);
  }

  private ColumnStream readParquet() {
    try {
      SingleOutputStreamOperator<ColumnBatch> batches =
          ParquetFileSource.batches(
              environment,
              List.of(configuration.get(EtlOptions.SOURCE_PATH)),
              plan.sourceSchema(),
              plan.selection().condition());
      batches.uid("parse").getTransformation().getInputs().get(0).setUid("files");
      return ColumnStream.fromBatches(batches);
    } catch (IOException e) {
      throw new UsageException(e.getMessage());
    }
  }

  private ColumnStream readBlocks() {
    TextFileSource files = files();
    DataStream<TextBlock> blocks = source(files, new TextBlockFormat(files.lines()));
    SingleOutputStreamOperator<ColumnBatch> batches =
        TextDecodingOperator.decode(
                blocks,
                plan.recordFormat(),
                files.lines(),
                policy(),
                configuration.get(EtlOptions.BATCH_ROWS),
                plan.columnWatermarks(),
                FileScanOptions.DEFAULT.withFilter(plan.sourceFilter()))
            .uid("parse");
    malformedLines = batches.getSideOutput(LineParsingFunction.MALFORMED_LINES);
    return ColumnStream.fromBatches(batches);
  }

  private MalformedLinePolicy policy() {
    return plan.skipsBadRows() ? MalformedLinePolicy.SIDE_OUTPUT : MalformedLinePolicy.FAIL;
  }

  private ColumnStream readLines() {
    Schema schema = plan.sourceSchema();
    TextFileSource files = files();
    DataStream<TextLine> lines = source(files, new TextLineFormat(files.lines()));
    LineParser parser =
        configuration.get(EtlOptions.SOURCE_FORMAT) == Format.CSV
            ? new CsvLineParser(schema, plan.csv())
            : new JsonLineParser(schema);
    SingleOutputStreamOperator<RowData> rows =
        plan.hasPositions()
            ? LineParsingFunction.parseWithPositions(lines, parser, policy())
            : LineParsingFunction.parse(lines, parser, policy());
    rows.uid("parse");
    malformedLines = rows.getSideOutput(LineParsingFunction.MALFORMED_LINES);
    DataStream<RowData> timed =
        configuration.contains(EtlWatermark.COLUMN)
            ? rows.assignTimestampsAndWatermarks(plan.watermarks()).uid("watermarks")
            : rows;
    return ColumnStream.from(timed, plan.inputSchema()).batch(batches()).name("batch").uid("batch");
  }

  private TextFileSource files() {
    return TextFileSource.of(List.of(configuration.get(EtlOptions.SOURCE_PATH)))
        .withLines(plan.lines());
  }

  private <T> DataStream<T> source(TextFileSource files, BulkFormat<T, FileSourceSplit> format) {
    try {
      return environment
          .fromSource(files.create(format), WatermarkStrategy.noWatermarks(), "lines")
          .uid("lines");
    } catch (IOException e) {
      throw new UsageException(e.getMessage());
    }
  }

  private void sink(ColumnStream stream) {
    plan.checkWritten(stream.schema());
    for (SinkType type : plan.sinkTypes()) {
      switch (type) {
        case FILES -> write(stream, plan.sinkPath(), "sink");
        case KAFKA -> EtlKafkaSink.write(stream, configuration);
        case POSTGRES -> EtlPostgresSink.write(stream, configuration);
        case DISCARD -> discard(stream, "");
      }
    }
  }

  private void lateRowsSink(ColumnStream lateRows) {
    plan.lateRowsPath()
        .ifPresentOrElse(
            path -> write(lateRows, path, "late-rows"), () -> discard(lateRows, "-late"));
  }

  private void write(ColumnStream stream, String path, String uid) {
    DataStream<ColumnBatch> batches = stream.toBatches();
    Schema schema = stream.schema();
    Path folder = new Path(path);
    DataStreamSink<?> sink =
        switch (plan.sinkFormat()) {
          case JSON ->
              FileSinks.write(batches, schema, new JsonLinesEncoder(), folder, fileOptions);
          case CSV ->
              FileSinks.write(batches, schema, new CsvEncoder(plan.csv()), folder, fileOptions);
          case ARROW ->
              FileSinks.write(batches, schema, new ArrowStreamEncoder(), folder, fileOptions);
          case PARQUET ->
              ParquetFileSink.write(
                  batches, schema, folder, ParquetWriterOptions.DEFAULT, fileOptions);
        };
    sink.uid(uid);
  }

  // A stock sink would not release batches that did not come by reference.
  private static void discard(ColumnStream stream, String uidSuffix) {
    stream
        .transform("discard", stream.schema(), DiscardingOperator.factory())
        .uid("discard" + uidSuffix)
        .toBatches()
        .sinkTo(new DiscardingSink<>())
        .uid("sink" + uidSuffix);
  }
}

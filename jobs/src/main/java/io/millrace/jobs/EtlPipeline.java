// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.column.Schema;
import io.millrace.connectors.files.FailedRowsOperator;
import io.millrace.connectors.files.FileSinks;
import io.millrace.connectors.files.LineParsingFunction;
import io.millrace.connectors.files.MalformedLine;
import io.millrace.connectors.files.MalformedLinePolicy;
import io.millrace.connectors.files.MalformedLineSerializer;
import io.millrace.connectors.files.TextFileSource;
import io.millrace.connectors.files.TextLine;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.CsvLineParser;
import io.millrace.connectors.formats.JsonLineParser;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.connectors.formats.LineParser;
import io.millrace.connectors.formats.TableEncoder;
import io.millrace.connectors.nexmark.NexmarkOptions;
import io.millrace.connectors.nexmark.NexmarkStreams;
import io.millrace.jobs.EtlOptions.Format;
import io.millrace.jobs.EtlOptions.SinkType;
import io.millrace.jobs.EtlOptions.SourceType;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.batching.BatchingOperator;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.exchange.BatchExchange;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.transform.FailedRows;
import io.millrace.operators.transform.TableTransform;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.OutputTag;

/** Puts the operators of an {@link EtlPlan} together. */
final class EtlPipeline {
  private final StreamExecutionEnvironment environment;
  private final EtlPlan plan;
  private final Configuration configuration;
  // Of the files that are read; null before, and where none are.
  private DataStream<MalformedLine> malformedLines;

  private EtlPipeline(StreamExecutionEnvironment environment, EtlPlan plan) {
    this.environment = environment;
    this.plan = plan;
    this.configuration = plan.configuration();
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
    Schema schema = plan.calc().outputSchema();
    ColumnBatchTypeInformation selectedType = new ColumnBatchTypeInformation(schema);
    SingleOutputStreamOperator<ColumnBatch> source = count(source(), EtlProgress.IN);
    SingleOutputStreamOperator<ColumnBatch> selected =
        calc().appendTo(source, "calc", selectedType).uid("calc");
    if (plan.skipsBadRows()) {
      badRowsSink(selected);
    }
    SingleOutputStreamOperator<ColumnBatch> partitioned =
        BatchExchange.keyBy(selected, plan.keys().toArray(String[]::new))
            .keyHash(plan.keyHash())
            .uid("partition")
            .apply();
    sink(count(partitioned, EtlProgress.OUT), schema);
  }

  private static SingleOutputStreamOperator<ColumnBatch> count(
      DataStream<ColumnBatch> batches, String place) {
    return CountingOperator.factory(place)
        .appendTo(batches, "count " + place, batches.getType())
        .uid("count-" + place);
  }

  private SingleOutputStreamOperator<ColumnBatch> source() {
    return plan.sourceType() == SourceType.NEXMARK ? generated() : read();
  }

  private SingleOutputStreamOperator<ColumnBatch> generated() {
    long events = configuration.get(EtlOptions.SOURCE_EVENTS);
    long rate = configuration.get(EtlOptions.SOURCE_RATE);
    return NexmarkStreams.bidBatches(
        environment,
        NexmarkOptions.of(events == 0 ? NexmarkOptions.UNBOUNDED : events)
            .withPerSecond(rate == 0 ? NexmarkOptions.UNLIMITED : rate)
            .withBatchRows(configuration.get(EtlOptions.BATCH_ROWS)));
  }

  private OperatorFactory<ColumnBatch, ColumnBatch> calc() {
    TableTransform.Factory transforms = plan.calc().transforms();
    return plan.hasPositions()
        ? TransformOperator.factory(transforms, failedRows())
        : TransformOperator.factory(transforms);
  }

  private OutputTag<ColumnBatch> failedRows() {
    Schema schema = FailedRows.schema(plan.inputSchema());
    return new OutputTag<>("failed-rows", new ColumnBatchTypeInformation(schema));
  }

  /** Writes lines that could not be parsed, and rows that could not be computed. */
  private void badRowsSink(SingleOutputStreamOperator<ColumnBatch> selected) {
    DataStream<MalformedLine> badRows = malformedLines;
    if (plan.hasPositions()) {
      DataStream<MalformedLine> failed =
          FailedRowsOperator.describe(selected.getSideOutput(failedRows()), plan.sourceSchema())
              .uid("describe-failed-rows")
              .map(new FailedRowCountingFunction())
              .returns(MalformedLineSerializer.typeInformation())
              .uid("count-failed-rows");
      badRows = malformedLines.union(failed);
    }
    SingleOutputStreamOperator<MalformedLine> counted =
        badRows
            .process(new BadRowCountingFunction(plan.badRowLimit().rows()))
            .returns(MalformedLineSerializer.typeInformation())
            .uid("count-bad-rows")
            // One subtask, which knows of all of them, also where the scheduler chooses how many.
            .forceNonParallel();
    FileSinks.malformedLines(counted, new Path(plan.badRowsPath())).uid("bad-rows");
  }

  private SingleOutputStreamOperator<ColumnBatch> read() {
    Schema schema = plan.sourceSchema();
    LineParser parser =
        configuration.get(EtlOptions.SOURCE_FORMAT) == Format.CSV
            ? new CsvLineParser(schema, plan.csv())
            : new JsonLineParser(schema);
    MalformedLinePolicy policy =
        plan.skipsBadRows() ? MalformedLinePolicy.SIDE_OUTPUT : MalformedLinePolicy.FAIL;
    SingleOutputStreamOperator<RowData> rows =
        plan.hasPositions()
            ? LineParsingFunction.parseWithPositions(lines(), parser, policy)
            : LineParsingFunction.parse(lines(), parser, policy);
    rows.uid("parse");
    malformedLines = rows.getSideOutput(LineParsingFunction.MALFORMED_LINES);
    BatchOptions batches =
        BatchOptions.latency(configuration.get(EtlOptions.BATCH_LATENCY))
            .withRows(1, configuration.get(EtlOptions.BATCH_ROWS));
    return BatchingOperator.factory(plan.inputSchema(), RowDataAppender::new, batches)
        .appendTo(rows, "batch", new ColumnBatchTypeInformation(plan.inputSchema()))
        .uid("batch");
  }

  private DataStream<TextLine> lines() {
    try {
      return environment
          .fromSource(
              TextFileSource.of(List.of(configuration.get(EtlOptions.SOURCE_PATH)))
                  .withLines(plan.lines())
                  .create(),
              WatermarkStrategy.noWatermarks(),
              "lines")
          .uid("lines");
    } catch (IOException e) {
      throw new UsageException(e.getMessage());
    }
  }

  private void sink(SingleOutputStreamOperator<ColumnBatch> batches, Schema schema) {
    if (plan.sinkType() == SinkType.DISCARD) {
      // A stock sink would not release batches that did not come by reference.
      DiscardingOperator.factory()
          .appendTo(batches, "discard", batches.getType())
          .uid("discard")
          .sinkTo(new DiscardingSink<>())
          .uid("sink");
      return;
    }
    TableEncoder encoder =
        switch (plan.sinkFormat()) {
          case JSON -> new JsonLinesEncoder();
          case CSV -> new CsvEncoder(plan.csv());
          case ARROW -> new ArrowStreamEncoder();
        };
    FileSinks.write(batches, schema, encoder, new Path(plan.sinkPath())).uid("sink");
  }
}

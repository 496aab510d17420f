// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.table;

import io.millrace.column.Schema;
import io.millrace.connectors.files.MalformedLinePolicy;
import io.millrace.connectors.files.TextFileSource;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.connectors.files.arrow.ArrowFileSource;
import io.millrace.connectors.files.block.TextBlock;
import io.millrace.connectors.files.block.TextBlockFormat;
import io.millrace.connectors.files.block.TextDecodingOperator;
import io.millrace.connectors.parquet.ParquetFileSource;
import io.millrace.connectors.table.FormatSettings;
import io.millrace.connectors.table.PushedFilter;
import io.millrace.connectors.table.ReadColumns;
import io.millrace.connectors.table.TableColumns;
import io.millrace.connectors.table.TableFormat;
import io.millrace.format.FieldQuotes;
import io.millrace.format.RecordFilter;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.BatchScanTableSource;
import io.millrace.operators.sql.table.RowProviders;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.connector.file.table.FileSystemConnectorOptions;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsFilterPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.expressions.ResolvedExpression;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;

/** Files that a query reads. The planner changes a copy of it, by the abilities. */
final class FileTableSource
    implements BatchScanTableSource, SupportsProjectionPushDown, SupportsFilterPushDown {
  private static final int MAX_ROWS = 65_536;

  private final Schema declared;
  private final FormatSettings format;
  private final ReadableConfig options;
  private ReadColumns read;
  // The names of the fields of the rows.
  private List<String> produced;
  // null if all rows are kept
  private PushedFilter filter;

  private FileTableSource(Schema declared, FormatSettings format, ReadableConfig options) {
    this.declared = declared;
    this.format = format;
    this.options = options;
    this.read = ReadColumns.all(declared);
    this.produced = declared.names();
  }

  /**
   * A source.
   *
   * @throws org.apache.flink.table.api.ValidationException if the columns cannot be read
   */
  static FileTableSource of(Schema declared, FormatSettings format, ReadableConfig options) {
    FileTableSource source = new FileTableSource(declared, format, options);
    if (source.isText()) {
      format.recordFormat(declared, declared);
    }
    return source;
  }

  private boolean isText() {
    return format.format() != TableFormat.PARQUET && format.format() != TableFormat.ARROW;
  }

  @Override
  public ChangelogMode getChangelogMode() {
    return format.format().changelogMode();
  }

  @Override
  public boolean supportsNestedProjection() {
    return format.format().skipsFields();
  }

  @Override
  public void applyProjection(int[][] fields, DataType producedType) {
    read = ReadColumns.all(declared).project(fields);
    produced = DataType.getFieldNames(producedType);
  }

  /** Row groups of Parquet are left out by their statistics, so that conditions remain. */
  @Override
  public Result applyFilters(List<ResolvedExpression> filters) {
    filter = PushedFilter.of(filters, declared, this::isEvaluated);
    return format.format() == TableFormat.PARQUET
        ? Result.of(filter.result().getAcceptedFilters(), filters)
        : filter.result();
  }

  private boolean isEvaluated(RecordFilter condition) {
    return format.format() == TableFormat.PARQUET
        || (isText() && format.recordFormat(declared, declared).unsupported(condition).isEmpty());
  }

  @Override
  public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
    return RowProviders.scan(this, true);
  }

  @Override
  public Transformation<ColumnBatch> produceBatches(
      ProviderContext context, StreamExecutionEnvironment environment) {
    try {
      SingleOutputStreamOperator<ColumnBatch> batches = batches(environment);
      Transformation<?> source = batches.getTransformation().getInputs().get(0);
      options
          .getOptional(FactoryUtil.SOURCE_PARALLELISM)
          .ifPresent(
              parallelism -> {
                source.setParallelism(parallelism);
                batches.setParallelism(parallelism);
              });
      context.generateUid("source").ifPresent(source::setUid);
      context.generateUid("decode").ifPresent(batches::uid);
      return TableColumns.select(
          batches.getTransformation(),
          TableColumns.named(read.expressions(), produced),
          environment.getConfiguration());
    } catch (IOException e) {
      throw new TableException("%s: %s".formatted(asSummaryString(), e.getMessage()), e);
    }
  }

  private SingleOutputStreamOperator<ColumnBatch> batches(StreamExecutionEnvironment environment)
      throws IOException {
    List<String> paths = List.of(options.get(FileSystemConnectorOptions.PATH));
    Optional<RecordFilter> condition = Optional.ofNullable(filter).flatMap(PushedFilter::condition);
    return switch (format.format()) {
      case PARQUET ->
          ParquetFileSource.batches(
              environment, paths, readColumns(), condition.map(RecordFilter::condition));
      case ARROW -> ArrowFileSource.batches(environment, paths, declared);
      default -> lines(environment, paths, condition);
    };
  }

  private SingleOutputStreamOperator<ColumnBatch> lines(
      StreamExecutionEnvironment environment, List<String> paths, Optional<RecordFilter> condition)
      throws IOException {
    TextLineOptions lines = lineOptions();
    DataStreamSource<TextBlock> blocks =
        environment.fromSource(
            new TextFileSource(paths, lines).create(new TextBlockFormat(lines)),
            WatermarkStrategy.noWatermarks(),
            asSummaryString());
    return TextDecodingOperator.decode(
        blocks,
        format.recordFormat(declared, readColumns()),
        lines,
        format.ignoresParseErrors() ? MalformedLinePolicy.SIDE_OUTPUT : MalformedLinePolicy.FAIL,
        MAX_ROWS,
        Optional.empty(),
        condition);
  }

  // Lines are cut by double quotes alone.
  private TextLineOptions lineOptions() {
    if (format.format() != TableFormat.CSV) {
      return TextLineOptions.DEFAULT;
    }
    FieldQuotes quotes = format.quotes();
    return quotes.quote() == FieldQuotes.DEFAULT.quote()
            && quotes.escape() == FieldQuotes.NO_CHARACTER
        ? TextLineOptions.DEFAULT.withQuotedLineFeeds(quotes.delimiter())
        : TextLineOptions.DEFAULT;
  }

  private Schema readColumns() {
    if (!format.format().skipsColumns()) {
      return declared;
    }
    return read.pruned(filter == null ? Set.of() : filter.columns());
  }

  @Override
  public DynamicTableSource copy() {
    FileTableSource copy = new FileTableSource(declared, format, options);
    copy.read = read;
    copy.produced = produced;
    copy.filter = filter;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return "files in " + options.get(FileSystemConnectorOptions.PATH);
  }
}

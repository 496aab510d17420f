// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.table;

import io.millrace.column.Schema;
import io.millrace.connectors.files.InputFiles;
import io.millrace.connectors.files.MalformedLinePolicy;
import io.millrace.connectors.files.TextFileSource;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.connectors.files.arrow.ArrowFileSource;
import io.millrace.connectors.files.block.TextBlock;
import io.millrace.connectors.files.block.TextBlockFormat;
import io.millrace.connectors.files.block.TextDecodingOperator;
import io.millrace.connectors.files.scan.FileScanOptions;
import io.millrace.connectors.files.table.FilePartitions.Partition;
import io.millrace.connectors.parquet.ParquetFileSource;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.connectors.table.FormatSettings;
import io.millrace.connectors.table.PushedFilter;
import io.millrace.connectors.table.PushedLimit;
import io.millrace.connectors.table.ReadColumns;
import io.millrace.connectors.table.TableColumns;
import io.millrace.connectors.table.TableFormat;
import io.millrace.format.FieldQuotes;
import io.millrace.format.RecordFilter;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.BatchScanTableSource;
import io.millrace.operators.sql.table.RowProviders;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.connector.file.table.FileSystemConnectorOptions;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsFilterPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsLimitPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.expressions.ResolvedExpression;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;
import org.apache.flink.util.Collector;

/** Files that a query reads. The planner changes a copy of it, by the abilities. */
class FileTableSource
    implements BatchScanTableSource,
        SupportsProjectionPushDown,
        SupportsFilterPushDown,
        SupportsLimitPushDown {
  private static final int MAX_ROWS = 65_536;

  final FileColumns columns;
  final FormatSettings format;
  final ReadableConfig options;
  private ReadColumns read;
  // The names of the fields of the rows.
  private List<String> produced;
  // null if all rows are kept
  private PushedFilter filter;
  // null before they are asked for
  private List<Partition> found;
  // null if all partitions are read
  private Set<Map<String, String>> kept;
  private long limit = PushedLimit.NONE;

  FileTableSource(FileColumns columns, FormatSettings format, ReadableConfig options) {
    this.columns = columns;
    this.format = format;
    this.options = options;
    this.read = ReadColumns.all(columns.declared());
    this.produced = columns.declared().names();
  }

  /**
   * A source.
   *
   * @throws org.apache.flink.table.api.ValidationException if the columns cannot be read
   */
  static FileTableSource of(FileColumns columns, FormatSettings format, ReadableConfig options) {
    FileTableSource source =
        columns.arePruned()
            ? new PrunedFileTableSource(columns, format, options)
            : new FileTableSource(columns, format, options);
    if (source.isText()) {
      source.recordFormat(columns.inFiles());
    }
    return source;
  }

  private RecordFormat recordFormat(Schema readColumns) {
    return format.lineFormat(columns.inFiles(), readColumns);
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
    read = ReadColumns.all(columns.declared()).project(fields);
    produced = DataType.getFieldNames(producedType);
  }

  /** Row groups of Parquet are left out by their statistics, so that conditions remain. */
  @Override
  public Result applyFilters(List<ResolvedExpression> filters) {
    filter = PushedFilter.of(filters, columns.inFiles(), this::isEvaluated);
    return format.format() == TableFormat.PARQUET
        ? Result.of(filter.result().getAcceptedFilters(), filters)
        : filter.result();
  }

  private boolean isEvaluated(RecordFilter condition) {
    return format.format() == TableFormat.PARQUET
        || (isText() && recordFormat(columns.inFiles()).unsupported(condition).isEmpty());
  }

  /** The partitions that there were when they were asked for first. */
  final List<Partition> partitions() {
    if (found == null) {
      try {
        found = FilePartitions.list(options.get(FileSystemConnectorOptions.PATH), columns);
      } catch (IOException e) {
        throw failure(e);
      }
    }
    return found;
  }

  /** Reads partitions with these values of the keys alone. */
  final void keepPartitions(Set<Map<String, String>> specifications) {
    kept = specifications;
  }

  /** Each subtask stops behind so many rows; the planner keeps its own limit. */
  @Override
  public void applyLimit(long rows) {
    limit = PushedLimit.of(rows);
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
      throw failure(e);
    }
  }

  private TableException failure(IOException e) {
    return new TableException("%s: %s".formatted(asSummaryString(), e.getMessage()), e);
  }

  private SingleOutputStreamOperator<ColumnBatch> batches(StreamExecutionEnvironment environment)
      throws IOException {
    List<Path> files = files();
    Schema inFiles = readColumns();
    FileScanOptions scan =
        FileScanOptions.DEFAULT
            .withFilter(Optional.ofNullable(filter).flatMap(PushedFilter::condition))
            .withPartitionColumns(columns.partitionColumns(read.columns()))
            .withLimit(limit);
    if (files.isEmpty()) {
      return environment
          .fromSequence(0, 0)
          .flatMap((Long number, Collector<ColumnBatch> rows) -> {})
          .returns(new ColumnBatchTypeInformation(scan.partitionColumns().appendedTo(inFiles)));
    }
    return switch (format.format()) {
      case PARQUET -> ParquetFileSource.batches(environment, files, inFiles, scan);
      case ARROW -> ArrowFileSource.batches(environment, files, inFiles, scan);
      default -> lines(environment, files, inFiles, scan);
    };
  }

  private List<Path> files() throws IOException {
    if (columns.partitionKeys().isEmpty()) {
      return InputFiles.resolve(List.of(options.get(FileSystemConnectorOptions.PATH)));
    }
    return partitions().stream()
        .filter(each -> kept == null || kept.contains(each.specification()))
        .map(Partition::folder)
        .toList();
  }

  private SingleOutputStreamOperator<ColumnBatch> lines(
      StreamExecutionEnvironment environment,
      List<Path> files,
      Schema inFiles,
      FileScanOptions scan) {
    TextLineOptions lines = lineOptions();
    DataStreamSource<TextBlock> blocks =
        environment.fromSource(
            TextFileSource.create(files, lines, new TextBlockFormat(lines)),
            WatermarkStrategy.noWatermarks(),
            asSummaryString());
    return TextDecodingOperator.decode(
        blocks,
        recordFormat(inFiles),
        lines,
        format.ignoresParseErrors() ? MalformedLinePolicy.SIDE_OUTPUT : MalformedLinePolicy.FAIL,
        MAX_ROWS,
        Optional.empty(),
        scan);
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

  // Of the files.
  private Schema readColumns() {
    return format.format().skipsColumns()
        ? columns.inFiles(read.pruned(filter == null ? Set.of() : filter.columns()))
        : columns.inFiles();
  }

  @Override
  public DynamicTableSource copy() {
    return copyTo(new FileTableSource(columns, format, options));
  }

  final FileTableSource copyTo(FileTableSource copy) {
    copy.read = read;
    copy.produced = produced;
    copy.filter = filter;
    copy.found = found;
    copy.kept = kept;
    copy.limit = limit;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return "files in " + options.get(FileSystemConnectorOptions.PATH);
  }
}

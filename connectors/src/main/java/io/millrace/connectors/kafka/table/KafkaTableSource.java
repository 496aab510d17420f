// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.table;

import io.millrace.column.Schema;
import io.millrace.connectors.kafka.KafkaDecodingOperator;
import io.millrace.connectors.kafka.KafkaDecodingOptions;
import io.millrace.connectors.kafka.MalformedRecordPolicy;
import io.millrace.connectors.kafka.MetadataColumn;
import io.millrace.connectors.kafka.RecordBlock;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.connectors.table.EventTimes;
import io.millrace.connectors.table.FormatSettings;
import io.millrace.connectors.table.PushedFilter;
import io.millrace.connectors.table.ReadColumns;
import io.millrace.connectors.table.TableColumns;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.BatchScanTableSource;
import io.millrace.operators.sql.table.RowProviders;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsFilterPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.connector.source.abilities.SupportsWatermarkPushDown;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.expressions.ResolvedExpression;
import org.apache.flink.table.types.DataType;

/** Topics that a query reads. The planner changes a copy of it, by the abilities. */
class KafkaTableSource
    implements BatchScanTableSource,
        SupportsProjectionPushDown,
        SupportsFilterPushDown,
        SupportsReadingMetadata {
  private final RecordColumns columns;
  private final FormatSettings format;
  private final KafkaScanOptions options;
  private ReadColumns read;
  private List<TopicMetadata> metadata = List.of();
  // null if all rows are kept
  private PushedFilter filter;
  // null until the planner gives the source its watermarks
  private EventTimes eventTimes;
  // The names of the fields of the rows.
  private List<String> produced;

  KafkaTableSource(RecordColumns columns, FormatSettings format, KafkaScanOptions options) {
    this.columns = columns;
    this.format = format;
    this.options = options;
    this.read = ReadColumns.all(columns.physical());
    this.produced = columns.physical().names();
  }

  /**
   * A source.
   *
   * @param eventTimes the watermarks that readers can make; empty if there are none
   * @throws org.apache.flink.table.api.ValidationException if the columns cannot be read
   */
  static KafkaTableSource of(
      RecordColumns columns,
      FormatSettings format,
      KafkaScanOptions options,
      Optional<EventTimes> eventTimes) {
    columns.checkReading();
    KafkaTableSource source =
        eventTimes
            .<KafkaTableSource>map(times -> new WithWatermarks(columns, format, options, times))
            .orElseGet(() -> new KafkaTableSource(columns, format, options));
    format.recordFormat(columns.values(), columns.values());
    return source;
  }

  /** A source whose readers make the watermarks of each partition. */
  private static final class WithWatermarks extends KafkaTableSource
      implements SupportsWatermarkPushDown {
    private final EventTimes declared;

    private WithWatermarks(
        RecordColumns columns,
        FormatSettings format,
        KafkaScanOptions options,
        EventTimes declared) {
      super(columns, format, options);
      this.declared = declared;
    }

    @Override
    public void applyWatermark(WatermarkStrategy<RowData> strategy) {
      setEventTimes(declared);
    }

    @Override
    boolean canFilter() {
      return declared.metadataKey().isEmpty();
    }

    @Override
    KafkaTableSource create() {
      return new WithWatermarks(columns(), format(), options(), declared);
    }
  }

  final RecordColumns columns() {
    return columns;
  }

  final FormatSettings format() {
    return format;
  }

  final KafkaScanOptions options() {
    return options;
  }

  final void setEventTimes(EventTimes times) {
    eventTimes = times;
  }

  /** Whether readers may leave out rows, which have no metadata then. */
  boolean canFilter() {
    return true;
  }

  /** A source of all columns. */
  KafkaTableSource create() {
    return new KafkaTableSource(columns, format, options);
  }

  @Override
  public final ChangelogMode getChangelogMode() {
    return format.format().changelogMode();
  }

  @Override
  public final boolean supportsNestedProjection() {
    return format.format().skipsFields();
  }

  @Override
  public final void applyProjection(int[][] fields, DataType producedType) {
    read = ReadColumns.all(columns.physical()).project(fields);
    produced = DataType.getFieldNames(producedType);
  }

  @Override
  public final Map<String, DataType> listReadableMetadata() {
    Map<String, DataType> types = new LinkedHashMap<>();
    for (TopicMetadata each : TopicMetadata.values()) {
      types.put(each.key(), each.type());
    }
    return types;
  }

  @Override
  public final void applyReadableMetadata(List<String> keys, DataType producedType) {
    metadata = keys.stream().map(TopicMetadata::of).toList();
    produced = DataType.getFieldNames(producedType);
  }

  @Override
  public final Result applyFilters(List<ResolvedExpression> filters) {
    RecordFormat all = format.recordFormat(columns.values(), columns.values());
    filter =
        PushedFilter.of(
            filters,
            columns.values(),
            condition -> canFilter() && all.unsupported(condition).isEmpty());
    return filter.result();
  }

  @Override
  public final ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
    return RowProviders.scan(this, options.isBounded());
  }

  @Override
  public final Transformation<ColumnBatch> produceBatches(
      ProviderContext context, StreamExecutionEnvironment environment) {
    DataStreamSource<RecordBlock> blocks =
        environment.fromSource(
            options.source(), WatermarkStrategy.noWatermarks(), asSummaryString());
    options.parallelism().ifPresent(blocks::setParallelism);
    context.generateUid("source").ifPresent(blocks::uid);
    SingleOutputStreamOperator<ColumnBatch> rows = KafkaDecodingOperator.decode(blocks, decoding());
    context.generateUid("decode").ifPresent(rows::uid);
    return TableColumns.select(rows.getTransformation(), outputs(), environment.getConfiguration());
  }

  private KafkaDecodingOptions decoding() {
    KafkaDecodingOptions decoding =
        KafkaDecodingOptions.of(format.recordFormat(columns.values(), readValues()))
            .withMetadata(metadataColumns().toArray(MetadataColumn[]::new));
    if (format.ignoresParseErrors()) {
      decoding = decoding.withMalformedRecords(MalformedRecordPolicy.SIDE_OUTPUT);
    }
    if (filter != null && filter.condition().isPresent()) {
      decoding = decoding.withFilter(filter.condition().get());
    }
    return eventTimes == null
        ? decoding
        : decoding.withWatermarks(eventTimes.watermarks(eventTimeColumn()));
  }

  private String eventTimeColumn() {
    return eventTimes
        .metadataKey()
        .map(key -> TopicMetadata.of(key).column().field().name())
        .orElse(eventTimes.column());
  }

  /** The columns that are read of values: at least one, so that rows are counted. */
  private Schema readValues() {
    Schema values = columns.values();
    if (!format.format().skipsColumns()) {
      return values;
    }
    Set<String> whole = new LinkedHashSet<>();
    if (filter != null) {
      whole.addAll(filter.columns());
    }
    if (eventTimes != null && eventTimes.metadataKey().isEmpty()) {
      whole.add(eventTimes.column());
    }
    Schema pruned = read.pruned(whole);
    List<String> names = pruned.names().stream().filter(values.names()::contains).toList();
    return names.isEmpty() ? ReadColumns.first(values) : pruned.select(names);
  }

  private List<MetadataColumn> metadataColumns() {
    List<MetadataColumn> all = new ArrayList<>();
    for (String key : columns.keys()) {
      if (!columns.keysInValues() && read.columns().contains(key)) {
        all.add(MetadataColumn.key(key, columns.physical().type(columns.physical().indexOf(key))));
      }
    }
    Set<TopicMetadata> ofTopic = new LinkedHashSet<>(metadata);
    if (eventTimes != null) {
      eventTimes.metadataKey().map(TopicMetadata::of).ifPresent(ofTopic::add);
    }
    ofTopic.forEach(each -> all.add(each.column()));
    return all;
  }

  private List<Expression> outputs() {
    List<Expression> outputs = new ArrayList<>(read.expressions());
    metadata.forEach(each -> outputs.add(Expressions.col(each.column().field().name())));
    return TableColumns.named(outputs, produced);
  }

  @Override
  public final DynamicTableSource copy() {
    KafkaTableSource copy = create();
    copy.read = read;
    copy.metadata = metadata;
    copy.filter = filter;
    copy.eventTimes = eventTimes;
    copy.produced = produced;
    return copy;
  }

  @Override
  public final String asSummaryString() {
    return "topic " + options;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import io.millrace.column.Schema;
import io.millrace.connectors.nexmark.NexmarkConfiguration;
import io.millrace.connectors.nexmark.NexmarkGenerator;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.batching.BatchingOperator;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.sql.table.BatchScanTableSource;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;

/**
 * The connector {@code nexmark}: a number of Nexmark's events, with nested ROWs, as rows, or its
 * bids alone, as rows or as batches. Events as batches are those of the connector {@code
 * millrace-nexmark}.
 */
public final class NexmarkTables implements DynamicTableSourceFactory {
  private static final ConfigOption<Long> COUNT =
      ConfigOptions.key("count").longType().noDefaultValue();
  private static final ConfigOption<Content> CONTENT =
      ConfigOptions.key("content").enumType(Content.class).noDefaultValue();

  /** What a table has, in which form. */
  public enum Content {
    EVENT_ROWS,
    EVENT_BATCHES,
    BID_ROWS,
    BID_BATCHES;

    /** Whether the table has all events, whose persons, auctions and bids are nested ROWs. */
    boolean hasEvents() {
      return this == EVENT_ROWS || this == EVENT_BATCHES;
    }

    private Schema schema() {
      return hasEvents() ? NexmarkSchemas.EVENT : NexmarkSchemas.BID;
    }

    /** A statement that creates the table, with watermarks 4 s behind. */
    public String createTable(String name, long count) {
      String options =
          this == EVENT_BATCHES
              ? "'connector' = 'millrace-nexmark', 'events.num' = '%d'".formatted(count)
              : "'connector' = 'nexmark', 'content' = '%s', 'count' = '%d'".formatted(this, count);
      return "CREATE TEMPORARY TABLE %s (%s, WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND) WITH (%s)"
          .formatted(name, columns(schema()), options);
    }

    private Source<RowData, ?, ?> source(long count) {
      return new DataGeneratorSource<>(
          new Generate(this), count, InternalTypeInfo.of(SchemaConverter.toRowType(schema())));
    }
  }

  /** The columns of a schema with their types, as in CREATE TABLE. */
  public static String columns(Schema schema) {
    return SchemaConverter.toRowType(schema).getFields().stream()
        .map(field -> "`" + field.getName() + "` " + field.getType().asSerializableString())
        .collect(Collectors.joining(", "));
  }

  @Override
  public String factoryIdentifier() {
    return "nexmark";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(COUNT, CONTENT);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of();
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    Content content = helper.getOptions().get(CONTENT);
    long count = helper.getOptions().get(COUNT);
    return content == Content.BID_BATCHES
        ? new Batches(content, count, content.schema().names())
        : new Rows(content, count);
  }

  private record Rows(Content content, long count) implements ScanTableSource {
    @Override
    public ChangelogMode getChangelogMode() {
      return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
      return SourceProvider.of(content.source(count));
    }

    @Override
    public DynamicTableSource copy() {
      return this;
    }

    @Override
    public String asSummaryString() {
      return "rows of Nexmark";
    }
  }

  private static final class Batches implements BatchScanTableSource, SupportsProjectionPushDown {
    private final Content content;
    private final long count;
    private List<String> columns;

    private Batches(Content content, long count, List<String> columns) {
      this.content = content;
      this.count = count;
      this.columns = columns;
    }

    @Override
    public ChangelogMode getChangelogMode() {
      return ChangelogMode.insertOnly();
    }

    @Override
    public boolean supportsNestedProjection() {
      return false;
    }

    @Override
    public void applyProjection(int[][] fields, DataType produced) {
      columns =
          Arrays.stream(fields).map(field -> content.schema().field(field[0]).name()).toList();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
      throw new UnsupportedOperationException("this source gives batches only");
    }

    @Override
    public Transformation<ColumnBatch> produceBatches(
        ProviderContext context, StreamExecutionEnvironment environment) {
      Transformation<RowData> rows =
          environment
              .fromSource(content.source(count), WatermarkStrategy.noWatermarks(), "events")
              .getTransformation();
      Transformation<ColumnBatch> batches =
          BatchingOperator.factory(content.schema(), RowDataAppender::new, BatchOptions.DEFAULT)
              .appendTo(
                  rows,
                  "batches of events",
                  new ColumnBatchTypeInformation(content.schema()),
                  environment.getConfiguration());
      CalcPlan projection =
          CalcPlan.of(content.schema(), ExpressionSettings.DEFAULT)
              .select(columns.stream().map(Expressions::col).toList());
      return TransformOperator.factory(projection.transforms())
          .appendTo(
              batches,
              "columns of events",
              new ColumnBatchTypeInformation(projection.outputSchema()),
              environment.getConfiguration());
    }

    @Override
    public DynamicTableSource copy() {
      return new Batches(content, count, columns);
    }

    @Override
    public String asSummaryString() {
      return "batches of Nexmark";
    }
  }

  private static final class Generate implements GeneratorFunction<Long, RowData> {
    private static final long serialVersionUID = 1L;
    private final Content content;
    private transient NexmarkGenerator generator;

    private Generate(Content content) {
      this.content = content;
    }

    @Override
    public void open(SourceReaderContext context) {
      generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    }

    @Override
    public RowData map(Long number) {
      return content.hasEvents()
          ? NexmarkSchemas.eventRow(generator, number)
          : NexmarkSchemas.row(generator.bid(NexmarkGenerator.eventOfBid(number)));
    }
  }
}

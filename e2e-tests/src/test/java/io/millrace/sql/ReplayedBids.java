// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import io.millrace.column.Table;
import io.millrace.connectors.nexmark.BidTables;
import io.millrace.connectors.nexmark.NexmarkConfiguration;
import io.millrace.connectors.nexmark.NexmarkGenerator;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.sql.table.BatchScanTableSource;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.util.IOUtils;

/**
 * The connector {@code replayed-bids}: bids of Nexmark that this process made once and keeps in
 * host memory, as rows or as batches, so that a benchmark does not measure how they are made.
 */
public final class ReplayedBids implements DynamicTableSourceFactory {
  private static final int ROWS_PER_BATCH = 1 << 16;
  private static final ConfigOption<Boolean> AS_BATCHES =
      ConfigOptions.key("as-batches").booleanType().noDefaultValue();

  private static final List<RowData> ROWS = new ArrayList<>();
  private static final List<Table> TABLES = new ArrayList<>();

  /**
   * Makes the bids of all tables.
   *
   * @param context holds the memory of the batches, and stays open
   * @param batches of 64 Ki bids
   */
  static void make(DeviceContext context, int batches) {
    NexmarkGenerator generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    try (BidTables tables =
        new BidTables(generator, context.hostStream(), context.pinnedResource())) {
      for (int i = 0; i < batches; i++) {
        TABLES.add(tables.generate((long) i * ROWS_PER_BATCH, ROWS_PER_BATCH));
      }
    }
    for (long bid = 0; bid < (long) batches * ROWS_PER_BATCH; bid++) {
      ROWS.add(NexmarkSchemas.row(generator.bid(NexmarkGenerator.eventOfBid(bid))));
    }
  }

  /** How many bids there are. */
  static int count() {
    return ROWS.size();
  }

  /** A statement that creates the table {@code bid}, with watermarks 4 s behind. */
  static String createTable(boolean asBatches) {
    String columns =
        SchemaConverter.toRowType(NexmarkSchemas.BID).getFields().stream()
            .map(field -> "`" + field.getName() + "` " + field.getType().asSerializableString())
            .collect(Collectors.joining(", "));
    return "CREATE TEMPORARY TABLE bid (%s, WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND) WITH ('connector' = 'replayed-bids', 'as-batches' = '%s')"
        .formatted(columns, asBatches);
  }

  @Override
  public String factoryIdentifier() {
    return "replayed-bids";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(AS_BATCHES);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of();
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    return helper.getOptions().get(AS_BATCHES) ? new Batches() : new Rows();
  }

  private static class Rows implements ScanTableSource {
    @Override
    public ChangelogMode getChangelogMode() {
      return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
      return SourceProvider.of(
          new DataGeneratorSource<>(
              number -> ROWS.get(number.intValue()),
              ROWS.size(),
              InternalTypeInfo.of(SchemaConverter.toRowType(NexmarkSchemas.BID))));
    }

    @Override
    public DynamicTableSource copy() {
      return this;
    }

    @Override
    public String asSummaryString() {
      return "replayed bids";
    }
  }

  private static final class Batches extends Rows implements BatchScanTableSource {
    @Override
    public Transformation<ColumnBatch> produceBatches(
        ProviderContext context, StreamExecutionEnvironment environment) {
      DataGeneratorSource<Long> numbers =
          new DataGeneratorSource<>(number -> number, TABLES.size(), Types.LONG);
      return new OperatorFactory<Long, ColumnBatch>(ReplayOperator.class, ReplayOperator::new)
          .appendTo(
              environment
                  .fromSource(numbers, WatermarkStrategy.noWatermarks(), "numbers of batches")
                  .getTransformation(),
              "replay bids",
              new ColumnBatchTypeInformation(NexmarkSchemas.BID),
              environment.getConfiguration());
    }
  }

  private static final class ReplayOperator extends AbstractStreamOperator<ColumnBatch>
      implements OneInputStreamOperator<Long, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private transient DeviceContext deviceContext;
    private transient HostTransfer transfer;

    private ReplayOperator(StreamOperatorParameters<ColumnBatch> parameters) {
      super(parameters);
    }

    @Override
    public void open() throws Exception {
      super.open();
      deviceContext = DeviceContext.open(this);
      transfer = new HostTransfer(deviceContext);
    }

    @Override
    public void processElement(StreamRecord<Long> number) {
      transfer.toDevice(
          TABLES.get(number.getValue().intValue()).share(),
          table -> ColumnBatch.emit(new StreamRecord<>(new ColumnBatch(table)), output));
    }

    @Override
    public void close() throws Exception {
      IOUtils.closeAll(transfer, deviceContext, super::close);
    }
  }
}

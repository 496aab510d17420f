// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql.benchmark;

import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
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
import io.millrace.sql.NexmarkTables;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.datagen.source.GeneratorFunction;
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
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.util.IOUtils;

/**
 * The connector {@code replayed-bids}: bids of Nexmark that this process made once and keeps in
 * host memory, as rows or as batches, so that a benchmark does not measure how they are made. They
 * come several times, each time later. Subtasks take turns on batches, so that all are at about the
 * same time, as subtasks are that read a live stream.
 */
public final class ReplayedBids implements DynamicTableSourceFactory {
  private static final int ROWS_PER_BATCH = 1 << 16;
  private static final int DATE_TIME = NexmarkSchemas.BID.indexOf("date_time");
  private static final Schema TIME = new Schema(List.of(NexmarkSchemas.BID.field(DATE_TIME)));
  private static final ConfigOption<Boolean> AS_BATCHES =
      ConfigOptions.key("as-batches").booleanType().noDefaultValue();
  private static final ConfigOption<Integer> TIMES =
      ConfigOptions.key("times").intType().noDefaultValue();

  /** The columns of a table of bids, with watermarks 4 s behind. */
  static final String COLUMNS =
      NexmarkTables.columns(NexmarkSchemas.BID)
          + ", WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND";

  private static final List<GenericRowData> ROWS = new ArrayList<>();
  private static final List<Table> TABLES = new ArrayList<>();
  private static long[] millis;

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
      ROWS.add(
          (GenericRowData) NexmarkSchemas.row(generator.bid(NexmarkGenerator.eventOfBid(bid))));
    }
    millis =
        ROWS.stream()
            .mapToLong(row -> ((TimestampData) row.getField(DATE_TIME)).getMillisecond())
            .toArray();
  }

  /** How many bids there are. */
  static int count() {
    return ROWS.size();
  }

  // How much later the bids of a round are than those of the first one.
  private static long delay(long round) {
    return round * (millis[millis.length - 1] - millis[0]);
  }

  /**
   * A statement that creates the table {@code bid}.
   *
   * @param times how often the bids come
   */
  static String createTable(boolean asBatches, int times) {
    return "CREATE TEMPORARY TABLE bid (%s) WITH ('connector' = 'replayed-bids', 'as-batches' = '%s', 'times' = '%d')"
        .formatted(COLUMNS, asBatches, times);
  }

  @Override
  public String factoryIdentifier() {
    return "replayed-bids";
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(AS_BATCHES, TIMES);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of();
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    helper.validate();
    int times = helper.getOptions().get(TIMES);
    return helper.getOptions().get(AS_BATCHES)
        ? new Batches(times, NexmarkSchemas.BID.names())
        : new Rows(times);
  }

  private static class Rows implements ScanTableSource {
    final int times;

    private Rows(int times) {
      this.times = times;
    }

    @Override
    public ChangelogMode getChangelogMode() {
      return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
      return SourceProvider.of(
          new DataGeneratorSource<>(
              new Replay(),
              (long) times * count(),
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

  // Gives one row again and again: jobs reuse objects.
  private static final class Replay implements GeneratorFunction<Long, RowData> {
    private static final long serialVersionUID = 1L;

    private transient GenericRowData row;
    private transient int subtask;
    private transient int subtasks;
    private transient long taken;

    @Override
    public void open(SourceReaderContext context) {
      row = new GenericRowData(NexmarkSchemas.BID.size());
      subtask = context.getIndexOfSubtask();
      subtasks = context.currentParallelism();
    }

    @Override
    public RowData map(Long number) {
      long batch = taken / ROWS_PER_BATCH * subtasks + subtask;
      long turn = batch * ROWS_PER_BATCH + taken++ % ROWS_PER_BATCH;
      int bid = (int) (turn % ROWS.size());
      GenericRowData made = ROWS.get(bid);
      for (int i = 0; i < row.getArity(); i++) {
        row.setField(i, made.getField(i));
      }
      long time = millis[bid] + delay(turn / ROWS.size());
      row.setField(DATE_TIME, TimestampData.fromEpochMillis(time));
      return row;
    }
  }

  private static final class Batches extends Rows
      implements BatchScanTableSource, SupportsProjectionPushDown {
    private List<String> columns;

    private Batches(int times, List<String> columns) {
      super(times);
      this.columns = columns;
    }

    @Override
    public boolean supportsNestedProjection() {
      return false;
    }

    @Override
    public void applyProjection(int[][] fields, DataType produced) {
      columns =
          Arrays.stream(fields).map(field -> NexmarkSchemas.BID.field(field[0]).name()).toList();
    }

    @Override
    public DynamicTableSource copy() {
      return new Batches(times, columns);
    }

    @Override
    public Transformation<ColumnBatch> produceBatches(
        ProviderContext context, StreamExecutionEnvironment environment) {
      DataGeneratorSource<Long> numbers =
          new DataGeneratorSource<>(number -> number, (long) times * TABLES.size(), Types.LONG);
      Schema schema =
          new Schema(
              columns.stream()
                  .map(column -> NexmarkSchemas.BID.field(NexmarkSchemas.BID.indexOf(column)))
                  .toList());
      return new OperatorFactory<Long, ColumnBatch>(
              ReplayOperator.class, parameters -> new ReplayOperator(parameters, schema))
          .appendTo(
              environment
                  .fromSource(numbers, WatermarkStrategy.noWatermarks(), "numbers of batches")
                  .getTransformation(),
              "replay bids",
              new ColumnBatchTypeInformation(schema),
              environment.getConfiguration());
    }
  }

  private static final class ReplayOperator extends AbstractStreamOperator<ColumnBatch>
      implements OneInputStreamOperator<Long, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final Schema schema;
    private transient DeviceContext deviceContext;
    private transient HostTransfer transfer;
    private transient long taken;

    private ReplayOperator(StreamOperatorParameters<ColumnBatch> parameters, Schema schema) {
      super(parameters);
      this.schema = schema;
    }

    @Override
    public void open() throws Exception {
      super.open();
      deviceContext = DeviceContext.open(this);
      transfer = new HostTransfer(deviceContext);
    }

    @Override
    public void processElement(StreamRecord<Long> number) {
      TaskInfo task = getRuntimeContext().getTaskInfo();
      long turn = taken++ * task.getNumberOfParallelSubtasks() + task.getIndexOfThisSubtask();
      transfer.toDevice(
          delayed((int) (turn % TABLES.size()), delay(turn / TABLES.size())),
          table -> ColumnBatch.emit(new StreamRecord<>(new ColumnBatch(table)), output));
    }

    private Table delayed(int batch, long delay) {
      Table made = TABLES.get(batch);
      int timeColumn = schema.names().indexOf(NexmarkSchemas.BID.field(DATE_TIME).name());
      if (timeColumn < 0) {
        return made.select(schema.names());
      }
      try (RowTableBuilder builder = transfer.tableBuilder(TIME)) {
        FixedWidthColumnBuilder times = (FixedWidthColumnBuilder) builder.column(0);
        int first = batch * ROWS_PER_BATCH;
        for (int bid = first; bid < first + ROWS_PER_BATCH; bid++) {
          times.appendLong(millis[bid] + delay);
        }
        try (Table time = builder.finish(ROWS_PER_BATCH)) {
          return Table.of(
              schema,
              ROWS_PER_BATCH,
              column ->
                  (column == timeColumn ? time.column(0) : made.column(schema.field(column).name()))
                      .share());
        }
      }
    }

    @Override
    public void close() throws Exception {
      IOUtils.closeAll(transfer, deviceContext, super::close);
    }
  }
}

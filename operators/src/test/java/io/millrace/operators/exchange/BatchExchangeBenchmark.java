// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import com.sun.management.OperatingSystemMXBean;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.data.writer.BinaryRowWriter;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;

/**
 * Exchanges between {@value #PARALLELISM} subtasks of the same rows (int64, int64, float64, int32:
 * 28 bytes; 10 000 keys): as Flink's BinaryRowData through {@code keyBy} and {@code rebalance}, and
 * as batches through {@link BatchExchange}. Rows and batches are made when the job starts and are
 * sent again and again; the receivers count them. Prints medians as a table in Markdown; the ratio
 * is to rows, per CPU-second.
 *
 * <p>CPU time is measured for the process, including the compiler, the garbage collector and the
 * start of the job. Flink gets the form of row that it sends fastest, and object reuse.
 */
public final class BatchExchangeBenchmark {
  private static final int PARALLELISM = 2;
  private static final int REPETITIONS = 3;
  private static final int ROW_BYTES = 28;
  private static final int DISTINCT_ROWS = 8 << 10;
  private static final int KEYS = 10_000;
  private static final int ROWS_OF_NUMBER = 64 << 10;
  private static final long SENT_AS_ROWS = 30_000_000;
  private static final long SENT_AS_BATCHES = 100_000_000;
  private static final List<Integer> BATCH_ROWS = List.of(1 << 10, 8 << 10, 64 << 10);
  private static final String COUNTER = "rows";
  private static final Schema SCHEMA =
      Schema.of(
          new Field("key", DataType.INT64, false),
          new Field("value", DataType.INT64, false),
          new Field("price", DataType.FLOAT64, false),
          new Field("kind", DataType.INT32, false));

  private final MiniCluster cluster;
  private final OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private BatchExchangeBenchmark(MiniCluster cluster) {
    this.cluster = cluster;
  }

  /** Runs the benchmark; there are no arguments. */
  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_PORT, "0");
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(128));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(128));
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumSlotsPerTaskManager(PARALLELISM)
                .build());
    try {
      cluster.start();
      new BatchExchangeBenchmark(cluster).printTable();
    } finally {
      cluster.closeAsync().join();
    }
  }

  private void printTable() throws Exception {
    System.out.println(
        "| exchange | sent as | rows a batch | M rows/s | MB/s | M rows per CPU-second | ratio |");
    System.out.println("|---|---|---:|---:|---:|---:|---:|");
    Run rows = rows("`keyBy`", stream -> stream.keyBy(row -> row.getLong(0), Types.LONG));
    for (int batchRows : BATCH_ROWS) {
      batches("`keyBy`", batchRows, stream -> BatchExchange.keyBy(stream, "key"), rows);
    }
    rows = rows("round robin", DataStream::rebalance);
    for (int batchRows : BATCH_ROWS) {
      batches("round robin", batchRows, BatchExchange::roundRobin, rows);
    }
  }

  private Run rows(String name, UnaryOperator<DataStream<RowData>> exchange) throws Exception {
    Run run =
        median(
            SENT_AS_ROWS / ROWS_OF_NUMBER,
            ROWS_OF_NUMBER,
            numbers ->
                exchange
                    .apply(
                        numbers.transform(
                            "rows",
                            InternalTypeInfo.of(SchemaConverter.toRowType(SCHEMA)),
                            new OperatorFactory<>(SendRows.class, SendRows::new)))
                    .transform(
                        "count",
                        Types.VOID,
                        new OperatorFactory<>(CountRows.class, CountRows::new)));
    System.out.println("| " + name + " | `BinaryRowData` | |" + run.columns(run));
    return run;
  }

  private void batches(
      String name,
      int batchRows,
      Function<DataStream<ColumnBatch>, BatchExchange> exchange,
      Run yardstick)
      throws Exception {
    Run run =
        median(
            SENT_AS_BATCHES / batchRows,
            batchRows,
            numbers ->
                exchange
                    .apply(
                        numbers.transform(
                            "batches",
                            new ColumnBatchTypeInformation(SCHEMA),
                            new OperatorFactory<>(
                                SendBatches.class,
                                parameters -> new SendBatches(parameters, batchRows))))
                    .apply()
                    .transform(
                        "count",
                        Types.VOID,
                        new OperatorFactory<>(CountBatches.class, CountBatches::new)));
    System.out.println(
        "| " + name + " | `ColumnBatch` | " + batchRows + " |" + run.columns(yardstick));
  }

  /** The cost of a job. */
  private record Run(long rows, double seconds, double cpuSeconds) {
    double perCpuSecond() {
      return rows / cpuSeconds;
    }

    String columns(Run yardstick) {
      return String.format(
          Locale.ROOT,
          " %.1f | %.0f | %.1f | %.1fx |",
          rows / seconds / 1e6,
          rows * ROW_BYTES / seconds / 1e6,
          perCpuSecond() / 1e6,
          perCpuSecond() / yardstick.perCpuSecond());
    }
  }

  private Run median(long numbers, int rowsOfNumber, Consumer<DataStream<Long>> exchange)
      throws Exception {
    run(numbers, rowsOfNumber, exchange);
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < REPETITIONS; i++) {
      runs.add(run(numbers, rowsOfNumber, exchange));
    }
    runs.sort(Comparator.comparingDouble(Run::perCpuSecond));
    return runs.get(REPETITIONS / 2);
  }

  private Run run(long numbers, int rowsOfNumber, Consumer<DataStream<Long>> exchange)
      throws Exception {
    StreamExecutionEnvironment environment = new StreamExecutionEnvironment(new Configuration());
    environment.setParallelism(PARALLELISM);
    environment.getConfig().enableObjectReuse();
    exchange.accept(environment.fromSequence(1, numbers));
    long start = System.nanoTime();
    long cpuStart = system.getProcessCpuTime();
    long rows =
        cluster
            .executeJobBlocking(environment.getStreamGraph().getJobGraph())
            .<Long>getAccumulatorResult(COUNTER);
    Run run =
        new Run(
            rows, (System.nanoTime() - start) / 1e9, (system.getProcessCpuTime() - cpuStart) / 1e9);
    if (rows != numbers * rowsOfNumber) {
      throw new IllegalStateException(rows + " rows came of " + numbers * rowsOfNumber);
    }
    System.err.println(run);
    return run;
  }

  private static List<BinaryRowData> distinctRows() {
    Random random = new Random(1);
    List<BinaryRowData> rows = new ArrayList<>();
    for (int i = 0; i < DISTINCT_ROWS; i++) {
      BinaryRowData row = new BinaryRowData(SCHEMA.fields().size());
      BinaryRowWriter writer = new BinaryRowWriter(row);
      writer.writeLong(0, random.nextInt(KEYS));
      writer.writeLong(1, random.nextLong());
      writer.writeDouble(2, random.nextDouble());
      writer.writeInt(3, random.nextInt());
      writer.complete();
      rows.add(row);
    }
    return rows;
  }

  /** Sends {@value #ROWS_OF_NUMBER} rows for each number. */
  private static final class SendRows extends AbstractStreamOperator<RowData>
      implements OneInputStreamOperator<Long, RowData> {
    private static final long serialVersionUID = 1L;

    private transient List<BinaryRowData> rows;

    SendRows(StreamOperatorParameters<RowData> parameters) {
      super(parameters);
    }

    @Override
    public void open() throws Exception {
      super.open();
      rows = distinctRows();
    }

    @Override
    public void processElement(StreamRecord<Long> element) {
      StreamRecord<RowData> row = element.replace(null);
      for (int i = 0; i < ROWS_OF_NUMBER; i++) {
        output.collect(row.replace(rows.get(i % DISTINCT_ROWS)));
      }
    }
  }

  /** Sends one batch for each number. */
  private static final class SendBatches extends AbstractStreamOperator<ColumnBatch>
      implements OneInputStreamOperator<Long, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final int batchRows;
    private transient DeviceContext context;
    private transient Table table;

    SendBatches(StreamOperatorParameters<ColumnBatch> parameters, int batchRows) {
      super(parameters);
      this.batchRows = batchRows;
    }

    @Override
    public void open() throws Exception {
      super.open();
      context = DeviceContext.open(this);
      try (HostTransfer transfer = new HostTransfer(context);
          RowTableBuilder builder = transfer.tableBuilder(SCHEMA)) {
        FixedWidthColumnBuilder key = (FixedWidthColumnBuilder) builder.column(0);
        FixedWidthColumnBuilder value = (FixedWidthColumnBuilder) builder.column(1);
        FixedWidthColumnBuilder price = (FixedWidthColumnBuilder) builder.column(2);
        FixedWidthColumnBuilder kind = (FixedWidthColumnBuilder) builder.column(3);
        List<BinaryRowData> rows = distinctRows();
        for (int i = 0; i < batchRows; i++) {
          RowData row = rows.get(i % DISTINCT_ROWS);
          key.appendLong(row.getLong(0));
          value.appendLong(row.getLong(1));
          price.appendDouble(row.getDouble(2));
          kind.appendInt(row.getInt(3));
        }
        table = transfer.upload(builder.finish(batchRows));
      }
    }

    @Override
    public void processElement(StreamRecord<Long> element) {
      ColumnBatch.emit(element.replace(new ColumnBatch(table.share())), output);
    }

    @Override
    public void close() throws Exception {
      if (table != null) {
        table.close();
      }
      if (context != null) {
        context.close();
      }
      super.close();
    }
  }

  /** Counts rows. */
  private static final class CountRows extends AbstractStreamOperator<Void>
      implements OneInputStreamOperator<RowData, Void> {
    private static final long serialVersionUID = 1L;

    private final transient LongCounter count = new LongCounter();

    CountRows(StreamOperatorParameters<Void> parameters) {
      super(parameters);
    }

    @Override
    public void open() throws Exception {
      super.open();
      getRuntimeContext().addAccumulator(COUNTER, count);
    }

    @Override
    public void processElement(StreamRecord<RowData> element) {
      count.add(1);
    }
  }

  /** Counts the rows of batches. */
  private static final class CountBatches extends ColumnBatchOperator<Void> {
    private static final long serialVersionUID = 1L;

    private final transient LongCounter count = new LongCounter();

    CountBatches(StreamOperatorParameters<Void> parameters) {
      super(parameters);
    }

    @Override
    public void open() throws Exception {
      super.open();
      getRuntimeContext().addAccumulator(COUNTER, count);
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      count.add(batch.rowCount());
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;

import com.sun.management.OperatingSystemMXBean;
import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.expression.Expression;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.RowType;

/**
 * A filter that keeps half of the rows and two projections, as four jobs over the same rows: stock
 * {@code DataStream<RowData>}, rows through {@link ColumnStream} and back without and with event
 * times that they keep, and batches in and out. What comes out is added up, and must be the same.
 * Rows have three BIGINT and a DOUBLE; the sources have them ready, and objects are reused.
 */
public final class TransformThroughputBenchmark {
  private static final int BATCH_ROWS = 1 << 16;
  // Their columns stay in the processor's cache from one operator to the next.
  private static final int CACHED_ROWS = 1 << 14;
  private static final Schema SCHEMA =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          new Field("bidder", DataType.INT64, false),
          new Field("price", DataType.INT64, false),
          new Field("rate", DataType.FLOAT64, false));
  private static final Expression CONDITION = col("price").gt(500L);
  private static final Expression[] PROJECTIONS = {
    col("auction").plus(col("bidder")).as("sum"), col("rate").times(0.908).as("part")
  };
  private static final String SUM = "sum";
  private static final String ROWS = "rows";

  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private final MiniCluster cluster;
  private final int parallelism;

  private TransformThroughputBenchmark(MiniCluster cluster, int parallelism) {
    this.cluster = cluster;
    this.parallelism = parallelism;
  }

  /** How fast a job was, and what it took of all processors, with compiler and collector. */
  private record Run(double millionRowsPerSecond, double processorNanosPerRow) {}

  /** A job without its end. */
  private interface Job {
    void build(DataStream<Long> batches);
  }

  /**
   * Runs the jobs in turn. Arguments: millions of rows of the stock job, the number of subtasks,
   * the number of rounds. A round before them, in which the code is compiled, does not count.
   */
  public static void main(String[] arguments) throws Exception {
    long batches = (Long.parseLong(arguments[0]) * 1_000_000) / BATCH_ROWS;
    int parallelism = Integer.parseInt(arguments[1]);
    int rounds = Integer.parseInt(arguments[2]);
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_PORT, "0");
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumSlotsPerTaskManager(parallelism)
                .build());
    try {
      cluster.start();
      new TransformThroughputBenchmark(cluster, parallelism).report(batches, rounds);
    } finally {
      cluster.closeAsync().join();
    }
  }

  private void report(long batches, int rounds) throws Exception {
    List<Run> stock = new ArrayList<>();
    List<Run> rows = new ArrayList<>();
    List<Run> timedRows = new ArrayList<>();
    List<Run> columns = new ArrayList<>();
    for (int round = 0; round <= rounds; round++) {
      stock.add(run(batches, TransformThroughputBenchmark::stock));
      rows.add(run(batches, input -> rows(input, false)));
      timedRows.add(run(batches, input -> rows(input, true)));
      columns.add(run(8 * batches, TransformThroughputBenchmark::batches));
    }
    System.out.println("| job | M rows/s | of stock | ns of processor a row | of stock |");
    System.out.println("|---|---:|---:|---:|---:|");
    print("stock `DataStream<RowData>`, objects reused", stock, stock);
    print("rows in, rows out", rows, stock);
    print("rows with event times in and out", timedRows, stock);
    print("batches in, batches out", columns, stock);
  }

  /** Medians of the rounds but the first, and of each round's ratios. */
  private static void print(String job, List<Run> runs, List<Run> stock) {
    System.out.printf(
        Locale.ROOT,
        "| %s | %.1f | %.2f | %.1f | %.2f |%n",
        job,
        median(runs.size(), i -> runs.get(i).millionRowsPerSecond),
        median(
            runs.size(), i -> runs.get(i).millionRowsPerSecond / stock.get(i).millionRowsPerSecond),
        median(runs.size(), i -> runs.get(i).processorNanosPerRow),
        median(
            runs.size(),
            i -> stock.get(i).processorNanosPerRow / runs.get(i).processorNanosPerRow));
  }

  private static double median(int runs, IntToDoubleFunction value) {
    double[] sorted = IntStream.range(1, runs).mapToDouble(value).sorted().toArray();
    return sorted[sorted.length / 2];
  }

  private static void stock(DataStream<Long> batches) {
    RowType result = RowType.of(new BigIntType(), new DoubleType());
    rowSource(batches, false)
        .filter(row -> row.getLong(2) > 500L)
        .map(
            row ->
                (RowData)
                    GenericRowData.of(row.getLong(0) + row.getLong(1), row.getDouble(3) * 0.908))
        .returns(InternalTypeInfo.of(result))
        .transform("sum", Types.VOID, new OperatorFactory<>(SumRows.class, SumRows::new));
  }

  private static void rows(DataStream<Long> batches, boolean haveTimes) {
    ColumnStream.from(rowSource(batches, haveTimes), SCHEMA)
        .batch(BatchOptions.latency(Duration.ofMillis(50)).withRows(4096, CACHED_ROWS))
        .filter(CONDITION)
        .select(PROJECTIONS)
        .toRowData()
        .transform("sum", Types.VOID, new OperatorFactory<>(SumRows.class, SumRows::new));
  }

  private static void batches(DataStream<Long> batches) {
    DataStream<ColumnBatch> source =
        batches.transform(
            "batches",
            new ColumnBatchTypeInformation(SCHEMA),
            new OperatorFactory<>(SendBatches.class, SendBatches::new));
    ColumnStream.fromBatches(source)
        .filter(CONDITION)
        .select(PROJECTIONS)
        .toBatches()
        .transform("sum", Types.VOID, new OperatorFactory<>(SumBatches.class, SumBatches::new));
  }

  private static DataStream<RowData> rowSource(DataStream<Long> batches, boolean haveTimes) {
    return batches.transform(
        "rows",
        InternalTypeInfo.of(SchemaConverter.toRowType(SCHEMA)),
        new OperatorFactory<>(SendRows.class, parameters -> new SendRows(parameters, haveTimes)));
  }

  private Run run(long batches, Job job) throws Exception {
    StreamExecutionEnvironment environment = new StreamExecutionEnvironment(new Configuration());
    environment.setParallelism(parallelism);
    environment.getConfig().enableObjectReuse();
    job.build(environment.fromSequence(1, batches));
    long startNanos = PROCESS.getProcessCpuTime();
    JobExecutionResult result =
        cluster.executeJobBlocking(environment.getStreamGraph().getJobGraph());
    Map<String, Object> sums = result.getAllAccumulatorResults();
    if (!sums.get(ROWS).equals(batches * expectedRows())
        || !sums.get(SUM).equals(batches * expectedSum())) {
      throw new IllegalStateException("the job gave other rows: " + sums);
    }
    long nanos = PROCESS.getProcessCpuTime() - startNanos;
    double rows = (double) batches * BATCH_ROWS;
    return new Run(rows / (result.getNetRuntime() * 1e3), nanos / rows);
  }

  private static long price(int row) {
    return Math.floorMod(row * 2_654_435_761L, 1_000L);
  }

  private static long expectedRows() {
    long rows = 0;
    for (int row = 0; row < BATCH_ROWS; row++) {
      rows += price(row) > 500 ? 1 : 0;
    }
    return rows;
  }

  private static long expectedSum() {
    long sum = 0;
    for (int row = 0; row < BATCH_ROWS; row++) {
      sum += price(row) > 500 ? row + row * 3L : 0;
    }
    return sum;
  }

  /** Sends {@value #BATCH_ROWS} rows for each number, which may be their event time. */
  private static final class SendRows extends AbstractStreamOperator<RowData>
      implements OneInputStreamOperator<Long, RowData> {
    private static final long serialVersionUID = 1L;

    private final transient RowData[] rows = new RowData[BATCH_ROWS];
    private final transient StreamRecord<RowData> element = new StreamRecord<>(null);
    private final boolean haveTimes;

    SendRows(StreamOperatorParameters<RowData> parameters, boolean haveTimes) {
      super(parameters);
      this.haveTimes = haveTimes;
      for (int row = 0; row < BATCH_ROWS; row++) {
        rows[row] = GenericRowData.of((long) row, row * 3L, price(row), row * 0.5);
      }
    }

    @Override
    public void processElement(StreamRecord<Long> number) {
      if (haveTimes) {
        element.setTimestamp(number.getValue());
      }
      for (RowData row : rows) {
        output.collect(element.replace(row));
      }
    }
  }

  /** Sends the same rows in one batch for each number. */
  private static final class SendBatches extends AbstractStreamOperator<ColumnBatch>
      implements OneInputStreamOperator<Long, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private transient DeviceContext context;
    private transient Table table;

    SendBatches(StreamOperatorParameters<ColumnBatch> parameters) {
      super(parameters);
    }

    @Override
    public void open() throws Exception {
      super.open();
      context = DeviceContext.open(this);
      try (HostTransfer transfer = new HostTransfer(context);
          RowTableBuilder builder = transfer.tableBuilder(SCHEMA)) {
        for (int row = 0; row < BATCH_ROWS; row++) {
          append(builder.column(0), row);
          append(builder.column(1), row * 3L);
          append(builder.column(2), price(row));
          ((FixedWidthColumnBuilder) builder.column(3)).appendDouble(row * 0.5);
        }
        transfer.toDevice(builder.finish(BATCH_ROWS), sent -> table = sent);
      }
    }

    private static void append(ColumnBuilder column, long value) {
      ((FixedWidthColumnBuilder) column).appendLong(value);
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

  /** Adds up the first field. */
  private static final class SumRows extends AbstractStreamOperator<Void>
      implements OneInputStreamOperator<RowData, Void> {
    private static final long serialVersionUID = 1L;

    private long rows;
    private long sum;

    SumRows(StreamOperatorParameters<Void> parameters) {
      super(parameters);
    }

    @Override
    public void processElement(StreamRecord<RowData> element) {
      rows++;
      sum += element.getValue().getLong(0);
    }

    @Override
    public void finish() throws Exception {
      getRuntimeContext().addAccumulator(ROWS, new LongCounter(rows));
      getRuntimeContext().addAccumulator(SUM, new LongCounter(sum));
      super.finish();
    }
  }

  /** Adds up the first column. */
  private static final class SumBatches extends ColumnBatchOperator<Void> {
    private static final long serialVersionUID = 1L;

    private long rows;
    private long sum;

    SumBatches(StreamOperatorParameters<Void> parameters) {
      super(parameters);
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      try (HostTransfer transfer = new HostTransfer(deviceContext());
          Table table = transfer.toHost(batch.table());
          AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
        long address = table.column(0).data().orElseThrow().access(AccessMode.READ, scope);
        for (int row = 0; row < table.rowCount(); row++) {
          sum += HostMemory.getLong(address + (long) row * Long.BYTES);
        }
        rows += table.rowCount();
      }
    }

    @Override
    public void finish() throws Exception {
      getRuntimeContext().addAccumulator(ROWS, new LongCounter(rows));
      getRuntimeContext().addAccumulator(SUM, new LongCounter(sum));
      super.finish();
    }
  }
}

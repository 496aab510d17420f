// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.spilling;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.MemoryOptions;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.exchange.BatchExchange;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.accumulators.LongMaximum;
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

/**
 * The throughput of a job that keeps all its batches on the device, after an exchange by key, and
 * sends them on when its input ends, against how many times its device limit it keeps. Each ratio
 * is run with as much host memory as it takes, and with host memory for half of what is kept, so
 * that the rest goes to disk. Prints CSV; the sums of what comes out must be equal.
 *
 * <p>The time is that between the first batch of the source and the last at the end. Rows are four
 * int64.
 */
public final class SpillThroughputBenchmark {
  private static final double[] RATIOS = {0.5, 1, 1.5, 2, 3, 4, 6, 8};
  private static final int BATCH_ROWS = 256 << 10;
  private static final int DISTINCT_BATCHES = 4;
  private static final Schema SCHEMA =
      Schema.of(
          new Field("key", DataType.INT64, false),
          new Field("first", DataType.INT64, false),
          new Field("second", DataType.INT64, false),
          new Field("third", DataType.INT64, false));
  private static final long ROW_BYTES = 4L * Long.BYTES;
  private static final String SUM = "sum of all values";
  private static final String ROWS = "rows";
  private static final String BEGIN_NANOS = "begin";
  private static final String END_NANOS = "end";

  private final MiniCluster cluster;
  private final int parallelism;
  private final long batches;

  private SpillThroughputBenchmark(MiniCluster cluster, int parallelism, long batches) {
    this.cluster = cluster;
    this.parallelism = parallelism;
    this.batches = batches;
  }

  /** Runs the benchmark. Arguments: mebibytes to keep, the number of subtasks of each operator. */
  public static void main(String[] arguments) throws Exception {
    long keptBytes = Long.parseLong(arguments[0]) << 20;
    int parallelism = Integer.parseInt(arguments[1]);
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_PORT, "0");
    // The host tier is paid from managed memory; host-limit is what bounds it here.
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, new MemorySize(16 * keptBytes));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(256));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(256));
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumSlotsPerTaskManager(parallelism)
                .build());
    try {
      cluster.start();
      new SpillThroughputBenchmark(cluster, parallelism, keptBytes / (BATCH_ROWS * ROW_BYTES))
          .printAll();
    } finally {
      cluster.closeAsync().join();
    }
  }

  private void printAll() throws Exception {
    run(new Configuration());
    Run unlimited = run(new Configuration());
    System.out.println(
        "ratio,host limit,device limit bytes,live bytes,seconds,replay seconds,rows/s,bytes/s,"
            + "bytes to host,bytes to disk,bytes brought back");
    System.out.println("0,none" + unlimited.columns(0));
    for (double ratio : RATIOS) {
      long deviceLimit = (long) (unlimited.live / ratio);
      Configuration options = new Configuration();
      options.set(MemoryOptions.SPILL_DEVICE_LIMIT, new MemorySize(deviceLimit));
      print(ratio, "none", deviceLimit, run(options), unlimited);
      options.set(MemoryOptions.SPILL_HOST_LIMIT, new MemorySize(unlimited.live / 2));
      print(ratio, "half", deviceLimit, run(options), unlimited);
    }
  }

  private static void print(
      double ratio, String hostLimit, long deviceLimit, Run run, Run expected) {
    if (run.sum != expected.sum || run.rows != expected.rows) {
      throw new IllegalStateException(run + " should have the rows of " + expected);
    }
    System.out.println(ratio + "," + hostLimit + run.columns(deviceLimit));
  }

  /** The measurements of a job. */
  private record Run(
      long rows,
      long sum,
      double seconds,
      double replaySeconds,
      long live,
      long toHost,
      long toDisk,
      long toDevice) {
    String columns(long deviceLimit) {
      return String.format(
          Locale.ROOT,
          ",%d,%d,%.3f,%.3f,%.0f,%.0f,%d,%d,%d",
          deviceLimit,
          live,
          seconds,
          replaySeconds,
          rows / seconds,
          rows * ROW_BYTES / seconds,
          toHost,
          toDisk,
          toDevice);
    }
  }

  private Run run(Configuration options) throws Exception {
    StreamExecutionEnvironment environment = new StreamExecutionEnvironment(options);
    environment.setParallelism(parallelism);
    environment.getConfig().enableObjectReuse();
    DataStream<ColumnBatch> source =
        environment
            .fromSequence(1, batches)
            .transform(
                "batches",
                new ColumnBatchTypeInformation(SCHEMA),
                new OperatorFactory<>(SendBatches.class, SendBatches::new));
    ReplayOperator.replay(BatchExchange.keyBy(source, "key").parallelism(parallelism).apply())
        .transform("sum", Types.VOID, new OperatorFactory<>(SumBatches.class, SumBatches::new));
    Map<String, Object> results =
        cluster
            .executeJobBlocking(environment.getStreamGraph().getJobGraph())
            .getAllAccumulatorResults();
    long end = (Long) results.get(END_NANOS);
    Run run =
        new Run(
            (Long) results.get(ROWS),
            (Long) results.get(SUM),
            (end + (Long) results.get(BEGIN_NANOS)) / 1e9,
            (end + (Long) results.get(ReplayOperator.REPLAY_NANOS)) / 1e9,
            (Long) results.get(ReplayOperator.LIVE_BYTES),
            (Long) results.get(ReplayOperator.TO_HOST_BYTES),
            (Long) results.get(ReplayOperator.TO_DISK_BYTES),
            (Long) results.get(ReplayOperator.TO_DEVICE_BYTES));
    System.err.println(run);
    return run;
  }

  /** Sends one of {@value #DISTINCT_BATCHES} batches for each number. */
  private static final class SendBatches extends AbstractStreamOperator<ColumnBatch>
      implements OneInputStreamOperator<Long, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final transient List<Table> tables = new ArrayList<>();
    private transient DeviceContext context;
    private transient boolean begun;

    SendBatches(StreamOperatorParameters<ColumnBatch> parameters) {
      super(parameters);
    }

    @Override
    public void open() throws Exception {
      super.open();
      context = DeviceContext.open(this);
      Random random = new Random(1);
      try (HostTransfer transfer = new HostTransfer(context)) {
        for (int i = 0; i < DISTINCT_BATCHES; i++) {
          try (RowTableBuilder builder = transfer.tableBuilder(SCHEMA)) {
            for (int column = 0; column < SCHEMA.size(); column++) {
              FixedWidthColumnBuilder values = (FixedWidthColumnBuilder) builder.column(column);
              for (int row = 0; row < BATCH_ROWS; row++) {
                values.appendLong(random.nextLong());
              }
            }
            transfer.toDevice(builder.finish(BATCH_ROWS), tables::add);
          }
        }
      }
    }

    @Override
    public void processElement(StreamRecord<Long> element) {
      if (!begun) {
        begun = true;
        // The maximum of negated times is the first.
        getRuntimeContext().addAccumulator(BEGIN_NANOS, new LongMaximum(-System.nanoTime()));
      }
      Table table = tables.get((int) (element.getValue() % DISTINCT_BATCHES));
      ColumnBatch.emit(element.replace(new ColumnBatch(table.share())), output);
    }

    @Override
    public void close() throws Exception {
      tables.forEach(Table::close);
      if (context != null) {
        context.close();
      }
      super.close();
    }
  }

  /** Brings batches to the host and adds up all their values. */
  private static final class SumBatches extends ColumnBatchOperator<Void> {
    private static final long serialVersionUID = 1L;

    private final transient LongCounter rows = new LongCounter();
    private final transient LongCounter sum = new LongCounter();
    private final transient LongMaximum end = new LongMaximum();

    SumBatches(StreamOperatorParameters<Void> parameters) {
      super(parameters);
    }

    @Override
    public void open() throws Exception {
      super.open();
      getRuntimeContext().addAccumulator(ROWS, rows);
      getRuntimeContext().addAccumulator(SUM, sum);
      getRuntimeContext().addAccumulator(END_NANOS, end);
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      try (HostTransfer transfer = new HostTransfer(deviceContext());
          Table table = transfer.toHost(batch.table());
          AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
        for (Column column : table.columns()) {
          sum.add(sum(column, scope));
        }
      }
      rows.add(batch.rowCount());
      end.add(System.nanoTime());
    }

    private static long sum(Column column, AccessScope scope) {
      long address = column.data().orElseThrow().access(AccessMode.READ, scope);
      address += (long) column.offset() * Long.BYTES;
      long total = 0;
      for (int row = 0; row < column.size(); row++) {
        total += HostMemory.getLong(address + (long) row * Long.BYTES);
      }
      return total;
    }
  }
}

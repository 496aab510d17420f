// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;

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
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Aggregates over batches in one phase and in two, with keys that occur equally often and with a
 * key that half of the rows have. Prints the ratios of the runs of each round.
 */
public final class TwoPhaseBenchmark {
  private static final int BATCH_ROWS = 1 << 16;
  private static final int DIFFERENT_BATCHES = 32;
  private static final Schema SCHEMA =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private TwoPhaseBenchmark() {}

  private record Run(double nanos, double processorNanos) {}

  /**
   * Arguments: batches of each job, the number of subtasks, the number of rounds. A round before
   * them, in which the code is compiled, does not count.
   */
  public static void main(String[] arguments) throws Exception {
    int parallelism = Integer.parseInt(arguments[1]);
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
      System.out.println(
          "| keys | key of half of the rows | throughput of one phase | its processor time |");
      System.out.println("|---:|---|---:|---:|");
      for (boolean isSkewed : new boolean[] {false, true}) {
        for (long keys : new long[] {1_000, 100_000, 1_000_000}) {
          compare(cluster, parallelism, arguments, keys, isSkewed);
        }
      }
    } finally {
      cluster.closeAsync().join();
    }
  }

  private static void compare(
      MiniCluster cluster, int parallelism, String[] arguments, long keys, boolean isSkewed)
      throws Exception {
    long batches = Long.parseLong(arguments[0]);
    List<Double> throughput = new ArrayList<>();
    List<Double> processor = new ArrayList<>();
    for (int round = 0; round <= Integer.parseInt(arguments[2]); round++) {
      Run one = run(cluster, parallelism, batches, keys, isSkewed, false);
      Run two = run(cluster, parallelism, batches, keys, isSkewed, true);
      if (round > 0) {
        throughput.add(one.nanos / two.nanos);
        processor.add(two.processorNanos / one.processorNanos);
      }
    }
    System.out.printf(
        Locale.ROOT,
        "| %,d | %s | %.2f | %.2f |%n",
        keys,
        isSkewed ? "yes" : "no",
        median(throughput),
        median(processor));
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }

  private static Run run(
      MiniCluster cluster,
      int parallelism,
      long batches,
      long keys,
      boolean isSkewed,
      boolean isTwoPhase)
      throws Exception {
    StreamExecutionEnvironment environment = new StreamExecutionEnvironment(new Configuration());
    environment.setParallelism(parallelism);
    KeyedColumnStream keyed =
        ColumnStream.fromBatches(
                environment
                    .fromSequence(1, batches)
                    .transform(
                        "batches",
                        new ColumnBatchTypeInformation(SCHEMA),
                        new OperatorFactory<>(
                            SendBatches.class,
                            parameters -> new SendBatches(parameters, keys, isSkewed))))
            .keyBy("key");
    (isTwoPhase ? keyed.twoPhase() : keyed)
        .aggregate(count().as("n"), sum("value").as("s"), max("value").as("m"))
        .toBatches()
        .transform("end", Types.VOID, new OperatorFactory<>(Discard.class, Discard::new));
    long processor = PROCESS.getProcessCpuTime();
    double millis =
        cluster.executeJobBlocking(environment.getStreamGraph().getJobGraph()).getNetRuntime();
    return new Run(millis * 1e6, PROCESS.getProcessCpuTime() - processor);
  }

  private static final class SendBatches extends AbstractStreamOperator<ColumnBatch>
      implements OneInputStreamOperator<Long, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final long keys;
    private final boolean isSkewed;
    private transient DeviceContext context;
    private transient List<Table> tables;

    SendBatches(StreamOperatorParameters<ColumnBatch> parameters, long keys, boolean isSkewed) {
      super(parameters);
      this.keys = keys;
      this.isSkewed = isSkewed;
    }

    @Override
    public void open() throws Exception {
      super.open();
      context = DeviceContext.open(this);
      tables = new ArrayList<>();
      Random random = new Random(getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
      LongUnaryOperator key =
          row -> isSkewed && row % 2 == 0 ? 0 : Math.floorMod(random.nextLong(), keys);
      try (HostTransfer transfer = new HostTransfer(context)) {
        for (int i = 0; i < DIFFERENT_BATCHES; i++) {
          try (RowTableBuilder builder = transfer.tableBuilder(SCHEMA)) {
            for (int row = 0; row < BATCH_ROWS; row++) {
              ((FixedWidthColumnBuilder) builder.column(0)).appendLong(key.applyAsLong(row));
              ((FixedWidthColumnBuilder) builder.column(1)).appendLong(random.nextInt());
            }
            transfer.toDevice(builder.finish(BATCH_ROWS), tables::add);
          }
        }
      }
    }

    @Override
    public void processElement(StreamRecord<Long> element) {
      Table table = tables.get((int) (element.getValue() % DIFFERENT_BATCHES));
      ColumnBatch.emit(new StreamRecord<>(new ColumnBatch(table.share())), output);
    }

    @Override
    public void close() throws Exception {
      if (tables != null) {
        tables.forEach(Table::close);
      }
      if (context != null) {
        context.close();
      }
      super.close();
    }
  }

  private static final class Discard extends ColumnBatchOperator<Void> {
    private static final long serialVersionUID = 1L;

    Discard(StreamOperatorParameters<Void> parameters) {
      super(parameters);
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {}
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;

import com.sun.management.OperatingSystemMXBean;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.api.KeyedColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.window.Hop;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;

/**
 * {@code COUNT}, {@code SUM} and {@code MAX} by a BIGINT key, without and with a HOP window, by
 * Millrace and by stock Flink SQL over the same rows ({@link ComparedRows}). One subtask of each
 * operator; objects are reused. The time is that from the first row behind those that bring each
 * key once to the end of the input, and so includes the last windows. What comes out must add up to
 * the same. The jobs run in turn, some rounds, of which the first does not count; ratios are those
 * of jobs of the same round.
 */
public final class KeyedStateBenchmark {
  static final String BEGIN = "begin";

  private static final Duration LATENCY = Duration.ofSeconds(1);
  private static final Duration SLIDE = Duration.ofSeconds(2);
  private static final Duration SIZE = Duration.ofSeconds(10);
  private static final String AGGREGATES = "SELECT id, COUNT(*) c, SUM(v) s, MAX(v) m FROM ";
  private static final String GROUP_BY = AGGREGATES + "t GROUP BY id";
  private static final String HOP =
      AGGREGATES
          + "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))"
          + " GROUP BY id, window_start, window_end";
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private final MiniCluster cluster;
  private final ComparedRows rows;
  private final long batches;

  private KeyedStateBenchmark(MiniCluster cluster, ComparedRows rows, long batches) {
    this.cluster = cluster;
    this.rows = rows;
    this.batches = batches;
  }

  /** A job that ends in {@link CountRows} or {@link CountBatches}. */
  private interface Job {
    void build(DataStream<Long> numbers);
  }

  /** A job of the comparison, and what was measured. */
  private record Variant(String name, String backend, Job job, List<Run> runs) {
    Variant(String name, String backend, Job job) {
      this(name, backend, job, new ArrayList<>());
    }
  }

  /** A run, with all that the processors did for it, compiler and collector too. */
  private record Run(double rowsPerSecond, double processorNanosPerRow, long sum, long rowsOut) {}

  /**
   * Runs the jobs. Arguments: {@code group-by} or {@code hop}, Ki keys (a multiple of 64), Ki rows
   * behind the first of each key, the number of rounds, and a regular expression that the names of
   * the jobs to run contain, if not all run.
   */
  public static void main(String[] arguments) throws Exception {
    boolean isHop = arguments[0].equals("hop");
    long keys = Long.parseLong(arguments[1]) << 10;
    long batches = (keys + (Long.parseLong(arguments[2]) << 10)) / ComparedRows.BATCH_ROWS;
    Pattern pattern = Pattern.compile(arguments.length > 4 ? arguments[4] : "");
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_PORT, "0");
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(2048));
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder().setConfiguration(configuration).build());
    try {
      cluster.start();
      // Each key comes about once in each slide.
      ComparedRows rows = new ComparedRows(keys, keys / SLIDE.toSeconds());
      KeyedStateBenchmark benchmark = new KeyedStateBenchmark(cluster, rows, batches);
      List<Variant> all = isHop ? benchmark.windows() : benchmark.groups();
      benchmark.report(
          all.stream().filter(variant -> pattern.matcher(variant.name).find()).toList(),
          Integer.parseInt(arguments[3]));
    } finally {
      cluster.closeAsync().join();
    }
  }

  private List<Variant> groups() {
    return List.of(
        new Variant("stock, heap", "hashmap", sql(GROUP_BY, false)),
        new Variant("stock, heap, mini-batch", "hashmap", sql(GROUP_BY, true)),
        new Variant("stock, RocksDB", "rocksdb", sql(GROUP_BY, false)),
        new Variant("stock, RocksDB, mini-batch", "rocksdb", sql(GROUP_BY, true)),
        new Variant("Millrace, rows in and out", "hashmap", numbers -> fromRows(numbers, false)),
        new Variant("Millrace, batches", "hashmap", numbers -> fromBatches(numbers, false)));
  }

  private List<Variant> windows() {
    return List.of(
        new Variant("stock, heap", "hashmap", sql(HOP, false)),
        new Variant("stock, RocksDB", "rocksdb", sql(HOP, false)),
        new Variant("Millrace, rows in and out", "hashmap", numbers -> fromRows(numbers, true)),
        new Variant("Millrace, batches", "hashmap", numbers -> fromBatches(numbers, true)));
  }

  private Job sql(String query, boolean hasMiniBatches) {
    return numbers -> {
      StreamTableEnvironment tables =
          StreamTableEnvironment.create(numbers.getExecutionEnvironment());
      if (hasMiniBatches) {
        tables
            .getConfig()
            .set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ENABLED, true)
            .set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ALLOW_LATENCY, LATENCY)
            .set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_SIZE, (long) ComparedRows.BATCH_ROWS);
      }
      Schema.Builder columns = Schema.newBuilder();
      List<DataType> types = SchemaConverter.toDataType(ComparedRows.SCHEMA).getChildren();
      for (int i = 0; i < types.size(); i++) {
        columns.column(ComparedRows.SCHEMA.field(i).name(), types.get(i));
      }
      columns.watermark("ts", "SOURCE_WATERMARK()");
      tables.createTemporaryView("t", tables.fromDataStream(rowSource(numbers), columns.build()));
      StreamStatementSet statements = tables.createStatementSet();
      statements.add(
          tables
              .sqlQuery(query)
              .insertInto(TableDescriptor.forConnector(CountingSink.CONNECTOR).build()));
      statements.attachAsDataStream();
    };
  }

  private void fromRows(DataStream<Long> numbers, boolean isHop) {
    BatchOptions options =
        BatchOptions.latency(LATENCY).withRows(ComparedRows.BATCH_ROWS, ComparedRows.BATCH_ROWS);
    aggregate(ColumnStream.from(rowSource(numbers), ComparedRows.SCHEMA).batch(options), isHop)
        .toRowData()
        .transform("count", Types.VOID, new OperatorFactory<>(CountRows.class, CountRows::new));
  }

  private void fromBatches(DataStream<Long> numbers, boolean isHop) {
    ComparedRows input = rows;
    DataStream<ColumnBatch> batchSource =
        numbers.transform(
            "batches",
            new ColumnBatchTypeInformation(ComparedRows.SCHEMA),
            new OperatorFactory<>(
                SendBatches.class, parameters -> new SendBatches(parameters, input)));
    aggregate(ColumnStream.fromBatches(batchSource), isHop)
        .toBatches()
        .transform(
            "count", Types.VOID, new OperatorFactory<>(CountBatches.class, CountBatches::new));
  }

  private static ColumnStream aggregate(ColumnStream stream, boolean isHop) {
    Aggregate[] aggregates = {count().as("c"), sum("v").as("s"), max("v").as("m")};
    KeyedColumnStream keyed = stream.keyBy("id");
    return isHop
        ? keyed.window(Hop.over("ts", SIZE).every(SLIDE)).aggregate(aggregates)
        : keyed.aggregate(aggregates);
  }

  private DataStream<RowData> rowSource(DataStream<Long> numbers) {
    ComparedRows input = rows;
    return numbers.transform(
        "rows",
        InternalTypeInfo.of(SchemaConverter.toRowType(ComparedRows.SCHEMA)),
        new OperatorFactory<>(SendRows.class, parameters -> new SendRows(parameters, input)));
  }

  private void report(List<Variant> variants, int rounds) throws Exception {
    for (int round = 0; round <= rounds; round++) {
      for (Variant variant : variants) {
        Run run = run(variant);
        System.err.printf("round %d, %s: %s%n", round, variant.name, run);
        if (round > 0) {
          variant.runs.add(run);
        }
      }
      check(variants, round);
    }
    System.out.println("| job | rows/s | of heap | of RocksDB | processor ns a row | rows out |");
    System.out.println("|---|---:|---:|---:|---:|---:|");
    for (Variant variant : variants) {
      System.out.printf(
          Locale.ROOT,
          "| %s | %.0f | %s | %s | %.0f | %d |%n",
          variant.name,
          median(variant.runs, Run::rowsPerSecond),
          ratios(variant, variants, "stock, heap"),
          ratios(variant, variants, "stock, RocksDB"),
          median(variant.runs, Run::processorNanosPerRow),
          variant.runs.get(0).rowsOut);
    }
  }

  private static void check(List<Variant> variants, int round) {
    List<Long> sums =
        variants.stream()
            .filter(variant -> round > 0)
            .flatMap(variant -> variant.runs.stream())
            .map(Run::sum)
            .distinct()
            .toList();
    if (sums.size() > 1) {
      throw new IllegalStateException("expected the same sum of all jobs, got " + sums);
    }
  }

  /** The least and the greatest ratio of the rate to that of another job in the same round. */
  private static String ratios(Variant variant, List<Variant> variants, String other) {
    for (Variant base : variants) {
      if (base.name.equals(other)) {
        DoubleSummaryStatistics ratios =
            IntStream.range(0, variant.runs.size())
                .mapToDouble(
                    i -> variant.runs.get(i).rowsPerSecond / base.runs.get(i).rowsPerSecond)
                .summaryStatistics();
        return String.format(Locale.ROOT, "%.2f to %.2f", ratios.getMin(), ratios.getMax());
      }
    }
    return "";
  }

  private static double median(List<Run> runs, ToDoubleFunction<Run> value) {
    double[] sorted = runs.stream().mapToDouble(value).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private Run run(Variant variant) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(StateBackendOptions.STATE_BACKEND, variant.backend);
    configuration.set(PipelineOptions.OBJECT_REUSE, true);
    StreamExecutionEnvironment environment = new StreamExecutionEnvironment(configuration);
    environment.setParallelism(1);
    variant.job.build(environment.fromSequence(0, batches - 1));
    long processorBefore = PROCESS.getProcessCpuTime();
    Map<String, Object> totals =
        cluster
            .executeJobBlocking(environment.getStreamGraph().getJobGraph())
            .getAllAccumulatorResults();
    long processorNanos = PROCESS.getProcessCpuTime() - processorBefore;
    long allRows = batches * ComparedRows.BATCH_ROWS;
    double nanos = (Long) totals.get(Totals.END) + (Long) totals.get(BEGIN);
    return new Run(
        (allRows - rows.keys()) * 1e9 / nanos,
        (double) processorNanos / allRows,
        (Long) totals.get(Totals.ROWS) + (Long) totals.get(Totals.SUM),
        (Long) totals.get(Totals.CHANGES));
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql.benchmark;

import com.sun.management.OperatingSystemMXBean;
import io.millrace.device.Device;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import io.millrace.sql.NexmarkQueries;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * Nexmark's queries by stock Flink SQL, and by Millrace over rows, over batches, and from batches
 * to batches. What comes out is dropped. Prints for each query the least processor time and the
 * least time of a bid over all rounds, of whole jobs from their start to their end.
 *
 * <p>Arguments: Ki bids that are kept, how often they come, rounds, subtasks, and queries: names,
 * or any SQL over the table {@code bid}; none for all of Nexmark's. Among the queries there may be
 * options of all jobs and of the cluster, such as {@code state.backend.type=rocksdb} and {@code
 * table.exec.mini-batch.enabled=true}. With {@code json-files=FOLDER} the bids are lines of JSON in
 * files there, which Flink's connector {@code filesystem} reads as rows and Millrace's as batches;
 * the files are deleted at the end.
 */
public final class NexmarkSqlBenchmark implements AutoCloseable {
  private static final List<String> ALL =
      List.of(
          "q0", "q1", "q2", "q10", "q11", "q12", "q14", "q15", "q16", "q17", "q21", "q22",
          "window");

  private static final ConfigOption<String> JSON_FILES =
      ConfigOptions.key("json-files").stringType().noDefaultValue();

  private final MiniCluster cluster;
  private final int rowTimes;
  private final int batchTimes;
  private final int subtasks;
  private final Configuration options;
  private final Optional<BidFiles> files;

  /** Whether Millrace runs the query, and what goes in and comes out. */
  private enum Variant {
    STOCK,
    ROWS,
    BATCHES,
    BATCHES_TO_BATCHES;

    private static final List<Variant> MILLRACE = List.of(ROWS, BATCHES, BATCHES_TO_BATCHES);

    private boolean fromBatches() {
      return this == BATCHES || this == BATCHES_TO_BATCHES;
    }

    private String sink() {
      return this == BATCHES_TO_BATCHES ? DroppedBatches.CONNECTOR : "blackhole";
    }
  }

  /** What a job takes for a bid. */
  private record Cost(double processorNanos, double nanos) {
    private Cost least(Cost other) {
      return new Cost(Math.min(processorNanos, other.processorNanos), Math.min(nanos, other.nanos));
    }
  }

  private NexmarkSqlBenchmark(
      MiniCluster cluster, String times, int subtasks, Configuration options) throws IOException {
    String[] both = times.split(",", -1);
    this.cluster = cluster;
    this.rowTimes = Integer.parseInt(both[0]);
    this.batchTimes = Integer.parseInt(both[both.length - 1]);
    this.subtasks = subtasks;
    this.options = options;
    Optional<String> folder = options.getOptional(JSON_FILES);
    this.files =
        folder.isEmpty() ? Optional.empty() : Optional.of(new BidFiles(Path.of(folder.get())));
  }

  /** Runs the benchmark. */
  public static void main(String[] arguments) throws Exception {
    int subtasks = Integer.parseInt(arguments[3]);
    List<String> rest = Arrays.asList(arguments).subList(4, arguments.length);
    List<String> queries = rest.stream().filter(argument -> !isOption(argument)).toList();
    Configuration configuration = options(rest);
    configuration.set(RestOptions.BIND_PORT, "0");
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumSlotsPerTaskManager(subtasks)
                .build());
    try (DeviceContext context = DeviceContext.open(Device.current())) {
      ReplayedBids.make(context, Integer.parseInt(arguments[0]) >> 6);
      cluster.start();
      try (NexmarkSqlBenchmark benchmark =
          new NexmarkSqlBenchmark(cluster, arguments[1], subtasks, options(rest))) {
        benchmark.writeFiles();
        benchmark.report(queries.isEmpty() ? ALL : queries, Integer.parseInt(arguments[2]));
      }
    } finally {
      cluster.closeAsync().join();
    }
  }

  private static boolean isOption(String argument) {
    return argument.contains("=") && !isSql(argument);
  }

  private static boolean isSql(String argument) {
    return argument.startsWith("SELECT");
  }

  private static Configuration options(List<String> arguments) {
    Configuration options = new Configuration();
    options.set(PipelineOptions.OBJECT_REUSE, true);
    for (String argument : arguments) {
      if (isOption(argument)) {
        String[] option = argument.split("=", 2);
        options.setString(option[0], option[1]);
      }
    }
    return options;
  }

  private void writeFiles() throws Exception {
    if (files.isPresent()) {
      files.get().write(cluster, rowTimes, subtasks);
      files.get().write(cluster, batchTimes, subtasks);
    }
  }

  private void report(List<String> queries, int rounds) throws Exception {
    System.out.println(Device.current());
    System.out.println(options);
    System.out.println(
        "| query | stock, processor ns a bid | rows | ratio | batches | ratio | to batches | ratio"
            + " | stock, million bids a second | rows | ratio | batches | ratio | to batches"
            + " | ratio |");
    System.out.println("|---|" + "---:|".repeat(14));
    List<Map<Variant, Cost>> all = new ArrayList<>();
    for (String query : queries) {
      Map<Variant, Cost> costs = costs(sql(query), rounds);
      all.add(costs);
      System.out.println(
          "| " + query + " | " + processorTimes(costs) + " | " + rates(costs) + " |");
    }
    System.out.println("geometric means of processor time and time:");
    for (Variant variant : Variant.MILLRACE) {
      System.out.printf(
          Locale.ROOT,
          "%s %.2f %.2f%n",
          variant,
          mean(all, variant, true),
          mean(all, variant, false));
    }
  }

  private static String sql(String query) {
    return isSql(query) ? query : NexmarkQueries.sql(query);
  }

  private static double mean(
      List<Map<Variant, Cost>> all, Variant variant, boolean byProcessorTime) {
    double logarithms =
        all.stream()
            .mapToDouble(costs -> Math.log(ratio(costs, variant, byProcessorTime)))
            .average()
            .orElseThrow();
    return Math.exp(logarithms);
  }

  private static double ratio(Map<Variant, Cost> costs, Variant variant, boolean byProcessorTime) {
    Cost stock = costs.get(Variant.STOCK);
    Cost cost = costs.get(variant);
    return byProcessorTime ? stock.processorNanos / cost.processorNanos : stock.nanos / cost.nanos;
  }

  private static String processorTimes(Map<Variant, Cost> costs) {
    StringBuilder text = new StringBuilder();
    text.append(Math.round(costs.get(Variant.STOCK).processorNanos));
    for (Variant variant : Variant.MILLRACE) {
      text.append(
          String.format(
              Locale.ROOT,
              " | %.0f | %.2f",
              costs.get(variant).processorNanos,
              ratio(costs, variant, true)));
    }
    return text.toString();
  }

  private static String rates(Map<Variant, Cost> costs) {
    StringBuilder text = new StringBuilder();
    text.append(String.format(Locale.ROOT, "%.2f", 1e3 / costs.get(Variant.STOCK).nanos));
    for (Variant variant : Variant.MILLRACE) {
      text.append(
          String.format(
              Locale.ROOT,
              " | %.2f | %.2f",
              1e3 / costs.get(variant).nanos,
              ratio(costs, variant, false)));
    }
    return text.toString();
  }

  /** The least of each variant; the variants take turns, and the first round warms up. */
  private Map<Variant, Cost> costs(String query, int rounds) throws Exception {
    Map<Variant, Cost> costs = new EnumMap<>(Variant.class);
    for (int round = 0; round <= rounds; round++) {
      for (Variant variant : Variant.values()) {
        Cost cost = run(query, variant);
        if (round > 0) {
          costs.merge(variant, cost, Cost::least);
        }
      }
    }
    return costs;
  }

  private Cost run(String query, Variant variant) throws Exception {
    StreamExecutionEnvironment environment = job(query, variant);
    OperatingSystemMXBean process =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    System.gc();
    long processorTime = process.getProcessCpuTime();
    long time = System.nanoTime();
    cluster.executeJobBlocking(environment.getStreamGraph().getJobGraph());
    double bids = (double) times(variant) * ReplayedBids.count();
    return new Cost(
        (process.getProcessCpuTime() - processorTime) / bids, (System.nanoTime() - time) / bids);
  }

  private int times(Variant variant) {
    return variant.fromBatches() ? batchTimes : rowTimes;
  }

  private String createTable(Variant variant) {
    boolean asBatches = variant.fromBatches();
    return files
        .map(lines -> lines.createTable(asBatches, times(variant)))
        .orElseGet(() -> ReplayedBids.createTable(asBatches, times(variant)));
  }

  private StreamExecutionEnvironment job(String query, Variant variant) {
    StreamExecutionEnvironment environment = new StreamExecutionEnvironment(options);
    environment.setParallelism(subtasks);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.getConfig().addConfiguration(options);
    tables.getConfig().set(SqlOptions.MODE, variant == Variant.STOCK ? SqlMode.OFF : SqlMode.ON);
    tables.executeSql(createTable(variant));
    tables.executeSql("CREATE TEMPORARY VIEW timed AS SELECT *, PROCTIME() AS p_time FROM bid");
    NexmarkQueries.FUNCTIONS.forEach(tables::executeSql);
    StreamStatementSet statements = tables.createStatementSet();
    statements.add(
        tables.sqlQuery(query).insertInto(TableDescriptor.forConnector(variant.sink()).build()));
    statements.attachAsDataStream();
    return environment;
  }

  @Override
  public void close() throws IOException {
    if (files.isPresent()) {
      files.get().close();
    }
  }
}

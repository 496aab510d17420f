// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.operators.aggregate.Aggregate.count;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.window.SessionAggregateOperator;
import io.millrace.operators.window.Tumble;
import io.millrace.operators.window.WindowAggregateOperator;
import io.millrace.parity.RandomWindowQuery.Function;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TestShare;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.api.config.AggregatePhaseStrategy;
import org.apache.flink.table.api.config.OptimizerConfigOptions;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Aggregates by key and window are those of stock Flink SQL over the same rows and watermarks:
 * types, nullability and rows, and so which rows are late.
 */
class WindowAggregateParityTest {
  private static final int QUERIES_PER_JOB = TestShare.of(6);
  private static final int MAX_BATCH_ROWS = 70;

  private static final Schema INSTANTS =
      Schema.of(
          new Field("k", DataType.INT32, false),
          Field.of("ts", DataType.timestamp(3, true)),
          Field.of("w", DataType.INT64));

  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** One job: its queries run in Flink SQL and in Millrace over the same source. */
  record Job(Function function, boolean isInstant, int parallelism) {}

  static Stream<Job> jobs() {
    List<Job> jobs = new ArrayList<>();
    for (Function function : Function.values()) {
      for (boolean isInstant : new boolean[] {false, true}) {
        for (int parallelism : new int[] {1, 2}) {
          jobs.add(new Job(function, isInstant, parallelism));
        }
      }
    }
    return jobs.stream();
  }

  /** A query and its results. */
  private record Case(
      RandomWindowQuery query,
      Table flinkTable,
      Schema schema,
      CollectedRows flinkRows,
      CollectedRows rows) {}

  /** The watermarks that the rows say. */
  private static final class WatermarkOfRow implements WatermarkGenerator<Row> {
    private final int column;

    WatermarkOfRow(int column) {
      this.column = column;
    }

    @Override
    public void onEvent(Row row, long timestamp, WatermarkOutput output) {
      if (row.getField(column) instanceof Long watermark) {
        output.emitWatermark(new Watermark(watermark));
      }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {
      // Only rows bring watermarks.
    }
  }

  @ParameterizedTest
  @MethodSource("jobs")
  void resultsAreFlinks(Job job) throws Exception {
    Random numbers = random.random();
    StreamExecutionEnvironment environment = environment(job.parallelism());
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    boolean isOnePhase = numbers.nextBoolean();
    tables
        .getConfig()
        .set(
            OptimizerConfigOptions.TABLE_OPTIMIZER_AGG_PHASE_STRATEGY,
            isOnePhase ? AggregatePhaseStrategy.ONE_PHASE : AggregatePhaseStrategy.TWO_PHASE);
    // Both add slice by slice, and Flink also phase by phase: in other orders.
    boolean addsFloatingPoint = isOnePhase && job.function() == Function.TUMBLE;
    List<ZoneId> zones = RandomWindowQuery.zones(job.function());
    ZoneId zone = zones.get(numbers.nextInt(zones.size()));
    tables.getConfig().setLocalTimeZone(zone);
    List<Case> cases = new ArrayList<>();
    for (int i = 0; i < QUERIES_PER_JOB; i++) {
      // Which late rows sessions take depends on batches, which exchanges join.
      boolean hasLateRows = job.function() != Function.SESSION;
      RandomWindowQuery query =
          RandomWindowQuery.of(
              numbers, job.function(), job.isInstant(), addsFloatingPoint, hasLateRows, zone);
      cases.add(add(query, zone, environment, tables, 1 + numbers.nextInt(MAX_BATCH_ROWS)));
    }
    assertThat(windowOperators(environment)).isEqualTo(QUERIES_PER_JOB);
    environment.execute();

    List<String> differences = new ArrayList<>();
    int results = cases.stream().mapToInt(compared -> compare(compared, differences)).sum();
    assertThat(differences).as("differences in %s with seed %d", zone, random.seed()).isEmpty();
    assertThat(results).as("rows of windows").isPositive();
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
    assertThat(DeviceContext.heldBytes(Device.current())).as("bytes held").isZero();
  }

  private static StreamExecutionEnvironment environment(int parallelism) {
    Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(512));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(128));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(128));
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    environment.setParallelism(parallelism);
    return environment;
  }

  private static Case add(
      RandomWindowQuery query,
      ZoneId zone,
      StreamExecutionEnvironment environment,
      StreamTableEnvironment tables,
      int batchRows) {
    DataStream<Row> rows = rows(query, environment);
    Table flink = flink(query, rows, tables);
    // Two subtasks would not keep rows and watermarks in their order.
    ColumnStream millrace =
        ColumnStream.from(rows, query.schema())
            .batch(BatchOptions.DEFAULT.withRows(batchRows, batchRows))
            .setParallelism(1)
            .withTimeZone(zone)
            .keyBy(query.keys().toArray(String[]::new))
            .window(query.window())
            .aggregate(query.aggregates().toArray(Aggregate[]::new));
    return new Case(
        query,
        flink,
        millrace.schema(),
        CollectedRows.of(tables.toDataStream(flink)),
        CollectedRows.of(millrace.toRows()));
  }

  private static DataStream<Row> rows(
      RandomWindowQuery query, StreamExecutionEnvironment environment) {
    int time = query.schema().indexOf(RandomWindowQuery.TIME);
    int watermark = query.schema().indexOf(RandomWindowQuery.WATERMARK);
    return environment
        .fromData(query.rows(), ExternalRowDecoder.typeInformation(query.schema()))
        .setParallelism(1)
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Row>forGenerator(context -> new WatermarkOfRow(watermark))
                .withTimestampAssigner(
                    (row, before) -> RandomWindowQuery.millis(row.getField(time))))
        .setParallelism(1);
  }

  private static Table flink(
      RandomWindowQuery query, DataStream<Row> rows, StreamTableEnvironment tables) {
    org.apache.flink.table.api.Schema.Builder columns =
        org.apache.flink.table.api.Schema.newBuilder();
    List<org.apache.flink.table.types.DataType> types =
        SchemaConverter.toDataType(query.schema()).getChildren();
    for (int i = 0; i < types.size(); i++) {
      columns.column(query.schema().field(i).name(), types.get(i));
    }
    columns.watermark(RandomWindowQuery.TIME, "SOURCE_WATERMARK()");
    tables.createTemporaryView("t", tables.fromDataStream(rows, columns.build()));
    Table result = tables.sqlQuery(query.sql());
    tables.dropTemporaryView("t");
    return result;
  }

  private static long windowOperators(StreamExecutionEnvironment environment) {
    return environment.getStreamGraph(false).getStreamNodes().stream()
        .map(node -> node.getOperatorFactory())
        .map(
            factory ->
                factory.getStreamOperatorClass(Thread.currentThread().getContextClassLoader()))
        .filter(
            operator ->
                operator == WindowAggregateOperator.class
                    || operator == SessionAggregateOperator.class)
        .count();
  }

  /** Compares the rows and returns how many there are. */
  private static int compare(Case compared, List<String> differences) {
    RandomWindowQuery query = compared.query();
    Schema flinkSchema =
        SchemaConverter.toSchema(
            (RowType)
                compared.flinkTable().getResolvedSchema().toPhysicalRowDataType().getLogicalType());
    if (!query.isGroupWindow()
        && !GroupAggregateParityTest.areFlinks(compared.schema().fields(), flinkSchema.fields())) {
      differences.add("columns " + compared.schema() + ", Flink's " + flinkSchema + " in " + query);
    }
    List<String> rows = sorted(compared.rows());
    List<String> flinkRows = sorted(compared.flinkRows());
    if (!rows.equals(flinkRows)) {
      List<String> ours = new ArrayList<>(rows);
      flinkRows.forEach(ours::remove);
      List<String> flinks = new ArrayList<>(flinkRows);
      rows.forEach(flinks::remove);
      differences.add(ours + ", Flink's " + flinks + " in " + query);
    }
    return rows.size();
  }

  private static List<String> sorted(CollectedRows rows) {
    return rows.take().stream().map(Row::toString).sorted().toList();
  }

  /*
   * Windows of a TIMESTAMP_LTZ that are not Flink's on purpose. Flink's window functions add rows to
   * state, and so set the timers of their windows, at watermarks that they expect to end a window.
   * Where they expect a wrong watermark, the window has passed when its rows are added, and its rows
   * are lost. Flink's group windows add each row at once.
   */

  private static Row row(int key, String time, String watermark) {
    return Row.of(key, Instant.parse(time), Instant.parse(watermark).toEpochMilli());
  }

  private static DataStream<Row> stream(StreamExecutionEnvironment environment, Row... rows) {
    return environment
        .fromData(ExternalRowDecoder.typeInformation(INSTANTS), rows)
        .assignTimestampsAndWatermarks(
            WatermarkStrategy.<Row>forGenerator(context -> new WatermarkOfRow(2))
                .withTimestampAssigner((row, before) -> RandomWindowQuery.millis(row.getField(1))));
  }

  private static List<String> flink(String sql, String zone, Row... rows) throws Exception {
    StreamExecutionEnvironment environment = environment(1);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.getConfig().setLocalTimeZone(ZoneId.of(zone));
    tables.createTemporaryView(
        "t",
        tables.fromDataStream(
            stream(environment, rows),
            org.apache.flink.table.api.Schema.newBuilder()
                .column("k", "INT NOT NULL")
                .column("ts", "TIMESTAMP_LTZ(3)")
                .column("w", "BIGINT")
                .watermark("ts", "SOURCE_WATERMARK()")
                .build()));
    CollectedRows collected = CollectedRows.of(tables.toDataStream(tables.sqlQuery(sql)));
    environment.execute();
    return collected.take().stream().map(Row::toString).toList();
  }

  private static List<String> windowFunction(String size, String zone, Row... rows)
      throws Exception {
    return flink(
        "SELECT k, COUNT(*), window_start FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
            + size
            + ")) GROUP BY k, window_start, window_end",
        zone,
        rows);
  }

  private static List<String> groupWindow(String size, String zone, Row... rows) throws Exception {
    String window = "(ts, " + size + ")";
    return flink(
        "SELECT k, COUNT(*), TUMBLE_START" + window + " FROM t GROUP BY k, TUMBLE" + window,
        zone,
        rows);
  }

  private static List<String> millrace(Duration size, String zone, Row... rows) throws Exception {
    StreamExecutionEnvironment environment = environment(1);
    CollectedRows collected =
        CollectedRows.of(
            ColumnStream.from(stream(environment, rows), INSTANTS)
                .batch(BatchOptions.DEFAULT)
                .withTimeZone(ZoneId.of(zone))
                .keyBy("k")
                .window(Tumble.over("ts", size))
                .aggregate(count().as("n"))
                .toRows());
    environment.execute();
    return collected.take().stream()
        .map(row -> Row.project(row, new int[] {0, 1, 2}).toString())
        .toList();
  }

  /** Flink expects the ends of windows in UTC if the zone has no summer time. */
  @Test
  void windowFunctionsOfFlinkLoseRowsIfTheSizeDoesNotDivideTheZonesOffset() throws Exception {
    Row[] rows = {
      row(1, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
      row(2, "1970-01-01T01:00:00Z", "1970-01-01T05:59:59.999Z"),
      row(3, "1970-01-01T08:00:00Z", "1970-01-01T07:00:00Z")
    };
    List<String> all =
        List.of(
            "+I[1, 1, 1970-01-01T07:00]",
            "+I[2, 1, 1970-01-01T07:00]",
            "+I[3, 1, 1970-01-01T14:00]");
    String size = "INTERVAL '7' HOUR";
    String zone = "Asia/Shanghai";

    assertThat(windowFunction(size, zone, rows)).containsExactlyInAnyOrder(all.get(2));

    assertThat(groupWindow(size, zone, rows)).containsExactlyInAnyOrderElementsOf(all);
    assertThat(millrace(Duration.ofHours(7), zone, rows)).containsExactlyElementsOf(all);
  }

  /** The clock goes back at 6:00 UTC: windows from 1:00 to 2:00 end by the second hour. */
  @Test
  void windowFunctionsOfFlinkLoseRowsInAnHourThatComesTwice() throws Exception {
    Row[] rows = {
      row(1, "2024-11-03T05:50:00Z", "2024-11-03T05:51:00Z"),
      row(2, "2024-11-03T06:05:00Z", "2024-11-03T06:10:00Z"),
      row(3, "2024-11-03T07:05:00Z", "2024-11-03T07:10:00Z")
    };
    List<String> all =
        List.of(
            "+I[2, 1, 2024-11-03T01:00]",
            "+I[1, 1, 2024-11-03T01:50]",
            "+I[3, 1, 2024-11-03T02:00]");
    String size = "INTERVAL '10' MINUTE";
    String zone = "America/New_York";

    assertThat(windowFunction(size, zone, rows)).containsExactlyInAnyOrder(all.get(1), all.get(2));

    assertThat(groupWindow(size, zone, rows)).containsExactlyInAnyOrderElementsOf(all);
    assertThat(millrace(Duration.ofMinutes(10), zone, rows)).containsExactlyElementsOf(all);
  }
}

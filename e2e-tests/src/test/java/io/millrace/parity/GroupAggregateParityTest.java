// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.ExtremesOperator;
import io.millrace.operators.aggregate.GroupAggregateOperator;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.api.KeyedColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TestShare;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.api.config.AggregatePhaseStrategy;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.api.config.OptimizerConfigOptions;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Aggregates by key are those of stock Flink SQL: types, nullability, and the rows that are left
 * when all changes are replayed.
 */
class GroupAggregateParityTest {
  private static final int QUERIES_PER_JOB = TestShare.of(17);
  private static final int MAX_BATCH_ROWS = 70;

  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** One job: its queries run in Flink SQL and in Millrace over the same source. */
  record Job(boolean isChangelog, boolean hasMiniBatches, int parallelism, boolean isTwoPhase) {}

  static Stream<Job> jobs() {
    List<Job> jobs = new ArrayList<>();
    for (boolean isChangelog : new boolean[] {false, true}) {
      for (boolean hasMiniBatches : new boolean[] {false, true}) {
        for (int parallelism : new int[] {1, 2}) {
          jobs.add(new Job(isChangelog, hasMiniBatches, parallelism, false));
        }
        jobs.add(new Job(isChangelog, hasMiniBatches, 2, true));
      }
    }
    return jobs.stream();
  }

  /** A query and its changes. */
  private record Case(
      RandomGroupBy query,
      Table flinkTable,
      Schema schema,
      CollectedRows flinkChanges,
      CollectedRows changes) {}

  @ParameterizedTest
  @MethodSource("jobs")
  void resultsAreFlinks(Job job) throws Exception {
    Random numbers = random.random();
    StreamExecutionEnvironment environment = environment(job.parallelism());
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    if (job.hasMiniBatches()) {
      enableMiniBatches(tables, 1 + numbers.nextInt(MAX_BATCH_ROWS), job.isTwoPhase());
    }
    List<Case> cases = new ArrayList<>();
    for (int i = 0; i < QUERIES_PER_JOB; i++) {
      // Mini-batches and two phases add in another order.
      boolean isInOrder = !job.hasMiniBatches() && !job.isTwoPhase();
      RandomGroupBy query =
          RandomGroupBy.of(numbers, job.isChangelog(), isInOrder, job.isTwoPhase());
      cases.add(add(job, query, environment, tables, 1 + numbers.nextInt(MAX_BATCH_ROWS)));
    }
    assertThat(operators(GroupAggregateOperator.class, environment)).isEqualTo(QUERIES_PER_JOB);
    assertThat(operators(ExtremesOperator.class, environment) > 0)
        .as("whether values that are left are looked for, with seed %d", random.seed())
        .isEqualTo(job.isChangelog() && !job.isTwoPhase());
    environment.execute();

    List<String> differences = new ArrayList<>();
    int updates = cases.stream().mapToInt(compared -> compare(compared, differences)).sum();
    assertThat(differences).as("differences with seed %d", random.seed()).isEmpty();
    assertThat(updates).as("updates of a row by a later batch").isPositive();
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
    assertThat(DeviceContext.heldBytes(Device.current())).as("bytes held").isZero();
  }

  private static StreamExecutionEnvironment environment(int parallelism) {
    Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(64));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(128));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(128));
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    environment.setParallelism(parallelism);
    return environment;
  }

  private static void enableMiniBatches(
      StreamTableEnvironment tables, long rows, boolean isTwoPhase) {
    tables
        .getConfig()
        .set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ENABLED, true)
        .set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_ALLOW_LATENCY, Duration.ofSeconds(1))
        .set(ExecutionConfigOptions.TABLE_EXEC_MINIBATCH_SIZE, rows)
        .set(
            OptimizerConfigOptions.TABLE_OPTIMIZER_AGG_PHASE_STRATEGY,
            isTwoPhase ? AggregatePhaseStrategy.TWO_PHASE : AggregatePhaseStrategy.AUTO);
  }

  private static Case add(
      Job job,
      RandomGroupBy query,
      StreamExecutionEnvironment environment,
      StreamTableEnvironment tables,
      int batchRows) {
    DataStream<Row> rows =
        environment
            .fromData(query.rows(), ExternalRowDecoder.typeInformation(query.schema()))
            .setParallelism(1);
    Table flink = flink(query, rows, tables);
    ColumnStream millrace = millrace(job, query, rows, batchRows);
    assertThat(millrace.explain().contains("LocalGroupAggregate(")).isEqualTo(job.isTwoPhase());
    return new Case(
        query,
        flink,
        millrace.schema(),
        CollectedRows.of(tables.toChangelogStream(flink)),
        CollectedRows.of(millrace.toRows()));
  }

  private static Table flink(
      RandomGroupBy query, DataStream<Row> rows, StreamTableEnvironment tables) {
    org.apache.flink.table.api.Schema.Builder columns =
        org.apache.flink.table.api.Schema.newBuilder();
    List<DataType> types = SchemaConverter.toDataType(query.schema()).getChildren();
    for (int i = 0; i < types.size(); i++) {
      columns.column(query.schema().field(i).name(), types.get(i));
    }
    Table table =
        tables.fromChangelogStream(
            rows,
            columns.build(),
            query.isChangelog() ? ChangelogMode.all() : ChangelogMode.insertOnly());
    tables.createTemporaryView("t", table);
    Table result = tables.sqlQuery(query.sql());
    tables.dropTemporaryView("t");
    return result;
  }

  private static ColumnStream millrace(
      Job job, RandomGroupBy query, DataStream<Row> rows, int batchRows) {
    Schema schema = query.schema();
    ColumnStream batches =
        ColumnStream.from(
                WatermarkEvery.appendTo(rows, batchRows),
                query.isChangelog() ? RowKindColumn.addTo(schema) : schema)
            .batch(BatchOptions.DEFAULT.withRows(batchRows, batchRows));
    // Two subtasks would not keep the changes of a row, or the rows that are added, in their order.
    boolean needsOrder = job.isChangelog() || !job.hasMiniBatches();
    ColumnStream ordered = needsOrder ? batches.setParallelism(1) : batches;
    KeyedColumnStream keyed = ordered.keyBy(query.keys().toArray(String[]::new));
    return (job.isTwoPhase() ? keyed.twoPhase() : keyed)
        .aggregate(query.aggregatesAndParts().toArray(Aggregate[]::new));
  }

  private static long operators(Class<?> type, StreamExecutionEnvironment environment) {
    return environment.getStreamGraph(false).getStreamNodes().stream()
        .map(StreamNode::getOperatorFactory)
        .filter(
            factory ->
                factory.getStreamOperatorClass(Thread.currentThread().getContextClassLoader())
                    == type)
        .count();
  }

  /** Compares the last rows and returns how many changes of Millrace are updates. */
  private static int compare(Case compared, List<String> differences) {
    RandomGroupBy query = compared.query();
    Schema flinkSchema =
        SchemaConverter.toSchema(
            (RowType)
                compared.flinkTable().getResolvedSchema().toPhysicalRowDataType().getLogicalType());
    int columns = flinkSchema.size();
    List<Field> fields = compared.schema().fields().subList(0, columns);
    if (!areFlinks(fields, flinkSchema.fields())) {
      differences.add("columns " + fields + ", Flink's " + flinkSchema.fields() + " in " + query);
    }
    int keys = query.keys().size();
    List<Row> changes = compared.changes().take();
    ReplayedChanges ours = new ReplayedChanges(changes, keys);
    ReplayedChanges flinks = new ReplayedChanges(compared.flinkChanges().take(), keys);
    ours.errors().forEach(error -> differences.add(error + " in " + query));
    flinks.errors().forEach(error -> differences.add("Flink: " + error + " in " + query));
    if (!ours.rows().keySet().equals(flinks.rows().keySet())) {
      differences.add(
          ours.rows().keySet() + ", Flink's " + flinks.rows().keySet() + " in " + query);
    } else {
      ours.rows()
          .forEach((key, row) -> compareRows(query, key, row, flinks.rows().get(key), differences));
    }
    return (int) changes.stream().filter(row -> row.getKind() == RowKind.UPDATE_AFTER).count();
  }

  // Flink's sum and average of a DECIMAL NOT NULL are NOT NULL, though they may overflow to null.
  static boolean areFlinks(List<Field> fields, List<Field> flinks) {
    List<Field> expected = new ArrayList<>();
    for (int i = 0; i < fields.size(); i++) {
      Field flink = flinks.get(i);
      boolean mayOverflow = flink.type().isDecimal() && fields.get(i).nullable();
      expected.add(mayOverflow ? Field.of(flink.name(), flink.type()) : flink);
    }
    return fields.equals(expected);
  }

  private static void compareRows(
      RandomGroupBy query,
      List<Object> key,
      List<Object> row,
      List<Object> flinkRow,
      List<String> differences) {
    int part = flinkRow.size();
    for (int i = 0; i < query.aggregates().size(); i++) {
      Object ours = row.get(key.size() + i);
      Object flinks = flinkRow.get(key.size() + i);
      boolean isAverage = query.averages().get(i) != null;
      boolean isSame =
          Objects.equals(ours, flinks)
              || (isAverage && isQuotient(flinks, row.get(part), row.get(part + 1)));
      part += isAverage ? 2 : 0;
      if (!isSame) {
        Aggregate aggregate = query.aggregates().get(i);
        differences.add(
            aggregate + " of " + key + ": " + ours + ", Flink's " + flinks + " in " + query);
      }
    }
  }

  /** See {@link GroupAggregateDifferencesTest#averagesOfFlinkMayWrap}. */
  private static boolean isQuotient(Object average, Object sum, Object count) {
    return average instanceof Number quotient
        && quotient.longValue() == ((Number) sum).longValue() / (long) count;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.expression.Expressions;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.parity.CollectedRows;
import io.millrace.parity.ReplayedChanges;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A user-defined aggregate function gives what the same function gives in Flink SQL. */
class UserDefinedAggregateParityTest {
  private static final Path PAGE = Path.of("../docs/aggregate-functions.md");
  private static final Path FUNCTION =
      Path.of("src/test/java/io/millrace/parity/aggregate/WeightedAverage.java");
  private static final int ROWS = 3_000;
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("k", DataType.INT32),
          Field.of("price", DataType.INT64),
          Field.of("quantity", DataType.INT32));

  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** A job over {@code keys} keys. */
  record Job(boolean isChangelog, int keys, int parallelism, int batchRows) {}

  static Stream<Job> jobs() {
    List<Job> jobs = new ArrayList<>();
    for (boolean isChangelog : new boolean[] {false, true}) {
      for (int keys : new int[] {1, 40, 2_000}) {
        jobs.add(new Job(isChangelog, keys, 1, 64));
        jobs.add(new Job(isChangelog, keys, 2, 7));
      }
    }
    return jobs.stream();
  }

  private List<Row> rows(Job job) {
    Random numbers = random.random();
    List<Row> rows = new ArrayList<>();
    List<Row> present = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      if (job.isChangelog() && !present.isEmpty() && numbers.nextInt(5) < 2) {
        Row row = Row.copy(present.remove(numbers.nextInt(present.size())));
        row.setKind(RowKind.DELETE);
        rows.add(row);
      } else {
        Row row =
            Row.of(
                numbers.nextInt(20) == 0 ? null : numbers.nextInt(job.keys()),
                numbers.nextInt(10) == 0 ? null : numbers.nextLong(-1_000_000, 1_000_000),
                numbers.nextInt(10) == 0 ? null : numbers.nextInt(-2, 6));
        rows.add(row);
        present.add(row);
      }
    }
    return rows;
  }

  private DataStream<Row> stream(StreamExecutionEnvironment environment, Job job) {
    return environment
        .fromData(rows(job), ExternalRowDecoder.typeInformation(SCHEMA))
        .setParallelism(1);
  }

  private static ColumnStream weighted(Job job, DataStream<Row> rows) {
    ColumnStream sales =
        ColumnStream.from(rows, job.isChangelog() ? RowKindColumn.addTo(SCHEMA) : SCHEMA)
            .batch(BatchOptions.DEFAULT.withRows(job.batchRows(), job.batchRows()))
            .setParallelism(1);
    return sales
        .keyBy("k")
        .aggregate(
            count().as("n"),
            Aggregate.of(new WeightedAverage(), "price", "quantity").as("average"),
            max("price").as("highest"),
            count("quantity").distinct().as("quantities"),
            Aggregate.of(
                    new WeightedAverage(),
                    col("price").plus(1L),
                    Expressions.call("ABS", col("quantity")))
                .filter(col("price").gt(0))
                .as("positive"))
        .uid("weighted");
  }

  private static final String QUERY =
      "SELECT k, COUNT(*) AS n, WEIGHTED(price, quantity) AS average, MAX(price) AS highest,"
          + " COUNT(DISTINCT quantity) AS quantities,"
          + " WEIGHTED(price + 1, ABS(quantity)) FILTER (WHERE price > 0) AS positive"
          + " FROM sales GROUP BY k";

  @ParameterizedTest
  @MethodSource("jobs")
  void resultsAreThoseOfTheFunctionInFlink(Job job) throws Exception {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(job.parallelism());
    DataStream<Row> rows = stream(environment, job);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.createTemporarySystemFunction("WEIGHTED", FlinkWeightedAverage.class);
    tables.createTemporaryView(
        "sales",
        tables.fromChangelogStream(
            rows,
            org.apache.flink.table.api.Schema.newBuilder().build(),
            job.isChangelog() ? ChangelogMode.all() : ChangelogMode.insertOnly()));
    CollectedRows flinks = CollectedRows.of(tables.toChangelogStream(tables.sqlQuery(QUERY)));

    ColumnStream weighted = weighted(job, rows);
    assertThat(weighted.explain())
        .contains("Function(WeightedAverage(`price`, `quantity`))")
        .contains("key: k, LAST(sum), IS_SET(sum), LAST(weights), IS_SET(weights)");
    CollectedRows ours = CollectedRows.of(weighted.toRows());
    environment.execute();

    ReplayedChanges changes = new ReplayedChanges(ours.take(), 1);
    assertThat(changes.errors()).as("illegal changes").isEmpty();
    assertThat(changes.rows()).isEqualTo(new ReplayedChanges(flinks.take(), 1).rows());
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
    assertThat(DeviceContext.heldBytes(Device.current())).as("bytes held").isZero();
  }

  @Test
  void theExampleIsTheTextOfTheTest() throws IOException {
    assumeTrue(Files.exists(PAGE), "only where the sources are");
    String function = normalized(Files.readString(FUNCTION));
    String example = function.substring(function.indexOf("final class WeightedAverage"));
    assertThat(normalized(Files.readString(PAGE))).contains(example);
  }

  /** The lines without their indentation. */
  private static String normalized(String code) {
    return code.lines().map(String::strip).collect(Collectors.joining("\n"));
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.window;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.apache.flink.types.RowKind.UPDATE_BEFORE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.Device;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.window.Hop;
import io.millrace.operators.window.TimeWindow;
import io.millrace.operators.window.Tumble;
import io.millrace.parity.CollectedRows;
import io.millrace.parity.ReplayedChanges;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Windows that emit results before they end, and for rows behind their end: what their changes
 * leave is what those of Flink SQL's group windows leave, over the same rows and watermarks.
 */
class EmittedChangesParityTest {
  private static final int KEY_COLUMNS = 3;
  private static final int ROWS = 600;
  // Rows before the first watermark: what comes out before it does is early.
  private static final int ROWS_WITHOUT_WATERMARK = 60;
  private static final int SIZE = 1_000;
  private static final int SLIDE = 250;
  private static final int MAX_DISORDER = 1_500;
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** A job with both. */
  record Job(String window, boolean isEarly, long lateness, int parallelism) {
    TimeWindow timeWindow() {
      return window.equals("TUMBLE")
          ? Tumble.over("ts", Duration.ofMillis(SIZE))
          : Hop.over("ts", Duration.ofMillis(SIZE)).every(Duration.ofMillis(SLIDE));
    }

    String sql() {
      String widths = window.equals("TUMBLE") ? millis(SIZE) : millis(SLIDE) + ", " + millis(SIZE);
      String arguments = "(ts, " + widths + ")";
      return "SELECT k, COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(v), "
          + window
          + "_START"
          + arguments
          + ", "
          + window
          + "_END"
          + arguments
          + " FROM t GROUP BY k, "
          + window
          + arguments;
    }

    /**
     * Whether Flink may emit a window once more, by an early timer, when it has dropped the window
     * and its first slice: then without the rows of that slice.
     */
    boolean losesSlices() {
      return window.equals("HOP") && isEarly && lateness > 0;
    }

    private static String millis(int millis) {
      return "INTERVAL '%d.%03d' SECOND(6, 3)".formatted(millis / 1_000, millis % 1_000);
    }
  }

  static Stream<Job> jobs() {
    List<Job> jobs = new ArrayList<>();
    for (String window : List.of("TUMBLE", "HOP")) {
      for (int parallelism : new int[] {1, 2}) {
        jobs.add(new Job(window, true, 0, parallelism));
        jobs.add(new Job(window, true, 700, parallelism));
        jobs.add(new Job(window, false, 700, parallelism));
      }
    }
    return jobs.stream();
  }

  @ParameterizedTest
  @MethodSource("jobs")
  void changesLeaveFlinksRows(Job job) throws Exception {
    StreamExecutionEnvironment environment = WatermarkedRows.environment(job.parallelism());
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    emit(job, tables.getConfig());
    EarlyRows early = new EarlyRows(job.isEarly() ? ROWS_WITHOUT_WATERMARK : ROWS);
    DataStream<Row> rows = stream(rows(random.random()), early, environment);
    CollectedRows flink = early.expect(flink(job, rows, tables));
    CollectedRows millrace = early.expect(millrace(job, rows));
    environment.execute();

    List<Row> changesOfFlink = changes(flink);
    Map<List<Object>, List<Object>> flinks =
        job.losesSlices() ? fullest(changesOfFlink) : replayed(changesOfFlink);
    Map<List<Object>, List<Object>> ours = replayed(changes(millrace));
    assertThat(ours).as("seed %d", random.seed()).isEqualTo(flinks).isNotEmpty();
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
    assertThat(DeviceContext.heldBytes(Device.current())).as("bytes held").isZero();
  }

  @Test
  void flinkRefusesSessionsToo() {
    StreamTableEnvironment tables = StreamTableEnvironment.create(WatermarkedRows.environment(1));
    emit(new Job("SESSION", false, 700, 1), tables.getConfig());
    tables.executeSql(
        "CREATE TABLE t (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'datagen')");
    String session = "SESSION(ts, INTERVAL '1' SECOND)";
    assertThatThrownBy(() -> tables.explainSql("SELECT k, COUNT(*) FROM t GROUP BY k, " + session))
        .rootCause()
        .hasMessageContaining("Session window doesn't support EMIT strategy");
  }

  private static void emit(Job job, TableConfig config) {
    if (job.isEarly()) {
      config.set("table.exec.emit.early-fire.enabled", "true");
      config.set("table.exec.emit.early-fire.delay", "1 ms");
    }
    if (job.lateness() > 0) {
      config.set("table.exec.emit.late-fire.enabled", "true");
      config.set("table.exec.emit.late-fire.delay", "0 ms");
      config.set("table.exec.emit.allow-lateness", job.lateness() + " ms");
    }
  }

  private static CollectedRows flink(Job job, DataStream<Row> rows, StreamTableEnvironment tables) {
    WatermarkedRows.addTo(tables, rows);
    return CollectedRows.of(tables.toChangelogStream(tables.sqlQuery(job.sql())));
  }

  private static CollectedRows millrace(Job job, DataStream<Row> rows) {
    return CollectedRows.of(
        ColumnStream.from(rows, WatermarkedRows.SCHEMA)
            .batch(BatchOptions.DEFAULT.withRows(50, 50))
            .setParallelism(1)
            .keyBy("k")
            .window(job.timeWindow())
            .allowedLateness(Duration.ofMillis(job.lateness()))
            .earlyFiring(Duration.ofMillis(job.isEarly() ? 1 : 0))
            .aggregate(count(), count("v"), sum("v"), min("v"), max("v"))
            .toRows());
  }

  // By the key, the start and the end of the window, which come first.
  private static List<Row> changes(CollectedRows rows) {
    List<Row> changes = new ArrayList<>();
    for (Row row : rows.take()) {
      Row ordered = Row.project(row, new int[] {0, 6, 7, 1, 2, 3, 4, 5});
      ordered.setKind(row.getKind());
      changes.add(ordered);
    }
    assertThat(changes).as("changes of results").anyMatch(row -> row.getKind() == UPDATE_BEFORE);
    return changes;
  }

  private static Map<List<Object>, List<Object>> replayed(List<Row> changes) {
    ReplayedChanges replayed = new ReplayedChanges(changes, KEY_COLUMNS);
    assertThat(replayed.errors()).isEmpty();
    return replayed.rows();
  }

  // The result of each window with the most rows: no row is taken out of a window.
  private static Map<List<Object>, List<Object>> fullest(List<Row> changes) {
    Map<List<Object>, List<Object>> results = new HashMap<>();
    for (Row row : changes) {
      List<Object> values = IntStream.range(0, row.getArity()).mapToObj(row::getField).toList();
      results.merge(
          values.subList(0, KEY_COLUMNS),
          values,
          (before, after) -> rowCount(after) > rowCount(before) ? after : before);
    }
    return results;
  }

  private static long rowCount(List<Object> result) {
    return (long) result.get(KEY_COLUMNS);
  }

  private static List<Row> rows(Random numbers) {
    List<Row> rows = new ArrayList<>();
    long latest = 0;
    for (int i = 0; i < ROWS; i++) {
      long time = 10L * i - numbers.nextInt(MAX_DISORDER);
      latest = Math.max(latest, time);
      boolean hasWatermark = i >= ROWS_WITHOUT_WATERMARK && numbers.nextInt(8) == 0;
      rows.add(
          Row.of(
              numbers.nextInt(5),
              numbers.nextInt(4) == 0 ? null : numbers.nextInt(100),
              WatermarkedRows.timestamp(time),
              hasWatermark ? latest - numbers.nextInt(MAX_DISORDER / 2) : null));
    }
    return rows;
  }

  private static DataStream<Row> stream(
      List<Row> rows, EarlyRows early, StreamExecutionEnvironment environment) {
    return WatermarkedRows.stream(
        environment
            .fromData(rows, WatermarkedRows.TYPE)
            .setParallelism(1)
            .map(early)
            .returns(WatermarkedRows.TYPE)
            .setParallelism(1)
            // A task of its own: those behind it go on while it waits.
            .disableChaining());
  }
}

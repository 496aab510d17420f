// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Table;
import io.millrace.connectors.files.FailOnce;
import io.millrace.connectors.files.OutputFolder;
import io.millrace.connectors.files.sink.EncodedFileSink;
import io.millrace.expression.Expression;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RowCollector;
import io.millrace.testing.DeviceExtension;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NothingHeldExtension.class)
class NexmarkStreamsTest {
  private static final int DATE_TIME = 5;

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @TempDir Path folder;

  @OutOfMemoryTest(onCluster = true)
  void batchesOfAllSubtasksTogetherHaveEachBidOnce() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(3);
    BatchCollector collector = new BatchCollector();
    NexmarkOptions options = NexmarkOptions.of(2500).withBatchRows(100);
    collector.collect(NexmarkStreams.bidBatches(environment, options));
    flink.run(environment);

    assertThat(sorted(collector.rows())).isEqualTo(sorted(bids(2500)));
    assertThat(collector.batches()).hasSize(25);
    assertThat(collector.batches()).extracting(BatchCollector.Batch::subtask).contains(0, 1, 2);
  }

  @Test
  void eventsAreRowsOfAllKinds() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    RowCollector<String> collector = new RowCollector<>();
    collector.collect(
        NexmarkStreams.eventRows(environment, NexmarkOptions.of(500)), NexmarkStreamsTest::event);
    flink.run(environment);

    NexmarkGenerator generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    List<String> expected =
        LongStream.range(0, 500)
            .mapToObj(number -> event(NexmarkSchemas.eventRow(generator, number)))
            .toList();
    assertThat(collector.rows()).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(expected).filteredOn(event -> event.startsWith("0 person")).hasSize(10);
    assertThat(expected).filteredOn(event -> event.startsWith("1 auction")).hasSize(30);
    assertThat(expected).filteredOn(event -> event.startsWith("2 bid")).hasSize(460);
  }

  @OutOfMemoryTest(onCluster = true)
  void fieldsOfEventsAreFilteredAndProjected() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    BatchCollector collector = new BatchCollector();
    Expression bid = col("bid");
    collector.collect(
        ColumnStream.from(
                NexmarkStreams.eventRows(environment, NexmarkOptions.of(500)), NexmarkSchemas.EVENT)
            .batch()
            .filter(col("event_type").eq(2).and(bid.field("auction").mod(2).eq(0)))
            .select(bid.field("auction"), bid.field("url"), bid, col("person").isNull().as("other"))
            .toBatches());
    flink.run(environment);

    List<List<Object>> expected = new ArrayList<>();
    for (List<Object> row : bids(460)) {
      if ((Long) row.get(0) % 2 == 0) {
        expected.add(List.of(row.get(0), row.get(4), row, true));
      }
    }
    assertThat(sorted(collector.rows())).isEqualTo(sorted(expected)).isNotEmpty();
  }

  private static String event(RowData row) {
    String kind = !row.isNullAt(1) ? "person" : !row.isNullAt(2) ? "auction" : "bid";
    int column = kind.equals("person") ? 1 : kind.equals("auction") ? 2 : 3;
    int fields = NexmarkSchemas.EVENT.type(column).fields().size();
    long first = row.getRow(column, fields).getLong(0);
    return row.getInt(0) + " " + kind + " " + first + " " + row.getTimestamp(4, 3);
  }

  private List<List<Object>> bids(int count) {
    NexmarkGenerator generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    try (BidTables tables = new BidTables(generator, device.hostStream(), device.hostMemory());
        Table bids = tables.generate(0, count)) {
      return device.rows(bids);
    }
  }

  private static List<List<Object>> sorted(List<List<Object>> rows) {
    return rows.stream().sorted(Comparator.comparing(Object::toString)).toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aRestoreWithOtherBatchesAndRateLosesAndDoublesNoBid(int parallelism) throws Exception {
    int count = 4001;
    BatchCollector before = new BatchCollector();
    StreamExecutionEnvironment environment = flink.environment(2);
    NexmarkOptions options = NexmarkOptions.of(count).withBatchRows(70);
    before.collect(NexmarkStreams.bidBatches(environment, options.withPerSecond(2000)));
    FlinkJob job = flink.submit(environment);
    job.awaitRunning();
    while (before.batches().size() < 3) {
      Thread.sleep(5);
    }
    Configuration restored = new Configuration();
    restored.set(StateRecoveryOptions.SAVEPOINT_PATH, job.stopWithSavepoint(folder));
    assertThat(before.rows()).hasSizeLessThan(count);

    BatchCollector after = new BatchCollector();
    environment = flink.environment(parallelism, restored);
    after.collect(NexmarkStreams.bidBatches(environment, options.withBatchRows(333)));
    flink.run(environment);
    assertThat(sorted(Stream.concat(before.rows().stream(), after.rows().stream()).toList()))
        .isEqualTo(sorted(bids(count)));
  }

  @Test
  void aFailureBetweenCheckpointsLosesAndDoublesNoBid() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    environment.enableCheckpointing(50);
    Configuration restart = new Configuration();
    restart.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restart.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
    environment.configure(restart);
    FailOnce<RowData> failure = new FailOnce<>();
    NexmarkOptions options = NexmarkOptions.of(4001).withBatchRows(7);
    SingleOutputStreamOperator<RowData> rows = NexmarkStreams.bidRows(environment, options);
    write(rows.map(failure).returns(rows.getType()));
    flink.run(environment);

    assertThat(failure.hasFailed()).isTrue();
    NexmarkGenerator generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    assertThat(OutputFolder.sortedLines(folder.resolve("out")))
        .isEqualTo(
            LongStream.range(0, 4001)
                .map(NexmarkGenerator::eventOfBid)
                .mapToObj(event -> line(NexmarkSchemas.row(generator.bid(event))))
                .sorted()
                .toList());
  }

  private void write(DataStream<RowData> bids) {
    org.apache.flink.core.fs.Path path =
        new org.apache.flink.core.fs.Path(folder.resolve("out").toUri());
    bids.map(bid -> (line(bid) + "\n").getBytes(StandardCharsets.UTF_8))
        .returns(byte[].class)
        .sinkTo(EncodedFileSink.create(path, ".txt"));
  }

  private static String line(RowData bid) {
    return bid.getLong(0)
        + " "
        + bid.getLong(1)
        + " "
        + bid.getLong(2)
        + " "
        + bid.getTimestamp(DATE_TIME, 3)
        + " "
        + bid.getString(6);
  }

  @Test
  void aRateIsKept() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    BatchCollector collector = new BatchCollector();
    NexmarkOptions options = NexmarkOptions.of(1500).withPerSecond(1000);
    collector.collect(NexmarkStreams.bidBatches(environment, options));
    long start = System.nanoTime();
    flink.run(environment);
    Duration duration = Duration.ofNanos(System.nanoTime() - start);
    assertThat(collector.rows()).hasSize(1500);
    assertThat(duration).isBetween(Duration.ofMillis(1200), Duration.ofMinutes(5));
  }

  @Test
  void aLowRateMakesSmallBatches() {
    NexmarkOptions options = NexmarkOptions.of(250).withBatchRows(100);
    assertThat(options.rowsPerBatch()).isEqualTo(100);
    assertThat(options.batchesPerSecond()).isInfinite();
    assertThat(options.withPerSecond(100).rowsPerBatch()).isEqualTo(5);
    assertThat(options.withPerSecond(100).batchesPerSecond()).isEqualTo(20.0);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static io.millrace.operators.deduplicate.Deduplication.keepFirst;
import static io.millrace.operators.deduplicate.Deduplication.keepLast;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RowCollector;
import io.millrace.operators.window.Tumble;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Aggregates in two phases, in jobs. */
@ExtendWith(NothingHeldExtension.class)
class TwoPhaseTest {
  private static final Schema BIDS =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          new Field("price", DataType.INT64, false),
          new Field("ts", DataType.timestamp(3), false));
  private static final LocalDateTime TIME = LocalDateTime.of(2026, 1, 1, 0, 0);
  private static final long ROWS = 30_000;
  private static final Map<Long, List<Long>> RESULTS = new ConcurrentHashMap<>();

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  private static Row bid(long number) {
    // Every other row is of one auction.
    return Row.of(number % 2 == 0 ? 0 : number % 701, number, TIME);
  }

  private static ColumnStream bids(StreamExecutionEnvironment environment) {
    return ColumnStream.from(
            environment.fromData(
                LongStream.range(0, ROWS).mapToObj(TwoPhaseTest::bid).toList(),
                ExternalRowDecoder.typeInformation(BIDS)),
            BIDS)
        .batch(BatchOptions.DEFAULT.withRows(1000, 1000));
  }

  private static Map<Long, List<Long>> expected() {
    Map<Long, List<Long>> results = new HashMap<>();
    for (long number = 0; number < ROWS; number++) {
      results.merge(
          (Long) bid(number).getField(0),
          List.of(1L, number, number),
          (left, right) -> List.of(left.get(0) + 1, left.get(1) + right.get(1), right.get(2)));
    }
    return results;
  }

  private static List<String> nodes(StreamExecutionEnvironment environment) {
    return environment.getStreamGraph(false).getStreamNodes().stream()
        .map(StreamNode::getOperatorName)
        .toList();
  }

  @Test
  void theFirstPhaseIsInFrontOfTheExchange() {
    StreamExecutionEnvironment environment = flink.environment(1);
    KeyedColumnStream keyed =
        bids(environment)
            .keyBy("auction")
            .uid("keys")
            .name("keys")
            .setParallelism(3)
            .withTimeZone(ZoneId.of("Asia/Tokyo"));
    ColumnStream result =
        keyed
            .twoPhase()
            .stateTtl(Duration.ofHours(1))
            .aggregate(count().as("n"), max(col("price").plus(1)).as("m"))
            .uid("aggregates");
    assertThat(result.explain())
        .containsSubsequence(
            "LocalGroupAggregate(groupBy=[auction], select=[auction, COUNT(*) AS n, MAX(",
            "KeyBy(keys=[auction]",
            "GlobalGroupAggregate(groupBy=[auction], select=[auction, COUNT(*) AS n, MAX(",
            "stateTtl=[1 h]");
    result.toBatches();
    assertThat(nodes(environment))
        .filteredOn(name -> !name.startsWith("Source"))
        .containsExactlyInAnyOrder(
            "Batch rows", "LocalGroupAggregate", "keys partition", "keys", "GlobalGroupAggregate");
    assertThat(
            environment.getStreamGraph(false).getStreamNodes().stream()
                .filter(node -> "aggregates".equals(node.getTransformationUID()))
                .map(StreamNode::getParallelism))
        .containsExactly(3);
    // The same stream in one phase has an exchange of its own.
    assertThat(keyed.aggregate(count()).explain()).doesNotContain("Local");
    assertThatThrownBy(() -> keyed.name("other")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void resultsOfBothPhasesAreThoseOfOne() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    RowCollector<Row> collector = new RowCollector<>();
    // The second aggregate takes back rows of the first.
    collector.collect(
        bids(environment)
            .keyBy("auction")
            .twoPhase()
            .aggregate(count().as("n"), sum("price").as("s"))
            .keyBy("n")
            .twoPhase()
            .aggregate(count().as("auctions"), sum("s").as("total"))
            .toRows(),
        row -> row);
    flink.run(environment);
    Map<Long, List<Long>> counts = new HashMap<>();
    expected()
        .values()
        .forEach(
            row ->
                counts.merge(
                    row.get(0),
                    List.of(1L, row.get(1)),
                    (left, right) -> List.of(left.get(0) + 1, left.get(1) + right.get(1))));
    Map<Long, List<Long>> results = new HashMap<>();
    for (Row row : collector.rows()) {
      Long key = (Long) row.getField(0);
      if (row.getKind() == RowKind.DELETE) {
        results.remove(key);
      } else if (row.getKind() != RowKind.UPDATE_BEFORE) {
        results.put(key, List.of((Long) row.getField(1), (Long) row.getField(2)));
      }
    }
    assertThat(results).isEqualTo(counts);
  }

  @Test
  void stepsOtherThanAggregateAreRefused() {
    KeyedColumnStream keyed = bids(flink.environment(1)).keyBy("auction").twoPhase();
    assertThatThrownBy(() -> keyed.window(Tumble.over("ts", Duration.ofSeconds(1))))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("twoPhase is not supported for windows");
    assertThatThrownBy(() -> keyed.deduplicate(keepFirst()))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("twoPhase is not supported for deduplicate");
    assertThatThrownBy(() -> keyed.aggregate(count("price").distinct()))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("is not supported in two phases");
    ColumnStream upserts = bids(flink.environment(1)).keyBy("auction").deduplicate(keepLast());
    assertThatThrownBy(() -> upserts.keyBy("price").twoPhase().aggregate(count()))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith("expected a changelog with the row before each update");
  }

  /** Keeps the last row of each key: the one that counts the most rows. */
  private static final class KeepResult implements MapFunction<Row, Long> {
    private static final long serialVersionUID = 1L;

    @Override
    public Long map(Row row) {
      if (row.getKind() == RowKind.INSERT || row.getKind() == RowKind.UPDATE_AFTER) {
        RESULTS.merge(
            row.getFieldAs("auction"),
            List.of(row.getFieldAs("n"), row.getFieldAs("s"), row.getFieldAs("m")),
            (left, right) -> left.get(0) > right.get(0) ? left : right);
      }
      return 0L;
    }
  }

  private FlinkJob submit(boolean isTwoPhase, int parallelism, double perSecond, String savepoint)
      throws Exception {
    Configuration options = new Configuration();
    if (savepoint != null) {
      options.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    }
    StreamExecutionEnvironment environment = flink.environment(parallelism, options);
    environment.setMaxParallelism(16);
    KeyedColumnStream keyed =
        ColumnStream.from(
                environment
                    .fromSource(
                        new DataGeneratorSource<>(
                            TwoPhaseTest::bid,
                            ROWS,
                            RateLimiterStrategy.perSecond(perSecond),
                            ExternalRowDecoder.typeInformation(BIDS)),
                        WatermarkStrategy.noWatermarks(),
                        "bids")
                    .uid("bids"),
                BIDS)
            .batch(BatchOptions.DEFAULT.withRows(200, 200))
            .keyBy("auction");
    (isTwoPhase ? keyed.twoPhase() : keyed)
        .aggregate(count().as("n"), sum("price").as("s"), max("price").as("m"))
        .uid("aggregates")
        .toRows()
        .map(new KeepResult())
        .returns(Types.LONG)
        .sinkTo(new DiscardingSink<>());
    return flink.submit(environment);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aSavepointOfOnePhaseIsRestoredInTwoAndTheOtherWayRound(boolean beginsInTwo)
      throws Exception {
    RESULTS.clear();
    FlinkJob job = submit(beginsInTwo, 2, 2_000, null);
    job.awaitUntil(() -> RESULTS.size() >= 300);
    String savepoint = job.stopWithSavepoint(folder);
    assertThat(RESULTS).isNotEqualTo(expected());
    submit(!beginsInTwo, 3, 1e9, savepoint).await();
    assertThat(RESULTS).isEqualTo(expected());
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job that aggregates is rescaled, from whichever of its checkpoints is the last. */
@ExtendWith(NothingHeldExtension.class)
class AggregateRescalingTest {
  @RegisterExtension static final FlinkCluster flink = FlinkCluster.withAdaptiveScheduler();

  private static final Schema SCHEMA =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));
  private static final long ROWS = 200_000;
  private static final long KEYS = 300;
  private static final int ROWS_PER_PAUSE = 200;
  private static final long NUMBERS_PER_VALUE = 1_000;
  private static final TypeInformation<Row> ROW =
      Types.ROW_NAMED(new String[] {"key", "value"}, Types.LONG, Types.LONG);

  private static final AtomicBoolean SLOW = new AtomicBoolean();
  private static final AtomicLong SEEN = new AtomicLong();
  private static final Map<Long, List<Long>> RESULTS = new ConcurrentHashMap<>();

  @TempDir Path folder;

  @BeforeEach
  void clear() {
    SLOW.set(true);
    SEEN.set(0);
    RESULTS.clear();
  }

  private static Row row(long number) {
    if (number % ROWS_PER_PAUSE == 0 && SLOW.get()) {
      LockSupport.parkNanos(10_000_000);
    }
    return Row.of(number * 7 % KEYS, number);
  }

  private static Map<Long, List<Long>> expectedResults() {
    Map<Long, List<Long>> results = new HashMap<>();
    for (long number = 0; number < ROWS; number++) {
      results.merge(
          number * 7 % KEYS,
          List.of(1L, number, number, number / NUMBERS_PER_VALUE),
          (left, right) ->
              List.of(left.get(0) + 1, left.get(1) + right.get(1), right.get(2), right.get(3)));
    }
    // Each key has all values up to its last one.
    results.replaceAll((key, row) -> List.of(row.get(0), row.get(1), row.get(2), row.get(3) + 1));
    return results;
  }

  /** Keeps the last row of each key: the one that counts the most rows. */
  private static final class KeepResult implements MapFunction<Row, Long> {
    private static final long serialVersionUID = 1L;

    @Override
    public Long map(Row row) {
      SEEN.incrementAndGet();
      if (row.getKind() == RowKind.INSERT || row.getKind() == RowKind.UPDATE_AFTER) {
        List<Long> result =
            List.of(
                row.getFieldAs("n"), row.getFieldAs("s"), row.getFieldAs("m"), row.getFieldAs("d"));
        RESULTS.merge(
            row.getFieldAs("key"),
            result,
            (left, right) -> left.get(0) > right.get(0) ? left : right);
      }
      return 0L;
    }
  }

  private FlinkJob submit(boolean isUnaligned) throws Exception {
    Configuration options = new Configuration();
    options.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(200));
    options.set(CheckpointingOptions.ENABLE_UNALIGNED, isUnaligned);
    options.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    options.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri().toString());
    StreamExecutionEnvironment environment = flink.environment(2, options);
    environment.setMaxParallelism(16);
    DataStream<Row> numbers =
        environment
            .fromSource(
                new DataGeneratorSource<>(AggregateRescalingTest::row, ROWS, ROW),
                WatermarkStrategy.noWatermarks(),
                "numbers")
            .uid("numbers");
    ColumnStream.from(numbers, SCHEMA)
        .batch(BatchOptions.DEFAULT.withRows(200, 200))
        .uid("batches")
        .keyBy("key")
        .uid("keys")
        .aggregate(
            count().as("n"),
            sum("value").as("s"),
            max("value").as("m"),
            count(col("value").dividedBy(NUMBERS_PER_VALUE)).distinct().as("d"))
        .uid("aggregates")
        .toRows()
        .uid("rows")
        .map(new KeepResult())
        .returns(Types.LONG)
        .uid("keep")
        .sinkTo(new DiscardingSink<>())
        .uid("sink");
    return flink.submit(environment);
  }

  private static void awaitCheckpoint(FlinkJob job) throws Exception {
    long seen = SEEN.get();
    job.awaitUntil(() -> SEEN.get() > seen + 100);
    long last = lastCheckpoint(job);
    job.awaitUntil(() -> lastCheckpoint(job) > last);
    long seenAfter = SEEN.get();
    job.awaitUntil(() -> SEEN.get() > seenAfter);
  }

  private static long lastCheckpoint(FlinkJob job) {
    try {
      AbstractCheckpointStats last = job.lastCheckpoint();
      return last == null ? 0 : last.getCheckpointId();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void resultsAreExactWhenTheJobIsRescaled(boolean isUnaligned) throws Exception {
    FlinkJob job = submit(isUnaligned);
    job.awaitRunning();
    awaitCheckpoint(job);
    job.rescale(3);
    awaitCheckpoint(job);
    job.rescale(1);
    awaitCheckpoint(job);
    SLOW.set(false);
    job.await();
    assertThat(RESULTS).isEqualTo(expectedResults());
  }
}

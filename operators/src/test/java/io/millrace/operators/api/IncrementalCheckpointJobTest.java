// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A job with incremental checkpoints in a file system. */
@ExtendWith(NothingHeldExtension.class)
class IncrementalCheckpointJobTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Schema SCHEMA =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));
  // A page of 256 KiB has the rows of 8192 keys.
  private static final long KEYS = 600_000;
  private static final long HOT_KEYS = 300;
  private static final long ROWS = 900_000;
  private static final int ROWS_PER_PAUSE = 200;
  private static final TypeInformation<Row> ROW =
      Types.ROW_NAMED(new String[] {"key", "value"}, Types.LONG, Types.LONG);

  private static final AtomicBoolean SLOW = new AtomicBoolean();
  private static final AtomicBoolean FAILS = new AtomicBoolean();
  private static final AtomicLong HOT_ROWS = new AtomicLong();
  private static final Map<Long, List<Long>> RESULTS = new ConcurrentHashMap<>();

  @TempDir Path folder;

  @BeforeEach
  void clear() {
    SLOW.set(true);
    FAILS.set(false);
    HOT_ROWS.set(0);
    RESULTS.clear();
  }

  private static long key(long number) {
    return number < KEYS ? number : number % HOT_KEYS;
  }

  // First all keys, then the hot ones alone.
  private static Row row(long number) {
    if (number >= KEYS && number % ROWS_PER_PAUSE == 0 && SLOW.get()) {
      LockSupport.parkNanos(10_000_000);
    }
    return Row.of(key(number), number);
  }

  private static Map<Long, List<Long>> expectedResults() {
    Map<Long, List<Long>> results = new HashMap<>();
    for (long number = 0; number < ROWS; number++) {
      results.merge(
          key(number),
          List.of(1L, number),
          (left, right) -> List.of(left.get(0) + 1, left.get(1) + right.get(1)));
    }
    return results;
  }

  /** Keeps the last row of each key: the one that counts the most rows. */
  private static final class KeepResult implements MapFunction<Row, Long> {
    private static final long serialVersionUID = 1L;

    @Override
    public Long map(Row row) {
      if (FAILS.getAndSet(false)) {
        throw new IllegalStateException("a failure on purpose");
      }
      if (row.getKind() == RowKind.INSERT || row.getKind() == RowKind.UPDATE_AFTER) {
        List<Long> result = List.of(row.getFieldAs("n"), row.getFieldAs("s"));
        if (result.get(0) > 1) {
          HOT_ROWS.incrementAndGet();
        }
        RESULTS.merge(
            row.getFieldAs("key"),
            result,
            (left, right) -> left.get(0) > right.get(0) ? left : right);
      }
      return 0L;
    }
  }

  private FlinkJob submit(String restoredFrom) throws Exception {
    Configuration options = new Configuration();
    options.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(200));
    options.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    options.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri().toString());
    options.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    options.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    if (restoredFrom != null) {
      options.set(StateRecoveryOptions.SAVEPOINT_PATH, restoredFrom);
    }
    StreamExecutionEnvironment environment = flink.environment(2, options);
    Configuration restart = new Configuration();
    restart.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restart.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
    restart.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
    environment.configure(restart);
    environment.setMaxParallelism(16);
    DataStream<Row> numbers =
        environment
            .fromSource(
                new DataGeneratorSource<>(IncrementalCheckpointJobTest::row, ROWS, ROW),
                WatermarkStrategy.noWatermarks(),
                "numbers")
            .setParallelism(1)
            .uid("numbers");
    ColumnStream.from(numbers, SCHEMA)
        .batch(BatchOptions.DEFAULT.withRows(200, 20_000))
        .uid("batches")
        .keyBy("key")
        .uid("keys")
        .aggregate(count().as("n"), sum("value").as("s"))
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

  private static AbstractCheckpointStats lastCheckpoint(FlinkJob job) {
    try {
      return job.lastCheckpoint();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  // Two: the first one may have begun before.
  private static AbstractCheckpointStats awaitTwoCheckpoints(FlinkJob job) throws Exception {
    long before = lastCheckpoint(job) == null ? 0 : lastCheckpoint(job).getCheckpointId();
    job.awaitUntil(
        () -> lastCheckpoint(job) != null && lastCheckpoint(job).getCheckpointId() > before + 1);
    return lastCheckpoint(job);
  }

  private static void awaitHotRows(FlinkJob job) throws Exception {
    long before = HOT_ROWS.get();
    job.awaitUntil(() -> HOT_ROWS.get() > before + 2 * HOT_KEYS);
  }

  // Flink deletes files meanwhile.
  private Set<File> sharedFiles() {
    return Stream.of(folder.toFile().listFiles())
        .map(job -> new File(job, "shared").listFiles())
        .filter(Objects::nonNull)
        .flatMap(Stream::of)
        .collect(Collectors.toSet());
  }

  @Test
  void resultsAreExactAfterAFailureAndFromARetainedCheckpoint() throws Exception {
    FlinkJob job = submit(null);
    job.awaitRunning();
    awaitHotRows(job);
    awaitTwoCheckpoints(job);
    AbstractCheckpointStats small = awaitTwoCheckpoints(job);
    System.out.printf(
        "an incremental checkpoint wrote %d of %d bytes: %.1f %%%n",
        small.getCheckpointedSize(),
        small.getStateSize(),
        100.0 * small.getCheckpointedSize() / small.getStateSize());
    assertThat(small.getStateSize()).isGreaterThan(32 * KEYS);
    assertThat(20 * small.getCheckpointedSize()).isLessThan(small.getStateSize());
    Set<File> files = sharedFiles();

    FAILS.set(true);
    job.awaitUntil(() -> !FAILS.get());
    awaitHotRows(job);
    awaitTwoCheckpoints(job);
    job.awaitUntil(() -> sharedFiles().stream().noneMatch(files::contains));

    awaitTwoCheckpoints(job);
    String retained = job.checkpoint();
    job.cancel();
    RESULTS.keySet().removeIf(key -> key < HOT_KEYS);
    FlinkJob restored = submit(retained);
    restored.awaitRunning();
    awaitHotRows(restored);
    awaitTwoCheckpoints(restored);
    SLOW.set(false);
    restored.await();
    assertThat(RESULTS).isEqualTo(expectedResults());
  }
}

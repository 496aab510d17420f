// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.exchange.ExchangeOptions;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamUtils;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A job is rescaled while batches are on their way, from whichever of its unaligned checkpoints is
 * the last. Its keyed sums fail on a row that is not their subtask's, and miss one that is lost.
 */
@ExtendWith(NothingHeldExtension.class)
class RescalingTest {
  @RegisterExtension static final FlinkCluster flink = FlinkCluster.withAdaptiveScheduler();

  private static final Schema SCHEMA =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));
  private static final long ROWS = 300_000;
  private static final long KEYS = 50;
  private static final long ROWS_PER_MILLI = 5;
  private static final TypeInformation<Row> ROW =
      Types.ROW_NAMED(new String[] {"key", "value"}, Types.LONG, Types.LONG);
  private static final TypeInformation<Tuple2<Long, Long>> SUM =
      Types.TUPLE(Types.LONG, Types.LONG);

  private static final AtomicBoolean SLOW = new AtomicBoolean();
  private static final AtomicLong SEEN = new AtomicLong();
  private static final Map<Long, Long> SUMS = new ConcurrentHashMap<>();

  @TempDir Path folder;

  @BeforeEach
  void clear() {
    SLOW.set(true);
    SEEN.set(0);
    SUMS.clear();
  }

  private static Row row(long number) {
    return Row.of(number * 7 % KEYS, number);
  }

  private static Map<Long, Long> expectedSums() {
    Map<Long, Long> sums = new HashMap<>();
    for (long number = 0; number < ROWS; number++) {
      sums.merge(number * 7 % KEYS, number, Long::sum);
    }
    return sums;
  }

  private static final class SlowConsumer implements MapFunction<Row, Tuple2<Long, Long>> {
    private static final long serialVersionUID = 1L;

    @Override
    public Tuple2<Long, Long> map(Row row) {
      if (SEEN.incrementAndGet() % ROWS_PER_MILLI == 0 && SLOW.get()) {
        LockSupport.parkNanos(1_000_000);
      }
      return Tuple2.of(row.getFieldAs("key"), row.getFieldAs("value"));
    }
  }

  private static final class KeepSum
      implements MapFunction<Tuple2<Long, Long>, Tuple2<Long, Long>> {
    private static final long serialVersionUID = 1L;

    @Override
    public Tuple2<Long, Long> map(Tuple2<Long, Long> sum) {
      SUMS.merge(sum.f0, sum.f1, Math::max);
      return sum;
    }
  }

  private FlinkJob submit(boolean perKeyGroup) throws Exception {
    Configuration options = new Configuration();
    options.set(ExchangeOptions.PER_KEY_GROUP, perKeyGroup);
    options.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(200));
    options.set(CheckpointingOptions.ENABLE_UNALIGNED, true);
    options.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    options.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri().toString());
    StreamExecutionEnvironment environment = flink.environment(2, options);
    environment.setMaxParallelism(16);
    ColumnStream even = numbers(environment, "even").filter(col("value").mod(2).isEqual(0));
    ColumnStream odd = numbers(environment, "odd").filter(col("value").mod(2).isEqual(1));
    DataStream<Tuple2<Long, Long>> rows =
        even.union(odd)
            .uid("union")
            .rebalance()
            .uid("rebalance")
            .filter(col("key").ge(0))
            .keyBy("key")
            .uid("keys")
            .toRows()
            .uid("rows")
            .map(new SlowConsumer())
            .returns(SUM)
            .uid("consumer");
    DataStreamUtils.reinterpretAsKeyedStream(rows, row -> row.f0, Types.LONG)
        .sum(1)
        .uid("sums")
        .map(new KeepSum())
        .returns(SUM)
        .uid("keep")
        .sinkTo(new DiscardingSink<>())
        .uid("sink");
    return flink.submit(environment);
  }

  private static ColumnStream numbers(StreamExecutionEnvironment environment, String uid) {
    DataStream<Row> rows =
        environment
            .fromSource(
                new DataGeneratorSource<>(RescalingTest::row, ROWS, ROW),
                WatermarkStrategy.noWatermarks(),
                uid)
            .uid(uid);
    return ColumnStream.from(rows, SCHEMA)
        .batch(BatchOptions.DEFAULT.withRows(200, 200))
        .uid(uid + "-batches");
  }

  private static void awaitInFlight(FlinkJob job) throws Exception {
    long seen = SEEN.get();
    job.awaitUntil(() -> SEEN.get() > seen + 100);
    job.awaitUntil(() -> isLastCheckpointWithBatchesInFlight(job));
  }

  private static boolean isLastCheckpointWithBatchesInFlight(FlinkJob job) {
    try {
      AbstractCheckpointStats last = job.lastCheckpoint();
      return last != null && last.getPersistedData() > 0;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noRowIsLostOrComesTwiceWhenTheJobIsRescaled(boolean perKeyGroup) throws Exception {
    FlinkJob job = submit(perKeyGroup);
    job.awaitRunning();
    awaitInFlight(job);
    job.rescale(3);
    awaitInFlight(job);
    job.rescale(1);
    awaitInFlight(job);
    SLOW.set(false);
    job.await();
    assertThat(SUMS).isEqualTo(expectedSums());
  }
}

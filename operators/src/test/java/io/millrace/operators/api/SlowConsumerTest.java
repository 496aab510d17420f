// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A consumer of rows that takes a millisecond for each, in the chain of the operators that send
 * them. Time is counted in its rows, of which it processes at most one per millisecond, however
 * loaded the machine is.
 */
@ExtendWith(NothingHeldExtension.class)
class SlowConsumerTest {
  private static final Schema SCHEMA = Schema.of(new Field("id", DataType.INT64, false));
  private static final int LARGE_BATCH = 1 << 16;
  private static final int INTERVAL_MILLIS = 500;
  private static final int CHECKPOINTS = 8;

  private static final AtomicInteger ROWS = new AtomicInteger();
  private static final List<Integer> ROWS_AT_CHECKPOINTS = new CopyOnWriteArrayList<>();

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @BeforeEach
  void clear() {
    ROWS.set(0);
    ROWS_AT_CHECKPOINTS.clear();
  }

  private static final class SlowConsumer implements MapFunction<Row, Row>, CheckpointedFunction {
    private static final long serialVersionUID = 1L;
    private static final long NANOS_PER_ROW = TimeUnit.MILLISECONDS.toNanos(1);

    @Override
    public Row map(Row row) {
      long until = System.nanoTime() + NANOS_PER_ROW;
      // Not to be interrupted, as work is not.
      for (long left = NANOS_PER_ROW; left > 0; left = until - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      ROWS.incrementAndGet();
      return row;
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) {
      ROWS_AT_CHECKPOINTS.add(ROWS.get());
    }

    @Override
    public void initializeState(FunctionInitializationContext context) {}
  }

  private static BatchOptions fixed(int rows) {
    return BatchOptions.DEFAULT.withRows(rows, rows).withLatency(Duration.ofHours(1));
  }

  private static FlinkJob submit(BatchOptions options, Configuration configuration)
      throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1, configuration);
    DataStream<Row> rows =
        environment
            .fromSequence(0, Long.MAX_VALUE - 1)
            .map(Row::of)
            .returns(Types.ROW_NAMED(new String[] {"id"}, Types.LONG));
    ColumnStream.from(rows, SCHEMA)
        .batch(options)
        .filter(col("id").ge(0))
        .toRows()
        .map(new SlowConsumer())
        .returns(Types.ROW_NAMED(new String[] {"id"}, Types.LONG))
        .sinkTo(new DiscardingSink<>());
    return flink.submit(environment);
  }

  @Test
  void checkpointsAreNoFurtherApartThanTwiceTheirInterval() throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(
        CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(INTERVAL_MILLIS));
    FlinkJob job = submit(BatchOptions.DEFAULT, configuration);
    job.awaitUntil(() -> ROWS_AT_CHECKPOINTS.size() >= CHECKPOINTS);
    job.cancel();
    assertCheckpointsWithinTwiceTheirInterval();
  }

  /** The first one too, which comes while the consumer's speed is found out. */
  private static void assertCheckpointsWithinTwiceTheirInterval() {
    assertThat(IntStream.range(0, CHECKPOINTS).map(SlowConsumerTest::rowsSinceLastCheckpoint))
        .allMatch(rows -> rows <= 2 * INTERVAL_MILLIS);
  }

  private static int rowsSinceLastCheckpoint(int checkpoint) {
    int before = checkpoint == 0 ? 0 : ROWS_AT_CHECKPOINTS.get(checkpoint - 1);
    return ROWS_AT_CHECKPOINTS.get(checkpoint) - before;
  }

  @Test
  void aLargeBatchIsCanceledAtOnce() throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(TaskManagerOptions.TASK_CANCELLATION_TIMEOUT, Duration.ofSeconds(20));
    FlinkJob job = submit(fixed(LARGE_BATCH), configuration);
    job.awaitUntil(() -> ROWS.get() > 0);
    job.cancel();
    assertThat(ROWS.get()).isLessThan(LARGE_BATCH / 2);
  }

  @Test
  void aNumberOfRowsThatIsTooLargeForTheConsumerIsNotHeld() throws Exception {
    int rowsOfBatch = 2_000;
    Configuration configuration = new Configuration();
    configuration.set(
        CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(INTERVAL_MILLIS));
    FlinkJob job = submit(fixed(rowsOfBatch), configuration);
    job.awaitUntil(() -> ROWS_AT_CHECKPOINTS.size() >= CHECKPOINTS);
    job.cancel();
    assertCheckpointsWithinTwiceTheirInterval();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.TableSourceOperator;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.testing.TableRows;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamUtils;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Jobs with an exchange are stopped and restored with another parallelism. Behind the exchange is a
 * stock keyed sum without an exchange of its own, which fails on a key that is not its subtask's.
 */
@ExtendWith(NothingHeldExtension.class)
class BatchExchangeRecoveryTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Schema SCHEMA =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));
  private static final long BATCHES = 600;
  private static final int ROWS_PER_BATCH = 40;
  private static final long KEYS = 50;
  private static final int KEY_GROUPS = 16;
  private static final Map<Long, Long> SUMS = new ConcurrentHashMap<>();

  @TempDir Path folder;

  @BeforeEach
  void clear() {
    SUMS.clear();
  }

  private static List<List<Object>> rows(long batch) {
    List<List<Object>> rows = new ArrayList<>();
    for (long row = batch * ROWS_PER_BATCH; row < (batch + 1) * ROWS_PER_BATCH; row++) {
      rows.add(List.of(row * 7 % KEYS, row));
    }
    return rows;
  }

  private static Map<Long, Long> expectedSums() {
    Map<Long, Long> sums = new HashMap<>();
    for (long batch = 0; batch < BATCHES; batch++) {
      rows(batch).forEach(row -> sums.merge((Long) row.get(0), (Long) row.get(1), Long::sum));
    }
    return sums;
  }

  /** Batches to rows. Slow if told, so that elements wait in front of the exchange's receiver. */
  private static final class RowsOperator extends ColumnBatchOperator<Tuple2<Long, Long>> {
    private static final long serialVersionUID = 1L;

    private final long millisOfBatch;

    RowsOperator(StreamOperatorParameters<Tuple2<Long, Long>> parameters, long millisOfBatch) {
      super(parameters);
      this.millisOfBatch = millisOfBatch;
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element)
        throws InterruptedException {
      Thread.sleep(millisOfBatch);
      DeviceContext context = deviceContext();
      try (Table host =
          batch.table().copyTo(context.pinnedResource(), context.hostStream(), context.stream())) {
        for (List<Object> row : TableRows.ofHost(host, context.hostStream())) {
          output.collect(new StreamRecord<>(Tuple2.of((Long) row.get(0), (Long) row.get(1))));
        }
      }
    }
  }

  /** Keeps the last sum of each key. */
  private static final class KeepSum
      implements MapFunction<Tuple2<Long, Long>, Tuple2<Long, Long>> {
    private static final long serialVersionUID = 1L;

    @Override
    public Tuple2<Long, Long> map(Tuple2<Long, Long> sum) {
      SUMS.put(sum.f0, sum.f1);
      return sum;
    }
  }

  /** A run of the job. */
  private record Run(int parallelism, boolean perKeyGroup, boolean unaligned, String restoredFrom) {
    Run restored(int newParallelism, String path) {
      return new Run(newParallelism, perKeyGroup, unaligned, path);
    }
  }

  private StreamExecutionEnvironment job(Run run, double batchesPerSecond, long millisOfBatch) {
    Configuration options = new Configuration();
    options.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMinutes(10));
    // Else the end of a job may wait for a checkpoint, which this job takes when it is told to.
    options.set(CheckpointingOptions.ENABLE_CHECKPOINTS_AFTER_TASKS_FINISH, false);
    options.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    options.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri().toString());
    options.set(CheckpointingOptions.ENABLE_UNALIGNED, run.unaligned);
    options.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    if (run.restoredFrom != null) {
      options.set(StateRecoveryOptions.SAVEPOINT_PATH, run.restoredFrom);
    }
    StreamExecutionEnvironment environment = flink.environment(run.parallelism, options);
    environment.setMaxParallelism(KEY_GROUPS);
    DataStream<Long> numbers =
        environment
            .fromSource(
                new DataGeneratorSource<>(
                    number -> number,
                    BATCHES,
                    RateLimiterStrategy.perSecond(batchesPerSecond),
                    Types.LONG),
                WatermarkStrategy.noWatermarks(),
                "numbers")
            .uid("numbers");
    BatchExchange exchange =
        BatchExchange.keyBy(
                TableSourceOperator.batches(numbers, SCHEMA, BatchExchangeRecoveryTest::rows)
                    .uid("batches"),
                "key")
            .coalesce(CoalesceOptions.DEFAULT.withRows(1))
            .uid("exchange");
    DataStream<Tuple2<Long, Long>> rows =
        (run.perKeyGroup ? exchange.perKeyGroup() : exchange)
            .apply()
            .transform(
                "rows",
                Types.TUPLE(Types.LONG, Types.LONG),
                new OperatorFactory<>(
                    RowsOperator.class, parameters -> new RowsOperator(parameters, millisOfBatch)))
            .uid("rows");
    DataStreamUtils.reinterpretAsKeyedStream(rows, row -> row.f0, Types.LONG)
        .sum(1)
        .uid("sum")
        .map(new KeepSum())
        .returns(Types.TUPLE(Types.LONG, Types.LONG))
        .sinkTo(new DiscardingSink<>());
    return environment;
  }

  private void finish(Run run) throws Exception {
    SUMS.clear();
    flink.run(job(run, 1_000_000, 0));
    assertThat(SUMS).isEqualTo(expectedSums());
  }

  private static void awaitSums(FlinkJob job) throws Exception {
    job.awaitUntil(() -> SUMS.size() >= KEYS);
  }

  @Test
  void aSavepointIsRestoredWithMoreAndFewerSubtasks() throws Exception {
    Run run = new Run(2, false, false, null);
    FlinkJob job = flink.submit(job(run, 100, 0));
    awaitSums(job);
    String savepoint = job.stopWithSavepoint(folder);
    assertThat(SUMS).isNotEqualTo(expectedSums());
    finish(run.restored(3, savepoint));
    finish(run.restored(1, savepoint));
  }

  private String checkpointInFlight(Run run) throws Exception {
    // An aligned barrier waits for the rows in flight, which must not be all rows.
    FlinkJob job = flink.submit(job(run, run.perKeyGroup ? 300 : 60, 20));
    awaitSums(job);
    String checkpoint = job.checkpoint();
    while (run.perKeyGroup && job.lastCheckpoint().getPersistedData() == 0) {
      checkpoint = job.checkpoint();
    }
    assertThat(job.lastCheckpoint().getPersistedData() > 0).isEqualTo(run.perKeyGroup);
    job.cancel();
    assertThat(SUMS).isNotEqualTo(expectedSums());
    return checkpoint;
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void anUnalignedCheckpointOfKeyGroupsIsRestoredWithAnyParallelism(int parallelism)
      throws Exception {
    Run run = new Run(2, true, true, null);
    finish(run.restored(parallelism, checkpointInFlight(run)));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aCheckpointOfTargetsIsAlignedThereAndRestoredWithAnyParallelism(int parallelism)
      throws Exception {
    Run run = new Run(2, false, true, null);
    finish(run.restored(parallelism, checkpointInFlight(run)));
  }
}

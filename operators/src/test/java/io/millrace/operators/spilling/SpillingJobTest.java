// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.spilling;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.MemoryOptions;
import io.millrace.operators.exchange.BatchExchange;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.BatchCollector.Batch;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.TableSourceOperator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A job that holds four times its device limit and twice its host limit. */
@ExtendWith(NothingHeldExtension.class)
class SpillingJobTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Schema SCHEMA =
      Schema.of(
          new Field("key", DataType.INT64, false),
          Field.of("text", DataType.STRING),
          new Field("row", DataType.INT32, false));
  private static final int BATCHES = 160;
  private static final int ROWS_PER_BATCH = 400;
  private static final int TEXT_LENGTH = 500;
  private static final int RECEIVERS = 2;

  private static List<List<Object>> rows(long batch) {
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < ROWS_PER_BATCH; row++) {
      long key = (batch * 31 + row * 17L) % 97;
      List<Object> values = new ArrayList<>();
      values.add(key);
      values.add(key % 5 == 0 ? null : (batch + " " + row + " ").repeat(TEXT_LENGTH / 8));
      values.add((int) batch * ROWS_PER_BATCH + row);
      rows.add(values);
    }
    return rows;
  }

  /** The rows that the subtasks of a job collected, in order, and the job's accumulators. */
  private record Result(Map<Integer, List<List<Object>>> rows, Map<String, Object> accumulators) {
    private long accumulator(String name) {
      return (Long) accumulators.get(name);
    }
  }

  private static Result run(Configuration options) throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1, options);
    DataStream<ColumnBatch> batches =
        TableSourceOperator.batches(
            environment.fromSequence(0, BATCHES - 1), SCHEMA, SpillingJobTest::rows);
    BatchCollector collector = new BatchCollector();
    collector.collect(
        ReplayOperator.replay(BatchExchange.keyBy(batches, "key").parallelism(RECEIVERS).apply()));
    FlinkJob job = flink.submit(environment);
    job.await();
    return new Result(
        collector.batches().stream()
            .collect(
                Collectors.groupingBy(
                    Batch::subtask,
                    Collectors.flatMapping(batch -> batch.rows().stream(), Collectors.toList()))),
        job.accumulators());
  }

  @Test
  void itsResultIsThatOfAJobWithoutLimits() throws Exception {
    Result expected = run(new Configuration());
    long liveBytes = expected.accumulator(ReplayOperator.LIVE_BYTES);
    assertThat(expected.accumulator(ReplayOperator.TO_HOST_BYTES)).isZero();
    assertThat(expected.rows()).hasSize(RECEIVERS);

    // A little is left for batches that are joined differently in the second run.
    long deviceLimit = liveBytes * 15 / 64;
    long hostLimit = liveBytes * 15 / 32;
    Result spilled =
        run(
            new Configuration()
                .set(MemoryOptions.SPILL_DEVICE_LIMIT, new MemorySize(deviceLimit))
                .set(MemoryOptions.SPILL_HOST_LIMIT, new MemorySize(hostLimit)));
    liveBytes = spilled.accumulator(ReplayOperator.LIVE_BYTES);
    assertThat(liveBytes).isGreaterThan(4 * deviceLimit).isGreaterThan(2 * hostLimit);
    assertThat(spilled.rows()).isEqualTo(expected.rows());
    assertThat(spilled.accumulator(ReplayOperator.TO_HOST_BYTES)).isGreaterThan(liveBytes / 2);
    assertThat(spilled.accumulator(ReplayOperator.TO_DISK_BYTES)).isGreaterThan(liveBytes / 8);
    assertThat(spilled.accumulator(ReplayOperator.TO_DEVICE_BYTES)).isGreaterThan(liveBytes / 2);
  }
}

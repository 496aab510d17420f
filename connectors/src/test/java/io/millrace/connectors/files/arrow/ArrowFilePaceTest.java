// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.arrow;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.memory.AccessScope;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Record batches that are too large for a consumer that takes a millisecond a row. */
@ExtendWith(NothingHeldExtension.class)
class ArrowFilePaceTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));
  private static final int ROWS_PER_BATCH = 20_000;
  private static final int BATCHES = 3;
  private static final int INTERVAL_MILLIS = 500;
  private static final int CHECKPOINTS = 4;

  private static final AtomicBoolean SLOW = new AtomicBoolean();
  private static final ConcurrentLinkedQueue<Long> IDS = new ConcurrentLinkedQueue<>();
  private static final List<Integer> ROWS_AT_CHECKPOINTS = new CopyOnWriteArrayList<>();

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @TempDir Path folder;

  @BeforeEach
  void clear() {
    SLOW.set(true);
    IDS.clear();
    ROWS_AT_CHECKPOINTS.clear();
  }

  private static final class Consumer implements MapFunction<Row, Row>, CheckpointedFunction {
    private static final long serialVersionUID = 1L;
    private static final long NANOS_PER_ROW = TimeUnit.MILLISECONDS.toNanos(1);

    @Override
    public Row map(Row row) {
      if (SLOW.get()) {
        LockSupport.parkNanos(NANOS_PER_ROW);
      }
      IDS.add(row.getFieldAs("id"));
      return row;
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) {
      ROWS_AT_CHECKPOINTS.add(IDS.size());
    }

    @Override
    public void initializeState(FunctionInitializationContext context) {}
  }

  private void writeFile() throws IOException {
    ArrowStreamEncoder encoder = new ArrowStreamEncoder();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(encoder.fileStart(SCHEMA));
    for (int batch = 0; batch < BATCHES; batch++) {
      long first = (long) batch * ROWS_PER_BATCH;
      List<List<Object>> rows =
          LongStream.range(first, first + ROWS_PER_BATCH)
              .mapToObj(id -> List.<Object>of(id, "name " + id))
              .toList();
      try (Table table = TableBuilder.ofRows(SCHEMA, rows).buildOnHost(device);
          AccessScope scope = AccessScope.on(device.hostStream())) {
        out.write(encoder.encode(table, scope));
      }
    }
    out.write(encoder.fileEnd());
    Files.write(folder.resolve("file.arrow"), out.toByteArray());
  }

  private FlinkJob submit(StreamExecutionEnvironment environment) throws Exception {
    ColumnStream.fromBatches(
            ArrowFileSource.batches(
                environment, List.of(folder.resolve("file.arrow").toString()), SCHEMA))
        .toRows()
        .map(new Consumer())
        .returns(Types.ROW_NAMED(new String[] {"id", "name"}, Types.LONG, Types.STRING))
        .sinkTo(new DiscardingSink<>());
    return flink.submit(environment);
  }

  private static void assertEachReadOnce() {
    assertThat(IDS.stream().sorted().toList())
        .isEqualTo(LongStream.range(0, (long) BATCHES * ROWS_PER_BATCH).boxed().toList());
  }

  @Test
  void checkpointsComeWithinARecordBatchAndJobsResumeFromThere() throws Exception {
    writeFile();
    Configuration options = new Configuration();
    options.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(INTERVAL_MILLIS));
    FlinkJob job = submit(flink.environment(1, options));
    job.awaitUntil(() -> ROWS_AT_CHECKPOINTS.size() >= CHECKPOINTS);
    String savepoint = job.stopWithSavepoint(folder.resolve("savepoints"));
    List<Integer> rows = new ArrayList<>(List.of(0));
    rows.addAll(ROWS_AT_CHECKPOINTS);
    assertThat(IntStream.range(1, rows.size()).map(i -> rows.get(i) - rows.get(i - 1)))
        .allMatch(since -> since <= 2 * INTERVAL_MILLIS);
    assertThat(IDS.size()).isPositive().isLessThan(ROWS_PER_BATCH);

    SLOW.set(false);
    Configuration restore = new Configuration();
    restore.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    submit(flink.environment(2, restore)).await();
    assertEachReadOnce();
  }

  @Test
  void recordBatchesBehindASourceThatIsNotChainedAreReadOnce() throws Exception {
    writeFile();
    SLOW.set(false);
    submit(flink.environment(1).disableOperatorChaining()).await();
    assertEachReadOnce();
  }
}

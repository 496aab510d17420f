// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.operators.window.WindowSubtasks.Snapshot;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.RunnableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.StateObjectCollection;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Windows in checkpoints, restored with any parallelism. */
@ExtendWith(NothingHeldExtension.class)
class WindowStateTest {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT64, false),
          new Field("v", DataType.INT32, false),
          new Field("ts", DataType.timestamp(3), false));
  private static final Duration SECOND = Duration.ofSeconds(1);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Job job(TimeWindow window) {
    return new Job(ROWS, List.of("k"), window, count(), sum("v"));
  }

  private static List<Object> row(long key, int value, long millis) {
    return List.of(
        key,
        value,
        LocalDateTime.ofEpochSecond(
            Math.floorDiv(millis, 1_000),
            (int) Math.floorMod(millis, 1_000L) * 1_000_000,
            ZoneOffset.UTC));
  }

  @OutOfMemoryTest
  void aRestoredWindowHasTheRowsAndTheWatermarkOfTheCheckpoint() throws Exception {
    Job job = job(Hop.over("ts", SECOND.multipliedBy(4)).every(SECOND.multipliedBy(2)));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      harness.send(0, List.of(row(1, 1, 500), row(1, 2, 2_500), row(2, 4, 5_000)));
      assertThat(harness.results(1_999)).containsExactly("[1, 1, 1] -2000..2000");
      state = harness.snapshot();
      harness.send(0, List.of(row(1, 100, 2_500)));
    }
    try (WindowHarness harness = job.restore(device, state)) {
      harness.send(0, List.of(row(3, 8, 1_500), row(3, 16, -1)));
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(harness.results(1_000)).isEmpty();
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly(
              "[1, 2, 3] 0..4000",
              "[3, 1, 8] 0..4000",
              "[1, 1, 2] 2000..6000",
              "[2, 1, 4] 2000..6000",
              "[2, 1, 4] 4000..8000");
    }
  }

  static Stream<Arguments> windows() {
    return Stream.of(
        Arguments.of(Tumble.over("ts", SECOND), new WindowModel(1_000, 1_000, false)),
        Arguments.of(
            Hop.over("ts", SECOND.multipliedBy(3)).every(SECOND),
            new WindowModel(3_000, 1_000, false)),
        Arguments.of(
            Cumulate.over("ts", SECOND.multipliedBy(4)).every(SECOND),
            new WindowModel(4_000, 1_000, true)));
  }

  @ParameterizedTest
  @MethodSource("windows")
  void windowsAreRescaledInTheirMiddle(TimeWindow window, WindowModel model) throws Exception {
    Random numbers = random.random();
    Snapshot snapshot = null;
    long now = 0;
    long late = 0;
    for (int parallelism : new int[] {2, 3, 1, 4}) {
      try (WindowSubtasks subtasks =
          WindowSubtasks.open(device, job(window), parallelism, snapshot)) {
        for (int batch = 0; batch < 12; batch++) {
          now += 300;
          List<List<Object>> rows = new ArrayList<>();
          for (int i = numbers.nextInt(40); i > 0; i--) {
            long key = numbers.nextInt(20);
            long time = now - numbers.nextInt(3_000);
            rows.add(row(key, i, time));
            model.add(key, i, time);
          }
          subtasks.send(rows);
          long watermark = now - numbers.nextInt(1_500);
          assertThat(subtasks.results(watermark))
              .as("after watermark %d", watermark)
              .containsExactlyInAnyOrderElementsOf(model.results(watermark));
        }
        late += subtasks.lateRowsDropped();
        snapshot = subtasks.snapshot();
      }
    }
    assertThat(late).isPositive().isEqualTo(model.lateRows());
  }

  @ParameterizedTest
  @MethodSource("windows")
  void aSubtaskGoesOnFromItsOwnWatermark(TimeWindow window, WindowModel model) throws Exception {
    List<List<Object>> rows = new ArrayList<>();
    for (long key = 0; key < 8; key++) {
      rows.add(row(key, 1, 500));
      model.add(key, 1, 500);
    }
    List<String> results = new ArrayList<>();
    Snapshot snapshot;
    try (WindowSubtasks subtasks = WindowSubtasks.open(device, job(window), 2, null)) {
      subtasks.send(rows);
      results.addAll(subtasks.resultsOf(0, 1_200));
      results.addAll(subtasks.resultsOf(1, 500));
      assertThat(results).hasSizeBetween(1, 7);
      snapshot = subtasks.snapshot();
    }
    try (WindowSubtasks subtasks = WindowSubtasks.open(device, job(window), 2, snapshot)) {
      results.addAll(subtasks.results(1_300));
      assertThat(results).containsExactlyInAnyOrderElementsOf(model.results(1_300));
      assertThat(subtasks.results(9_000)).containsExactlyInAnyOrderElementsOf(model.results(9_000));
    }
  }

  static Stream<Arguments> otherWindows() {
    TimeWindow hop = Hop.over("ts", SECOND.multipliedBy(4)).every(SECOND);
    TimeWindow cumulate = Cumulate.over("ts", SECOND.multipliedBy(4)).every(SECOND);
    return Stream.of(
        Arguments.of(
            job(hop),
            job(Hop.over("ts", SECOND.multipliedBy(8)).every(SECOND)),
            "expected a checkpoint of HOP(size=[8 s], slide=[1 s]) of event time,"
                + " got one of HOP(size=[4 s], slide=[1 s]) of event time"),
        Arguments.of(
            job(hop),
            job(cumulate),
            "expected a checkpoint of CUMULATE(max_size=[4 s], step=[1 s]) of event time,"
                + " got one of HOP(size=[4 s], slide=[1 s]) of event time"),
        Arguments.of(
            job(Session.over("ts", SECOND)),
            job(Session.over("ts", SECOND.multipliedBy(2))),
            "expected a checkpoint of SESSION(gap=[2 s]) of event time,"
                + " got one of SESSION(gap=[1 s]) of event time"),
        Arguments.of(
            job(Tumble.over("ts", SECOND)),
            job(Tumble.over("ts", SECOND).offset(Duration.ofMillis(1))),
            "expected a checkpoint of TUMBLE(size=[1 s], offset=[1 ms]) of event time,"
                + " got one of TUMBLE(size=[1 s]) of event time"),
        Arguments.of(
            job(Tumble.overProcessingTime(SECOND)).withZone(ZoneId.of("Asia/Shanghai")),
            job(Tumble.overProcessingTime(SECOND)).withZone(ZoneId.of("Asia/Tokyo")),
            "expected a checkpoint of TUMBLE(size=[1 s]) of processing time in Asia/Tokyo,"
                + " got one of TUMBLE(size=[1 s]) of processing time in Asia/Shanghai"),
        Arguments.of(
            job(Tumble.overProcessingTime(SECOND)),
            job(Tumble.over("ts", SECOND)),
            "expected a checkpoint of TUMBLE(size=[1 s]) of event time,"
                + " got one of TUMBLE(size=[1 s]) of processing time"),
        Arguments.of(
            job(cumulate).withAllowedLateness(SECOND),
            job(cumulate),
            "expected a checkpoint of CUMULATE(max_size=[4 s], step=[1 s]) of event time,"
                + " got one of CUMULATE(max_size=[4 s], step=[1 s]) of event time with"
                + " allowedLateness"));
  }

  @ParameterizedTest
  @MethodSource("otherWindows")
  void slicesOfOtherWindowsAreRefused(Job before, Job after, String message) throws Exception {
    OperatorSubtaskState state;
    try (WindowHarness harness = before.open(device)) {
      harness.send(0, List.of(row(1, 1, 500)));
      state = harness.snapshot();
    }
    assertThatThrownBy(() -> after.restore(device, state).close())
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(message);
    try (WindowHarness harness = before.restore(device, state)) {
      assertThat(harness.rowsInState()).isEqualTo(1);
    }
  }

  @Test
  void otherWindowsTakeACheckpointWithoutRows() throws Exception {
    OperatorSubtaskState state;
    try (WindowHarness harness = job(Tumble.over("ts", SECOND)).open(device)) {
      harness.send(0, List.of(row(1, 1, 500)));
      harness.results(1_500);
      state = harness.snapshot();
    }
    Job other = job(Tumble.over("ts", SECOND.multipliedBy(3)));
    try (WindowHarness harness = other.restore(device, state)) {
      harness.send(0, List.of(row(1, 1, 1_000)));
      state = harness.snapshot();
    }
    try (WindowHarness harness = other.restore(device, state)) {
      assertThat(harness.results(3_000)).containsExactly("[1, 1, 1] 0..3000");
    }
  }

  @Test
  void theClockOfOtherWindowsIsNoWatermark() throws Exception {
    OperatorSubtaskState state;
    try (WindowHarness harness = job(Tumble.overProcessingTime(SECOND)).open(device)) {
      harness.resultsAt(99_000);
      harness.send(0, List.of(row(1, 1, 0)));
      assertThat(harness.resultsAt(100_000)).containsExactly("[1, 1, 1] 99000..100000");
      state = harness.snapshot();
    }
    try (WindowHarness harness = job(Tumble.over("ts", SECOND)).restore(device, state)) {
      harness.send(0, List.of(row(1, 1, 500)));
      assertThat(harness.results(1_000)).containsExactly("[1, 1, 1] 0..1000");
    }
  }

  @Test
  void watermarksOfEarlierCheckpointsCount() throws Exception {
    Job job = job(Hop.over("ts", SECOND.multipliedBy(2)).every(SECOND));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      harness.send(0, List.of(row(1, 1, 500)));
      assertThat(harness.results(1_000)).containsExactly("[1, 1, 1] -1000..1000");
      state = withWatermarks(harness.snapshot(), 1_500, 1_000);
    }
    for (int restart = 0; restart < 2; restart++) {
      try (WindowHarness harness = job.restore(device, state)) {
        assertThat(harness.results(1_200)).isEmpty();
        state = harness.snapshot();
        assertThat(harness.results(2_000)).containsExactly("[1, 1, 1] 0..2000");
      }
    }
  }

  // As the first checkpoints of windows had them: without key groups.
  private static OperatorSubtaskState withWatermarks(OperatorSubtaskState state, long... watermarks)
      throws Exception {
    try (CloseableRegistry streams = new CloseableRegistry();
        OperatorStateBackend backend =
            new DefaultOperatorStateBackendBuilder(
                    WindowStateTest.class.getClassLoader(),
                    new ExecutionConfig(),
                    false,
                    List.of(),
                    streams)
                .build()) {
      backend
          .getUnionListState(new ListStateDescriptor<>("watermark", LongSerializer.INSTANCE))
          .update(LongStream.of(watermarks).boxed().toList());
      RunnableFuture<SnapshotResult<OperatorStateHandle>> snapshot =
          backend.snapshot(
              1,
              1,
              new MemCheckpointStreamFactory(1 << 20),
              CheckpointOptions.forCheckpointWithDefaultLocation());
      snapshot.run();
      return state.toBuilder()
          .setManagedOperatorState(
              StateObjectCollection.singletonOrEmpty(snapshot.get().getJobManagerOwnedSnapshot()))
          .build();
    }
  }

  // More slices than are grouped at once.
  @OutOfMemoryTest
  void timesThatAreFarApartAreSplit() throws Exception {
    try (WindowHarness harness = job(Tumble.over("ts", SECOND)).open(device)) {
      harness.send(
          0,
          List.of(
              row(1, 1, 0), row(1, 2, 1_000_000_000_000L), row(2, 4, 500), row(2, 8, -1_000_000)));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly(
              "[2, 1, 8] -1000000..-999000",
              "[1, 1, 1] 0..1000",
              "[2, 1, 4] 0..1000",
              "[1, 1, 2] 1000000000000..1000000001000");
    }
  }

  @Test
  void stateOfPastSlicesIsGivenUp() throws Exception {
    try (WindowHarness harness =
        job(Hop.over("ts", SECOND.multipliedBy(2)).every(SECOND)).open(device)) {
      long held = 0;
      for (int second = 0; second < 20; second++) {
        harness.send(0, List.of(row(1, 1, second * 1_000L)));
        harness.watermark(second * 1_000L + 999);
        if (second == 3) {
          held = DeviceContext.heldBytes(device.device());
        }
      }
      assertThat(DeviceContext.heldBytes(device.device())).isEqualTo(held);
    }
  }
}

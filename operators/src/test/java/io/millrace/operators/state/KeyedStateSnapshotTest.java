// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.stream.IntStream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class KeyedStateSnapshotTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("key", DataType.INT64, false),
          Field.of("value", DataType.INT32),
          new Field("other", DataType.INT64, false));
  private static final Job JOB = new Job(SCHEMA, List.of("key"), count(), sum("value"));

  /**
   * The row count of the last batch is held until the device has told it and another batch comes.
   */
  private static final Offset<Long> ROW_COUNT = within((long) Integer.BYTES);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static List<List<?>> rows(long from, long to, int value) {
    List<List<?>> rows = new ArrayList<>();
    for (long key = from; key < to; key++) {
      rows.add(List.of(key, value, key));
    }
    return rows;
  }

  @OutOfMemoryTest
  void aSnapshotHasTheStateOfItsMoment() throws Exception {
    OperatorSubtaskState first;
    OperatorSubtaskState second;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 4, 10));
      OperatorSnapshotFutures earlier = harness.beginSnapshot();
      harness.send(2, rows(2, 6, 100));
      OperatorSnapshotFutures later = harness.beginSnapshot();
      harness.send(3, rows(0, 8, 1000));
      second = GroupAggregateHarness.write(later);
      harness.send(4, rows(0, 8, 1000));
      first = GroupAggregateHarness.write(earlier);
    }
    try (GroupAggregateHarness harness = JOB.restore(device, first)) {
      assertThat(harness.changes(List.of(3L, 1, 0L), List.of(4L, 1, 0L)))
          .containsExactly("-U[3, 1, 10]", "+U[3, 2, 11]", "+I[4, 1, 1]");
    }
    try (GroupAggregateHarness harness = JOB.restore(device, second)) {
      assertThat(harness.changes(List.of(3L, 1, 0L), List.of(5L, 1, 0L), List.of(6L, 1, 0L)))
          .containsExactly(
              "-U[3, 2, 110]", "+U[3, 3, 111]", "-U[5, 1, 100]", "+U[5, 2, 101]", "+I[6, 1, 1]");
    }
  }

  @OutOfMemoryTest
  void aSnapshotIsACopyWithoutCopyOnWrite() throws Exception {
    Job job = JOB.withOptions(Map.of("millrace.copy-on-write", "false"));
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = job.open(device)) {
      harness.send(1, rows(0, 4, 10));
      OperatorSnapshotFutures snapshot = harness.beginSnapshot();
      harness.send(2, rows(2, 6, 100));
      state = GroupAggregateHarness.write(snapshot);
    }
    try (GroupAggregateHarness harness = job.restore(device, state)) {
      assertThat(harness.changes(List.of(3L, 1, 0L), List.of(4L, 1, 0L)))
          .containsExactly("-U[3, 1, 10]", "+U[3, 2, 11]", "+I[4, 1, 1]");
    }
  }

  @OutOfMemoryTest
  void keysThatMayBeNullAreRestored() throws Exception {
    Job job = new Job(SCHEMA, List.of("value", "key"), sum("other"));
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = job.open(device)) {
      harness.send(1, List.of(asList(1L, null, 5L), List.of(1L, 0, 6L)));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = job.restore(device, state)) {
      assertThat(harness.changes(List.of(1L, 0, 1L), asList(1L, null, 1L)))
          .containsExactly("-U[0, 1, 6]", "+U[0, 1, 7]", "-U[null, 1, 5]", "+U[null, 1, 6]");
    }
  }

  // A chunk has 16384 rows of this many sums.
  @OutOfMemoryTest(attempts = 1)
  void stateGrowsByChunks() throws Exception {
    Aggregate[] sums =
        IntStream.range(0, 28)
            .mapToObj(i -> sum(col("other").plus(i)).as("s" + i))
            .toArray(Aggregate[]::new);
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.withAggregates(sums).open(device)) {
      harness.send(1, rows(0, 16_400, 1));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.withAggregates(sums).restore(device, state)) {
      harness.send(1, rows(16_399, 16_401, 1));
      assertThat(harness.takeRows())
          .satisfiesExactly(
              row -> assertThat(row).startsWith(16_399L, 16_399L, 16_400L),
              row -> assertThat(row).startsWith(16_399L, 2 * 16_399L, 2 * 16_400L),
              row -> assertThat(row).startsWith(16_400L, 16_400L, 16_401L));
    }
  }

  @Test
  void aSnapshotOfSeveralChunksHasTheStateOfItsMoment() throws Exception {
    int keys = 150_000;
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      for (int from = 0; from < keys; from += 50_000) {
        harness.send(1, rows(from, from + 50_000, 1));
      }
      OperatorSnapshotFutures snapshot = harness.beginSnapshot();
      harness.send(2, rows(100_000, 200_000, 5));
      state = GroupAggregateHarness.write(snapshot);
    }
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      harness.send(3, rows(0, 200_000, 2));
      List<List<Object>> changes = harness.takeRows();
      assertThat(changes).hasSize(2 * keys + 50_000);
      for (int i = 0; i < keys; i++) {
        assertThat(changes.get(2 * i)).startsWith((long) i, 1L, 1);
        assertThat(changes.get(2 * i + 1)).startsWith((long) i, 2L, 3);
      }
      assertThat(changes.get(2 * keys)).startsWith((long) keys, 1L, 2);
    }
  }

  @Test
  void emptyStateIsRestored() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      assertThat(harness.changes(List.of(1L, 1, 0L))).containsExactly("+I[1, 1, 1]");
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      assertThat(harness.changes(List.of(1L, 1, 0L))).containsExactly("-U[1, 1, 1]", "+U[1, 2, 2]");
    }
    try (GroupAggregateHarness harness =
        JOB.restore(device, OperatorSubtaskState.builder().build())) {
      assertThat(harness.changes(List.of(1L, 1, 0L))).containsExactly("+I[1, 1, 1]");
    }
  }

  private static RunnableFuture<SnapshotResult<KeyedStateHandle>> future(
      OperatorSnapshotFutures snapshot) {
    return snapshot.getKeyedStateRawFuture();
  }

  private static long heldBytes() {
    return DeviceContext.heldBytes(Device.current());
  }

  @Test
  void aSnapshotThatIsCanceledBeforeItBeginsReleasesItsChunks() throws Exception {
    OperatorSnapshotFutures snapshot;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 1000, 1));
      long before = heldBytes();
      snapshot = harness.beginSnapshot();
      harness.send(2, rows(0, 10, 1));
      assertThat(heldBytes()).as("with a copy of the chunk").isNotCloseTo(before, ROW_COUNT);
      snapshot.cancel();
      harness.send(3, rows(0, 10, 1));
      assertThat(heldBytes()).isCloseTo(before, ROW_COUNT);
      assertThatThrownBy(() -> future(snapshot).get()).isInstanceOf(CancellationException.class);
      future(snapshot).run();
    }
    assertThat(heldBytes()).isZero();
    snapshot.cancel();
  }

  @Test
  void aSnapshotThatIsCanceledAfterItsEndGivesItsStateUp() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 1000, 1));
      long before = heldBytes();
      OperatorSnapshotFutures snapshot = harness.beginSnapshot();
      future(snapshot).run();
      snapshot.cancel();
      harness.send(2, rows(0, 10, 1));
      assertThat(heldBytes()).isCloseTo(before, ROW_COUNT);
    }
  }

  private static Thread start(OperatorSnapshotFutures snapshot) {
    Thread thread = new Thread(future(snapshot));
    thread.start();
    return thread;
  }

  @Test
  void aSnapshotThatIsCanceledWhileItIsWrittenReleasesItsChunks() throws Exception {
    WaitingStreams streams = new WaitingStreams();
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 1000, 1));
      long before = heldBytes();
      OperatorSnapshotFutures snapshot = harness.beginSnapshot(streams);
      Thread writer = start(snapshot);
      streams.awaitBegin();
      snapshot.cancel();
      writer.join();
      assertThatThrownBy(() -> future(snapshot).get()).isInstanceOf(CancellationException.class);
      harness.send(2, rows(0, 10, 1));
      assertThat(heldBytes()).isCloseTo(before, ROW_COUNT);
    }
  }

  @Test
  void aSnapshotThatIsWrittenWhileTheOperatorClosesIsWhole() throws Exception {
    WaitingStreams streams = new WaitingStreams();
    OperatorSnapshotFutures snapshot;
    Thread writer;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 1000, 1));
      snapshot = harness.beginSnapshot(streams);
      harness.send(2, rows(0, 1000, 1));
      writer = start(snapshot);
      streams.awaitBegin();
      harness.closeOperator();
      assertThat(heldBytes()).as("the snapshot's chunk").isPositive();
      streams.goOn();
      writer.join();
      assertThat(heldBytes()).isZero();
    }
    OperatorSubtaskState state =
        OperatorSubtaskState.builder()
            .setRawKeyedState(future(snapshot).get().getJobManagerOwnedSnapshot())
            .build();
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      assertThat(harness.changes(List.of(999L, 1, 0L), List.of(1000L, 1, 0L)))
          .containsExactly("-U[999, 1, 1]", "+U[999, 2, 2]", "+I[1000, 1, 1]");
    }
  }

  @Test
  void aTaskThatIsCanceledEndsItsSnapshots() throws Exception {
    WaitingStreams streams = new WaitingStreams();
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 1000, 1));
      OperatorSnapshotFutures notBegun = harness.beginSnapshot();
      OperatorSnapshotFutures begun = harness.beginSnapshot(streams);
      Thread writer = start(begun);
      streams.awaitBegin();
      harness.cancelables().close();
      writer.join();
      assertThat(future(notBegun)).isCancelled();
      assertThat(future(begun)).isCancelled();
      assertThatThrownBy(harness::beginSnapshot).hasRootCauseInstanceOf(IOException.class);
    }
  }

  @Test
  void aCheckpointThatCannotBeWrittenFailsAndReleasesItsChunks() throws Exception {
    WaitingStreams streams = new WaitingStreams();
    streams.close();
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 1000, 1));
      long before = heldBytes();
      OperatorSnapshotFutures snapshot = harness.beginSnapshot(streams);
      future(snapshot).run();
      assertThatThrownBy(() -> future(snapshot).get())
          .isInstanceOf(ExecutionException.class)
          .hasRootCauseMessage("the stream is closed");
      harness.send(2, rows(0, 10, 1));
      assertThat(heldBytes()).isCloseTo(before, ROW_COUNT);
    }
  }
}

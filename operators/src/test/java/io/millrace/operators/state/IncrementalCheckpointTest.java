// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(NothingHeldExtension.class)
class IncrementalCheckpointTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));
  static final Job JOB =
      new Job(SCHEMA, List.of("key"), count(), sum("value"))
          .withOptions(Map.of("execution.checkpointing.incremental", "true"));
  static final long PAGE_ROWS = 8192;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();
  @TempDir Path temporary;

  static List<List<Object>> rows(long from, long to, long value) {
    List<List<Object>> rows = new ArrayList<>();
    for (long key = from; key < to; key++) {
      rows.add(List.of(key, value));
    }
    return rows;
  }

  private static OperatorSubtaskState write(
      GroupAggregateHarness harness, CheckpointFolder folder, long checkpoint) throws Exception {
    return write(harness, folder, checkpoint, CheckpointType.CHECKPOINT);
  }

  private static OperatorSubtaskState write(
      GroupAggregateHarness harness, CheckpointFolder folder, long checkpoint, SnapshotType type)
      throws Exception {
    return GroupAggregateHarness.write(
        harness.beginSnapshot(checkpoint, type, folder.streams(checkpoint)));
  }

  static OperatorSubtaskState take(
      GroupAggregateHarness harness, CheckpointFolder folder, long checkpoint) throws Exception {
    OperatorSubtaskState state = write(harness, folder, checkpoint);
    folder.complete(checkpoint, state);
    harness.notifyComplete(checkpoint);
    return state;
  }

  static IncrementalRemoteKeyedStateHandle handle(OperatorSubtaskState state) {
    return (IncrementalRemoteKeyedStateHandle) state.getManagedKeyedState().iterator().next();
  }

  private static Set<String> paths(OperatorSubtaskState state) {
    return handle(state).getSharedState().stream()
        .map(HandleAndLocalPath::getLocalPath)
        .collect(Collectors.toSet());
  }

  @OutOfMemoryTest(attempts = 1)
  void pagesThatDidNotChangeAreNotWrittenAgain() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    OperatorSubtaskState first;
    OperatorSubtaskState second;
    OperatorSubtaskState third;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 5 * PAGE_ROWS, 1));
      first = take(harness, folder, 1);
      harness.send(2, rows(PAGE_ROWS, PAGE_ROWS + 1, 10));
      second = take(harness, folder, 2);
      harness.send(3, rows(5 * PAGE_ROWS - 1, 5 * PAGE_ROWS + 1, 100));
      third = take(harness, folder, 3);
      harness.send(4, rows(0, 6 * PAGE_ROWS, 1000));
    }
    long page = 32 * PAGE_ROWS;
    assertThat(handle(first).getCheckpointedSize()).isBetween(5 * page, 5 * page + 1000);
    assertThat(handle(second).getCheckpointedSize()).isBetween(page, page + 1000);
    assertThat(handle(third).getCheckpointedSize()).isBetween(page, page + 1000);
    assertThat(handle(third).getStateSize()).isBetween(7 * page, 7 * page + 2000);
    try (GroupAggregateHarness harness = JOB.restore(device, first)) {
      assertThat(harness.changes(List.of(PAGE_ROWS, 1L), List.of(5 * PAGE_ROWS, 1L)))
          .containsExactly("-U[8192, 1, 1]", "+U[8192, 2, 2]", "+I[40960, 1, 1]");
    }
    try (GroupAggregateHarness harness = JOB.restore(device, second)) {
      assertThat(harness.changes(List.of(PAGE_ROWS, 1L), List.of(5 * PAGE_ROWS, 1L)))
          .containsExactly("-U[8192, 2, 11]", "+U[8192, 3, 12]", "+I[40960, 1, 1]");
    }
    folder.subsume(3);
    try (GroupAggregateHarness harness = JOB.restore(device, third)) {
      assertThat(
              harness.changes(List.of(0L, 1L), List.of(PAGE_ROWS, 1L), List.of(5 * PAGE_ROWS, 1L)))
          .containsExactly(
              "-U[0, 1, 1]",
              "+U[0, 2, 2]",
              "-U[8192, 2, 11]",
              "+U[8192, 3, 12]",
              "-U[40960, 1, 100]",
              "+U[40960, 2, 101]");
    }
  }

  @Test
  void aCheckpointOfFewChangedPagesIsSmall() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    long pages = 100;
    OperatorSubtaskState full;
    OperatorSubtaskState small;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      for (long page = 0; page < pages; page += 10) {
        harness.send(1, rows(page * PAGE_ROWS, (page + 10) * PAGE_ROWS, 1));
      }
      full = take(harness, folder, 1);
      harness.send(2, rows(50 * PAGE_ROWS, 51 * PAGE_ROWS, 1));
      small = take(harness, folder, 2);
    }
    long fullBytes = handle(full).getCheckpointedSize();
    long smallBytes = handle(small).getCheckpointedSize();
    System.out.printf(
        "1 of %d pages changed: %d of %d bytes are written, %.2f %%%n",
        pages, smallBytes, fullBytes, 100.0 * smallBytes / fullBytes);
    assertThat(20 * smallBytes).isLessThan(fullBytes);
    assertThat(handle(small).getStateSize()).isBetween(fullBytes, fullBytes * 102 / 100);
  }

  @OutOfMemoryTest(attempts = 1)
  void filesOfCheckpointsThatDidNotCompleteAreNotReferredTo() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 10, 1));
      OperatorSubtaskState aborted = write(harness, folder, 1);
      harness.send(2, rows(0, 1, 1));
      OperatorSubtaskState concurrent = write(harness, folder, 2);
      aborted.discardState();
      harness.notifyAborted(1);
      assertThat(folder.sharedFiles()).hasSize(1);
      state = take(harness, folder, 3);
      assertThat(folder.sharedFiles()).hasSize(2);
      concurrent.discardState();
      harness.notifyAborted(2);
      OperatorSubtaskState same = take(harness, folder, 4);
      assertThat(paths(same)).isEqualTo(paths(state));
      assertThat(folder.sharedFiles()).hasSize(1);
      folder.subsume(4);
      state = same;
    }
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      assertThat(harness.changes(List.of(0L, 1L), List.of(9L, 1L)))
          .containsExactly("-U[0, 2, 2]", "+U[0, 3, 3]", "-U[9, 1, 1]", "+U[9, 2, 2]");
    }
  }

  @Test
  void savepointsAndFullCheckpointsReferToNoEarlierFile() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    OperatorSubtaskState savepoint;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 10, 1));
      OperatorSubtaskState first = take(harness, folder, 1);
      savepoint = write(harness, folder, 2, SavepointType.savepoint(SavepointFormatType.CANONICAL));
      harness.notifyComplete(2);
      assertThat(savepoint.getManagedKeyedState()).isEmpty();
      assertThat(savepoint.getRawKeyedState()).hasSize(1);
      assertThat(
              write(harness, folder, 3, SavepointType.savepoint(SavepointFormatType.NATIVE))
                  .getRawKeyedState())
          .hasSize(1);
      assertThat(paths(take(harness, folder, 4))).isEqualTo(paths(first));
      OperatorSubtaskState full = write(harness, folder, 5, CheckpointType.FULL_CHECKPOINT);
      assertThat(paths(full)).doesNotContainAnyElementsOf(paths(first));
      folder.complete(5, full);
      harness.notifyComplete(5);
      assertThat(paths(take(harness, folder, 6))).isEqualTo(paths(full));
    }
    try (GroupAggregateHarness harness = JOB.restore(device, savepoint)) {
      assertThat(harness.changes(List.of(9L, 1L))).containsExactly("-U[9, 1, 1]", "+U[9, 2, 2]");
    }
  }

  @Test
  void filesTakeAtMostTwiceTheBytesOfThePages() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    int pages = 12;
    Random numbers = random.random();
    long[] counts = new long[pages];
    OperatorSubtaskState state = null;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(0, rows(0, pages * PAGE_ROWS, 0));
      for (int checkpoint = 1; checkpoint <= 150; checkpoint++) {
        for (int i = numbers.nextInt(3); i > 0; i--) {
          int page = numbers.nextInt(pages);
          counts[page]++;
          harness.send(1, rows(page * PAGE_ROWS, page * PAGE_ROWS + 1, 1));
        }
        state = take(harness, folder, checkpoint);
        folder.subsume(checkpoint);
        assertThat(folder.sharedBytes())
            .isEqualTo(
                handle(state).getSharedState().stream()
                    .mapToLong(HandleAndLocalPath::getStateSize)
                    .sum())
            .isLessThanOrEqualTo(2L * pages * PAGE_ROWS * 32 + 10_000);
      }
    }
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      for (long page = 0; page < pages; page++) {
        long count = counts[(int) page];
        assertThat(harness.changes(List.of(page * PAGE_ROWS, 0L)))
            .first()
            .asString()
            .endsWith(", " + (count + 1) + ", " + count + "]");
      }
    }
  }

  @Test
  void thereAreFewFiles() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    int pages = 90;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      for (int page = 0; page < pages; page++) {
        harness.send(0, rows(page * PAGE_ROWS, (page + 1) * PAGE_ROWS, 0));
        OperatorSubtaskState state = take(harness, folder, page + 1);
        folder.subsume(page + 1);
        assertThat(handle(state).getSharedState()).hasSizeLessThanOrEqualTo(65);
      }
      assertThat(folder.sharedFiles()).hasSizeBetween(33, 65);
    }
  }

  @Test
  void filesThatWereGivenUpStaySoIfTheNoticeOfCompletionIsLate() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    int files = 65;
    OperatorSubtaskState base = null;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      for (int page = 0; page < files; page++) {
        harness.send(0, rows(page * PAGE_ROWS, (page + 1) * PAGE_ROWS, 0));
        base = take(harness, folder, page + 1);
      }
      assertThat(paths(base)).hasSize(files);
      OperatorSubtaskState completed = write(harness, folder, files + 1);
      harness.send(1, rows(0, 1, 1));
      OperatorSubtaskState next = write(harness, folder, files + 2);
      Set<String> givenUp = paths(base);
      givenUp.removeAll(paths(completed));
      assertThat(givenUp).isNotEmpty();
      assertThat(paths(next)).doesNotContainAnyElementsOf(givenUp);
    }
  }

  @Test
  void aWriteThatFailsOrIsCanceledLeavesNoFile() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 2 * PAGE_ROWS, 1));
      harness.send(1, rows(0, 1, 1));
      long before = DeviceContext.heldBytes(Device.current());
      for (int writes = 0; writes < 14; writes++) {
        FailingStreams streams = new FailingStreams(folder.streams(1), writes);
        OperatorSnapshotFutures snapshot =
            harness.beginSnapshot(1, CheckpointType.CHECKPOINT, streams);
        assertThatThrownBy(() -> GroupAggregateHarness.write(snapshot))
            .as("after %d writes", writes)
            .hasRootCauseMessage("the disk is full");
        assertThat(folder.sharedFiles()).isEmpty();
      }
      OperatorSnapshotFutures canceled =
          harness.beginSnapshot(1, CheckpointType.CHECKPOINT, folder.streams(1));
      canceled.cancel();
      OperatorSnapshotFutures written =
          harness.beginSnapshot(1, CheckpointType.CHECKPOINT, folder.streams(1));
      written.getKeyedStateManagedFuture().run();
      assertThat(folder.sharedFiles()).hasSize(1);
      written.cancel();
      assertThat(folder.sharedFiles()).isEmpty();
      harness.send(2, rows(0, 1, 1));
      assertThat(DeviceContext.heldBytes(Device.current())).isEqualTo(before);
    }
  }

  @Test
  void spilledStateIsWritten() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    Map<String, String> options = new HashMap<>(JOB.options());
    options.put("millrace.spill.device-limit", "5 mb");
    options.put("millrace.spill.host-limit", "1 mb");
    Job limited = JOB.withOptions(options);
    OperatorSubtaskState state;
    try (GroupAggregateHarness first = limited.open(device);
        GroupAggregateHarness second = limited.open(device)) {
      first.send(1, rows(0, 5 * PAGE_ROWS, 1));
      second.send(1, rows(0, 5 * PAGE_ROWS, 1));
      take(first, folder, 1);
      first.send(1, rows(PAGE_ROWS, PAGE_ROWS + 1, 1));
      second.send(1, rows(0, 5 * PAGE_ROWS, 1));
      assertThat(DeviceContext.spilledBytes(Device.current())).isPositive();
      state = take(first, folder, 2);
      assertThat(handle(state).getCheckpointedSize()).isLessThan(2 * 32 * PAGE_ROWS);
    }
    try (GroupAggregateHarness restored = JOB.restore(device, state)) {
      assertThat(restored.changes(List.of(PAGE_ROWS, 1L), List.of(PAGE_ROWS + 1, 1L)))
          .containsExactly("-U[8192, 2, 2]", "+U[8192, 3, 3]", "-U[8193, 1, 1]", "+U[8193, 2, 2]");
    }
  }
}

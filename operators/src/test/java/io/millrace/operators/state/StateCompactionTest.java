// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The rows of keys all of whose rows were taken back are removed from state. */
@ExtendWith(NothingHeldExtension.class)
class StateCompactionTest {
  private static final Schema CHANGES =
      RowKindColumn.addTo(
          Schema.of(new Field("k", DataType.STRING, false), Field.of("x", DataType.INT64)));
  private static final Job JOB =
      new Job(CHANGES, List.of("k"), sum("x").as("sum"), count().as("n"));
  private static final int KEYS = (int) StateCompaction.MIN_ROWS;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static List<List<?>> rows(int first, int end, RowKind kind) {
    List<List<?>> rows = new ArrayList<>();
    for (long key = first; key < end; key++) {
      rows.add(List.of("a key of more than 12 bytes " + key, key, kind.toByteValue()));
    }
    return rows;
  }

  private static List<?> row(long key, long value, RowKind kind) {
    return List.of("a key of more than 12 bytes " + key, value, kind.toByteValue());
  }

  @OutOfMemoryTest
  void rowsOfDeletedKeysAreRemovedOnceTheyAreHalf() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, KEYS - 1, RowKind.INSERT));
      harness.send(2, rows(1, KEYS - 1, RowKind.DELETE));
      assertThat(harness.rowsInState()).isEqualTo(KEYS - 1);
      harness.takeChanges();
      assertThat(harness.changes(row(KEYS, 7, RowKind.INSERT)))
          .containsExactly("+I[a key of more than 12 bytes " + KEYS + ", 7, 1]");
      assertThat(harness.rowsInState()).isEqualTo(2);
      assertThat(harness.changes(row(0, 5, RowKind.INSERT), row(1, 6, RowKind.INSERT)))
          .containsExactly(
              "-U[a key of more than 12 bytes 0, 0, 1]",
              "+U[a key of more than 12 bytes 0, 5, 2]",
              "+I[a key of more than 12 bytes 1, 6, 1]");
    }
  }

  // As of a batch whose other part is still to come.
  @Test
  void aKeyWithoutRowsThatHasASumStays() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, KEYS - 1, RowKind.INSERT));
      harness.send(2, rows(2, KEYS - 1, RowKind.DELETE));
      harness.send(3, List.of(row(1, 3, RowKind.DELETE), row(KEYS, 7, RowKind.INSERT)));
      assertThat(harness.rowsInState()).isEqualTo(3);
      harness.takeChanges();
      assertThat(harness.changes(row(1, 5, RowKind.INSERT)))
          .containsExactly("+I[a key of more than 12 bytes 1, 3, 1]");
    }
  }

  @Test
  void rowsStayWhileMoreThanHalfOfTheKeysAreThere() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, KEYS, RowKind.INSERT));
      harness.send(2, rows(0, KEYS, RowKind.DELETE));
      assertThat(harness.rowsInState()).as("looked at behind the first batch").isEqualTo(KEYS);
      harness.send(3, rows(KEYS, 2 * KEYS, RowKind.INSERT));
      assertThat(harness.rowsInState()).as("looked at with twice as many").isEqualTo(KEYS);
      harness.send(4, rows(KEYS + 1, 3 * KEYS / 2, RowKind.DELETE));
      harness.send(5, rows(2 * KEYS, 3 * KEYS, RowKind.INSERT));
      int present = 3 * KEYS / 2 + 1;
      assertThat(harness.rowsInState()).as("more than half are present").isEqualTo(2 * KEYS);
      harness.send(6, rows(3 * KEYS / 2, 2 * KEYS, RowKind.DELETE));
      harness.send(7, rows(3 * KEYS, 3 * KEYS + present, RowKind.INSERT));
      assertThat(harness.rowsInState())
          .as("looked at with as many more as were present")
          .isEqualTo(2 * KEYS + present);
    }
  }

  @Test
  void aCheckpointKeepsItsMoment() throws Exception {
    OperatorSubtaskState before;
    OperatorSubtaskState after;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, KEYS - 1, RowKind.INSERT));
      OperatorSnapshotFutures snapshot = harness.beginSnapshot();
      harness.send(2, rows(1, KEYS - 1, RowKind.DELETE));
      harness.send(3, rows(KEYS, KEYS + 1, RowKind.INSERT));
      assertThat(harness.rowsInState()).isEqualTo(2);
      before = GroupAggregateHarness.write(snapshot);
      after = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.restore(device, before)) {
      assertThat(harness.rowsInState()).isEqualTo(KEYS - 1);
      assertThat(harness.changes(row(3, 4, RowKind.INSERT)))
          .containsExactly(
              "-U[a key of more than 12 bytes 3, 3, 1]", "+U[a key of more than 12 bytes 3, 7, 2]");
    }
    try (GroupAggregateHarness harness = JOB.restore(device, after)) {
      assertThat(harness.rowsInState()).isEqualTo(2);
      assertThat(harness.changes(row(3, 4, RowKind.INSERT)))
          .containsExactly("+I[a key of more than 12 bytes 3, 4, 1]");
    }
  }

  @Test
  void rowsThatExpireAreLeftToTheirTime() throws Exception {
    Job job = JOB.withStateTtl(Duration.ofHours(1));
    try (GroupAggregateHarness harness = job.open(device)) {
      harness.send(1, rows(0, KEYS, RowKind.INSERT));
      harness.send(2, rows(0, KEYS, RowKind.DELETE));
      harness.send(3, rows(KEYS, 2 * KEYS, RowKind.INSERT));
      assertThat(harness.rowsInState()).isEqualTo(2 * KEYS);
    }
  }
}

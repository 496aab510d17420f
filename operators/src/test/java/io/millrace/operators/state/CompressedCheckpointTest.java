// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.state.IncrementalCheckpointTest.JOB;
import static io.millrace.operators.state.IncrementalCheckpointTest.PAGE_ROWS;
import static io.millrace.operators.state.IncrementalCheckpointTest.handle;
import static io.millrace.operators.state.IncrementalCheckpointTest.rows;
import static io.millrace.operators.state.IncrementalCheckpointTest.take;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(NothingHeldExtension.class)
class CompressedCheckpointTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @TempDir Path temporary;

  private static Job compressed(Job job) {
    Map<String, String> options = new HashMap<>(job.options());
    options.put(ExecutionOptions.SNAPSHOT_COMPRESSION.key(), "true");
    return job.withOptions(options);
  }

  @Test
  void pagesAreCompressedAndThoseOfEarlierCheckpointsStay() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    OperatorSubtaskState first;
    OperatorSubtaskState second;
    try (GroupAggregateHarness harness = compressed(JOB).open(device)) {
      harness.send(1, rows(0, 4 * PAGE_ROWS, 1));
      first = take(harness, folder, 1);
      harness.send(2, rows(PAGE_ROWS, PAGE_ROWS + 1, 10));
      second = take(harness, folder, 2);
    }
    long page = 32 * PAGE_ROWS;
    assertThat(handle(first).getCheckpointedSize()).isBetween(4000L, 2 * page);
    assertThat(handle(second).getCheckpointedSize()).isBetween(1000L, page / 2);
    // The option may change between a checkpoint and its restore.
    try (GroupAggregateHarness harness = JOB.restore(device, second)) {
      assertThat(harness.changes(List.of(PAGE_ROWS, 1L), List.of(0L, 1L), List.of(-1L, 1L)))
          .containsExactly(
              "-U[8192, 2, 11]", "+U[8192, 3, 12]", "-U[0, 1, 1]", "+U[0, 2, 2]", "+I[-1, 1, 1]");
    }
  }

  @Test
  void stringsAreCompressedAndRandomBytesAreNot() throws Exception {
    Schema schema =
        Schema.of(Field.of("text", DataType.STRING), Field.of("bytes", DataType.BINARY));
    Job job = new Job(schema, List.of("text", "bytes"), count());
    Random random = new Random(7);
    byte[] noise = new byte[9 << 20];
    random.nextBytes(noise);
    List<List<?>> rows = new ArrayList<>();
    rows.add(List.of("millrace ".repeat(1 << 20), ByteBuffer.wrap(noise)));
    rows.add(List.of("", ByteBuffer.wrap(new byte[0])));
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = compressed(job).open(device)) {
      harness.send(1, rows);
      state = harness.snapshot();
    }
    assertThat(state.getStateSize()).isBetween((long) noise.length, noise.length + 100_000L);
    try (GroupAggregateHarness harness = job.restore(device, state)) {
      List<String> changes = harness.changes(rows.toArray(List<?>[]::new));
      assertThat(changes).hasSize(4);
      assertThat(changes.get(1)).startsWith("+U[millrace millrace ").endsWith(", 2]");
      assertThat(changes.get(3)).endsWith(", 2]");
    }
  }
}

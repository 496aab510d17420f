// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import io.millrace.column.Schema;
import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.operators.state.StateTtl;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.types.RowKind;

/** A subtask of a {@link DeduplicateOperator} that gets batches and emits rows as text. */
final class DeduplicateHarness extends KeyedOperatorHarness {
  private final Job job;

  private DeduplicateHarness(DeviceExtension device, Job job, MockEnvironment environment)
      throws Exception {
    super(
        device,
        job.schema,
        job.plan().outputSchema(),
        DeduplicateOperator.factory(job.plan()),
        environment);
    this.job = job;
  }

  /** The job that the subtask is part of. */
  record Job(Schema schema, List<String> keys, Deduplication deduplication, StateTtl stateTtl) {

    Job(Schema schema, List<String> keys, Deduplication deduplication) {
      this(schema, keys, deduplication, StateTtl.NONE);
    }

    DeduplicatePlan plan() {
      return new DeduplicatePlan(schema, keys, deduplication, stateTtl);
    }

    /** The only subtask, with empty state. */
    DeduplicateHarness open(DeviceExtension device) throws Exception {
      return restore(device, 0, 1, null);
    }

    /**
     * A subtask.
     *
     * @param state its part of a checkpoint; null to start without a checkpoint
     */
    DeduplicateHarness restore(
        DeviceExtension device, int subtask, int parallelism, OperatorSubtaskState state)
        throws Exception {
      DeduplicateHarness harness =
          new DeduplicateHarness(device, this, environment(subtask, parallelism, Map.of()));
      harness.start(state);
      return harness;
    }
  }

  /** Sends a batch and returns the rows that come out, as {@link #takeTexts} does. */
  List<String> results(List<?>... rows) throws Exception {
    send(0, List.of(rows));
    return takeTexts();
  }

  /** The rows since the last call, such as {@code [1, a]}, or {@code +I[1, a]} of a changelog. */
  List<String> takeTexts() {
    return takeRows().stream().map(this::text).toList();
  }

  private String text(List<Object> row) {
    if (!job.deduplication.isChangelog()) {
      return row.toString();
    }
    int last = row.size() - 1;
    RowKind kind = RowKind.fromByteValue((Byte) row.get(last));
    return kind.shortString() + row.subList(0, last);
  }
}

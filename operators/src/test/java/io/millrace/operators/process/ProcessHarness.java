// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Schema;
import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.operators.state.StateTtl;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;

/** A subtask of a {@link ProcessOperator} that gets batches. */
final class ProcessHarness extends KeyedOperatorHarness {
  private ProcessHarness(
      DeviceExtension device, Schema schema, ProcessPlan plan, MockEnvironment environment)
      throws Exception {
    super(device, schema, plan.outputSchema(), ProcessOperator.factory(plan), environment);
  }

  /** The job that the subtask is part of; its key columns are the first. */
  record Job(
      Schema schema,
      List<String> keys,
      KeyedBatchFunction function,
      StateTtl stateTtl,
      EntryScan.Limits limits) {

    Job(Schema schema, List<String> keys, KeyedBatchFunction function) {
      this(schema, keys, function, StateTtl.NONE);
    }

    Job(Schema schema, List<String> keys, KeyedBatchFunction function, StateTtl stateTtl) {
      this(schema, keys, function, stateTtl, EntryScan.Limits.DEFAULT);
    }

    Job withLimits(EntryScan.Limits other) {
      return new Job(schema, keys, function, stateTtl, other);
    }

    ProcessPlan plan() {
      return new ProcessPlan(schema, keys, function, stateTtl, limits);
    }

    /** The only subtask, with empty state. */
    ProcessHarness open(DeviceExtension device) throws Exception {
      return restore(device, 0, 1, null);
    }

    /**
     * A subtask.
     *
     * @param state its part of a checkpoint; null to start without a checkpoint
     */
    ProcessHarness restore(
        DeviceExtension device, int subtask, int parallelism, OperatorSubtaskState state)
        throws Exception {
      ProcessHarness harness =
          new ProcessHarness(device, schema, plan(), environment(subtask, parallelism, Map.of()));
      harness.start(state);
      return harness;
    }
  }

  /** Sends a batch and returns the rows that come out, as text. */
  List<String> results(List<?>... rows) throws Exception {
    send(0, List.of(rows));
    return takeTexts();
  }

  /** The rows since the last call, such as {@code [1, a]}. */
  List<String> takeTexts() {
    return takeRows().stream().map(List::toString).toList();
  }
}

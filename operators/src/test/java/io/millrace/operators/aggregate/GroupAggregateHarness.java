// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.types.RowKind;

/** A subtask of a {@link GroupAggregateOperator} that gets batches and emits changes as text. */
public final class GroupAggregateHarness extends KeyedOperatorHarness {
  private GroupAggregateHarness(DeviceExtension device, Job job, MockEnvironment environment)
      throws Exception {
    super(
        device,
        job.batchSchema(),
        job.plan().outputSchema(),
        (job.isTwoPhase
                ? GroupAggregateOperator.factory(job.twoPhasePlan())
                : GroupAggregateOperator.factory(job.plan()))
            .withKeyHash(job.keyHash),
        environment);
  }

  /**
   * The job that the subtask is part of.
   *
   * @param options of the TaskManager
   * @param isTwoPhase whether batches have the output of {@link #openFirstPhase}
   * @param keyHash by which the exchange sends rows
   * @param givesUpdateBefore whether updates have the row before them too
   */
  public record Job(
      Schema schema,
      List<String> keys,
      List<Aggregate> aggregates,
      Map<String, String> options,
      StateTtl stateTtl,
      boolean isTwoPhase,
      HashFunction keyHash,
      boolean givesUpdateBefore) {

    public Job(Schema schema, List<String> keys, Aggregate... aggregates) {
      this(
          schema,
          keys,
          List.of(aggregates),
          Map.of(),
          StateTtl.NONE,
          false,
          HashFunction.FLINK_JAVA,
          true);
    }

    public Job withTwoPhases(boolean newIsTwoPhase) {
      return new Job(
          schema, keys, aggregates, options, stateTtl, newIsTwoPhase, keyHash, givesUpdateBefore);
    }

    public Job withOptions(Map<String, String> newOptions) {
      return new Job(
          schema, keys, aggregates, newOptions, stateTtl, isTwoPhase, keyHash, givesUpdateBefore);
    }

    public Job withAggregates(Aggregate... newAggregates) {
      return new Job(
          schema,
          keys,
          List.of(newAggregates),
          options,
          stateTtl,
          isTwoPhase,
          keyHash,
          givesUpdateBefore);
    }

    public Job withStateTtl(Duration newStateTtl) {
      return withStateTtl(StateTtl.ofProcessingTime(newStateTtl));
    }

    public Job withStateTtl(StateTtl newStateTtl) {
      return new Job(
          schema, keys, aggregates, options, newStateTtl, isTwoPhase, keyHash, givesUpdateBefore);
    }

    public Job withKeyHash(HashFunction newKeyHash) {
      return new Job(
          schema, keys, aggregates, options, stateTtl, isTwoPhase, newKeyHash, givesUpdateBefore);
    }

    public Job withoutUpdateBefore() {
      return new Job(schema, keys, aggregates, options, stateTtl, isTwoPhase, keyHash, false);
    }

    GroupAggregatePlan plan() {
      GroupAggregatePlan plan =
          new GroupAggregatePlan(schema, keys, aggregates, ExpressionSettings.DEFAULT, stateTtl);
      return givesUpdateBefore ? plan : plan.withoutUpdateBefore();
    }

    TwoPhasePlan twoPhasePlan() {
      return new TwoPhasePlan(schema, keys, aggregates, ExpressionSettings.DEFAULT, stateTtl);
    }

    /** The columns of the batches that a subtask gets. */
    Schema batchSchema() {
      return isTwoPhase ? twoPhasePlan().partials() : schema;
    }

    /** The first of two phases, which gets the rows. */
    OperatorHarness openFirstPhase(DeviceExtension device) throws Exception {
      return new OperatorHarness(
          device, schema, LocalGroupAggregateOperator.factory(twoPhasePlan()));
    }

    /** The only subtask, with empty state. */
    public GroupAggregateHarness open(DeviceExtension device) throws Exception {
      return restore(device, null);
    }

    /** The only subtask, with the state of a checkpoint. */
    public GroupAggregateHarness restore(DeviceExtension device, OperatorSubtaskState state)
        throws Exception {
      return restore(device, 0, 1, state);
    }

    /** The only subtask, with the state of a checkpoint, started at a time. */
    public GroupAggregateHarness restoreAt(
        long time, DeviceExtension device, OperatorSubtaskState state) throws Exception {
      GroupAggregateHarness harness =
          new GroupAggregateHarness(device, this, environment(0, 1, options));
      harness.setProcessingTime(time);
      harness.start(state);
      return harness;
    }

    /**
     * A subtask.
     *
     * @param state its part of a checkpoint; null to start without a checkpoint
     */
    public GroupAggregateHarness restore(
        DeviceExtension device, int subtask, int parallelism, OperatorSubtaskState state)
        throws Exception {
      GroupAggregateHarness harness =
          new GroupAggregateHarness(device, this, environment(subtask, parallelism, options));
      harness.start(state);
      return harness;
    }
  }

  /** Sends a batch and returns the changes that it makes. */
  public List<String> changes(List<?>... rows) throws Exception {
    send(0, List.of(rows));
    return takeChanges();
  }

  /** The changes since the last call, such as {@code +I[1, 20]}. */
  public List<String> takeChanges() {
    List<String> changes = new ArrayList<>();
    for (List<Object> row : takeRows()) {
      int last = row.size() - 1;
      RowKind kind = RowKind.fromByteValue((Byte) row.get(last));
      changes.add(kind.shortString() + row.subList(0, last));
    }
    return changes;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.OutputTag;

/** A subtask of a {@link WindowAggregateOperator} that gets batches and emits rows as text. */
final class WindowHarness extends KeyedOperatorHarness {
  /** Rows of a key, a value and a time. */
  static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT64, false),
          new Field("v", DataType.INT32, false),
          new Field("ts", DataType.timestamp(3), false));

  private static final int WINDOW_COLUMNS = 3;

  private final boolean isChangelog;

  private WindowHarness(DeviceExtension device, Job job, MockEnvironment environment)
      throws Exception {
    super(
        device,
        job.schema,
        job.plan().outputSchema(),
        WindowAggregateOperator.factory(job.plan(), job.lateRows()),
        environment);
    isChangelog = !job.allowedLateness.isZero() || !job.earlyFiring.isZero();
  }

  /**
   * The job that the subtask is part of.
   *
   * @param keepsLateRows whether late rows go to the side output
   */
  record Job(
      Schema schema,
      List<String> keys,
      TimeWindow window,
      List<Aggregate> aggregates,
      ZoneId zone,
      boolean keepsLateRows,
      Duration allowedLateness,
      Duration earlyFiring) {

    Job(Schema schema, List<String> keys, TimeWindow window, Aggregate... aggregates) {
      this(
          schema,
          keys,
          window,
          List.of(aggregates),
          ZoneOffset.UTC,
          false,
          Duration.ZERO,
          Duration.ZERO);
    }

    Job withZone(ZoneId newZone) {
      return new Job(
          schema, keys, window, aggregates, newZone, keepsLateRows, allowedLateness, earlyFiring);
    }

    Job keepingLateRows() {
      return new Job(schema, keys, window, aggregates, zone, true, allowedLateness, earlyFiring);
    }

    Job withAllowedLateness(Duration lateness) {
      return new Job(schema, keys, window, aggregates, zone, keepsLateRows, lateness, earlyFiring);
    }

    Job withEarlyFiring(Duration interval) {
      return new Job(
          schema, keys, window, aggregates, zone, keepsLateRows, allowedLateness, interval);
    }

    WindowAggregatePlan plan() {
      return new WindowAggregatePlan(
          schema,
          keys,
          window,
          aggregates,
          ExpressionSettings.DEFAULT.withZone(zone),
          allowedLateness,
          earlyFiring);
    }

    private OutputTag<ColumnBatch> lateRows() {
      return keepsLateRows ? new OutputTag<>("late", new ColumnBatchTypeInformation(schema)) : null;
    }

    /** The only subtask, with empty state. */
    WindowHarness open(DeviceExtension device) throws Exception {
      return restore(device, null);
    }

    /** The only subtask, with the state of a checkpoint. */
    WindowHarness restore(DeviceExtension device, OperatorSubtaskState state) throws Exception {
      return restore(device, 0, 1, state);
    }

    /** As {@link #restore(DeviceExtension, OperatorSubtaskState)}, when the clock has a time. */
    WindowHarness restoreAt(long processingTime, DeviceExtension device, OperatorSubtaskState state)
        throws Exception {
      WindowHarness harness = new WindowHarness(device, this, environment(0, 1, Map.of()));
      harness.setProcessingTime(processingTime);
      harness.start(state);
      return harness;
    }

    /**
     * A subtask.
     *
     * @param state its part of a checkpoint; null to start without a checkpoint
     */
    WindowHarness restore(
        DeviceExtension device, int subtask, int parallelism, OperatorSubtaskState state)
        throws Exception {
      WindowHarness harness =
          new WindowHarness(device, this, environment(subtask, parallelism, Map.of()));
      harness.start(state);
      return harness;
    }
  }

  /**
   * The rows since the last call: the key and the results, and the start and the end of the window
   * in milliseconds, such as {@code [1, 20] 0..10000}; of a changelog with the kind, such as {@code
   * -U[1, 20] 0..10000}.
   */
  List<String> takeResults() {
    List<String> results = new ArrayList<>();
    for (List<Object> row : takeRows()) {
      int last = row.size() - 1;
      int window = (isChangelog ? last : row.size()) - WINDOW_COLUMNS;
      results.add(
          (isChangelog ? RowKind.fromByteValue((Byte) row.get(last)).shortString() : "")
              + row.subList(0, window)
              + " "
              + millis(row.get(window))
              + ".."
              + millis(row.get(window + 1)));
    }
    return results;
  }

  /** A row of {@link #ROWS}. */
  static List<Object> row(long key, int value, long millis) {
    return List.of(key, value, time(millis));
  }

  /** The TIMESTAMP of milliseconds since 1970-01-01T00:00. */
  static LocalDateTime time(long millis) {
    return LocalDateTime.ofEpochSecond(
        Math.floorDiv(millis, 1_000),
        (int) Math.floorMod(millis, 1_000L) * 1_000_000,
        ZoneOffset.UTC);
  }

  /** The milliseconds since 1970-01-01T00:00 of a TIMESTAMP. */
  static long millis(Object timestamp) {
    return ((LocalDateTime) timestamp).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  /** Sends a watermark and returns the rows that come out. */
  List<String> results(long watermark) throws Exception {
    watermark(watermark);
    return takeResults();
  }

  /** Sets the clock and returns the rows that come out. */
  List<String> resultsAt(long processingTime) throws Exception {
    harness().setProcessingTime(processingTime);
    return takeResults();
  }

  /** Ends the input, but not the operator. */
  void endInput() throws Exception {
    harness().endInput();
  }

  /** The number of timers that have not run. */
  int timers() {
    return harness().getProcessingTimeService().getNumActiveTimers();
  }

  /** Whether rows are in the buffer, and not in the tables of slices. */
  boolean isBuffered() {
    return harness().getOperator() instanceof SessionAggregateOperator sessions
        ? sessions.isBuffered()
        : ((WindowAggregateOperator) harness().getOperator()).isBuffered();
  }

  /** The number of rows that were dropped. */
  long lateRowsDropped() {
    return counter("numLateRecordsDropped");
  }
}

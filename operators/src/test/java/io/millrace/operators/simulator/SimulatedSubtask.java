// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.simulator.Element.Barrier;
import io.millrace.operators.simulator.SimulatedOperator.KeyGroupModel;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.io.disk.iomanager.IOManager;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** A subtask of the operator with its channels, as its task runs it: one element after another. */
final class SimulatedSubtask extends OperatorHarness {
  static final int KEY_GROUPS = 16;

  private final DeviceExtension device;
  private final SimulatedOperator operator;
  private final MemoryFaults faults;
  private final KeyGroupRange keyGroups;
  private final List<Deque<Element>> channels = new ArrayList<>();
  private final Deque<Consumer<SimulatedSubtask>> notices = new ArrayDeque<>();
  private final long[] watermarks;
  private final boolean[] isBlocked;
  private long watermark;
  private int taken;

  private SimulatedSubtask(
      DeviceExtension device,
      SimulatedOperator operator,
      MemoryFaults faults,
      KeyGroupRange keyGroups,
      int channelCount,
      long watermark,
      MockEnvironment environment)
      throws Exception {
    super(device, operator.schema(), flinkHarness(operator, environment));
    this.device = device;
    this.operator = operator;
    this.faults = faults;
    this.keyGroups = keyGroups;
    this.watermark = watermark;
    this.watermarks = new long[channelCount];
    this.isBlocked = new boolean[channelCount];
    Arrays.fill(watermarks, Long.MIN_VALUE);
    IntStream.range(0, channelCount).forEach(i -> channels.add(new ArrayDeque<>()));
  }

  private static OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> flinkHarness(
      SimulatedOperator operator, MockEnvironment environment) throws Exception {
    OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(
            operator.factory(),
            new ColumnBatchSerializer(operator.schema(), BodyCodec.RAW),
            environment);
    harness
        .getStreamConfig()
        .setTypeSerializerOut(new ColumnBatchSerializer(operator.outputSchema(), BodyCodec.RAW));
    harness.getStreamConfig().setOperatorID(new OperatorID(1, 1));
    harness.getStreamConfig().serializeAllConfigs();
    return harness;
  }

  /**
   * Where a subtask runs.
   *
   * @param options of the TaskManager, beside those that the operator asks for
   */
  record Place(
      DeviceExtension device, IOManager files, MemoryFaults faults, Map<String, String> options) {}

  /**
   * A subtask that is open.
   *
   * @param watermarkOf the watermark that a checkpoint has for key groups
   * @param processingTime of the machine's clock
   * @param state its part of a checkpoint; null to start without a checkpoint
   */
  static SimulatedSubtask open(
      Place place,
      SimulatedOperator operator,
      int channelCount,
      int subtask,
      int parallelism,
      ToLongFunction<KeyGroupRange> watermarkOf,
      long processingTime,
      OperatorSubtaskState state)
      throws Exception {
    Map<String, String> options = new HashMap<>(operator.options());
    options.putAll(place.options);
    MockEnvironment environment =
        new MockEnvironmentBuilder()
            .setTaskName("simulated")
            .setMaxParallelism(KEY_GROUPS)
            .setParallelism(parallelism)
            .setSubtaskIndex(subtask)
            .setIOManager(place.files)
            .setTaskManagerRuntimeInfo(
                new TestingTaskManagerRuntimeInfo(Configuration.fromMap(options)))
            .build();
    KeyGroupRange keyGroups =
        KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
            KEY_GROUPS, parallelism, subtask);
    long watermark = watermarkOf.applyAsLong(keyGroups);
    SimulatedSubtask opened =
        new SimulatedSubtask(
            place.device, operator, place.faults, keyGroups, channelCount, watermark, environment);
    place.faults.arm(true);
    try {
      opened.harness().setProcessingTime(processingTime);
      opened.harness().setup();
      if (state == null) {
        opened.harness().initializeEmptyState();
      } else {
        opened.harness().initializeState(state);
      }
      opened.harness().open();
      return opened;
    } catch (Exception | Error e) {
      opened.close();
      throw e;
    } finally {
      place.faults.arm(false);
    }
  }

  KeyGroupRange keyGroups() {
    return keyGroups;
  }

  /** Tells the models of this subtask that it begins with a checkpoint. */
  void restored(List<KeyGroupModel> models) {
    keyGroups.forEach(keyGroup -> models.get(keyGroup).restored(watermark));
  }

  /** The watermark of the operator. */
  long watermark() {
    return watermark;
  }

  List<Deque<Element>> channels() {
    return channels;
  }

  int queued() {
    return channels.stream().mapToInt(Deque::size).sum();
  }

  /** Messages of the checkpoint coordinator that the task has not processed. */
  Deque<Consumer<SimulatedSubtask>> notices() {
    return notices;
  }

  /** The channels whose next element the task may take. */
  List<Integer> readyChannels() {
    return IntStream.range(0, channels.size())
        .filter(i -> !isBlocked[i] && !channels.get(i).isEmpty())
        .boxed()
        .toList();
  }

  /**
   * Blocks a channel, whose barrier of an aligned checkpoint came.
   *
   * @return whether all channels have come to the barrier, and are free again
   */
  boolean align(int channel) {
    isBlocked[channel] = true;
    for (boolean channelIsBlocked : isBlocked) {
      if (!channelIsBlocked) {
        return false;
      }
    }
    Arrays.fill(isBlocked, false);
    return true;
  }

  /** Frees all channels: their barrier is of a checkpoint that was aborted. */
  void stopAlignment() {
    Arrays.fill(isBlocked, false);
  }

  /** Takes the barrier out of all channels, and returns the rows before it by channel. */
  List<List<List<Object>>> overtake(SimulatedCheckpoint checkpoint) {
    List<List<List<Object>>> overtaken = new ArrayList<>();
    for (Deque<Element> channel : channels) {
      List<List<Object>> rows = new ArrayList<>();
      for (Element element : channel) {
        if (element instanceof Barrier barrier && barrier.checkpoint() == checkpoint) {
          channel.remove(element);
          break;
        } else if (element instanceof Element.Rows batch) {
          rows.addAll(batch.rows());
        }
      }
      overtaken.add(rows);
    }
    return overtaken;
  }

  void process(List<List<Object>> rows, List<KeyGroupModel> models) throws Exception {
    ColumnBatch batch = new ColumnBatch(TableBuilder.ofRows(operator.schema(), rows).build(device));
    armed(() -> send(batch));
    rows.forEach(row -> models.get(Simulation.keyGroup(row, operator)).process(row));
    takeOutput(models);
  }

  /** A watermark of a channel: the smallest of all channels goes to the operator. */
  void watermark(int channel, long timestamp, List<KeyGroupModel> models) throws Exception {
    watermarks[channel] = timestamp;
    long smallest = Arrays.stream(watermarks).min().orElseThrow();
    if (smallest > watermark) {
      watermark = smallest;
      armed(() -> harness().processWatermark(smallest));
      keyGroups.forEach(keyGroup -> models.get(keyGroup).watermark(smallest));
      takeOutput(models);
      assertThat(last()).as("the last element").isEqualTo(new Watermark(smallest));
    }
  }

  void processingTime(long timestamp, List<KeyGroupModel> models) throws Exception {
    armed(() -> harness().setProcessingTime(timestamp));
    keyGroups.forEach(keyGroup -> models.get(keyGroup).processingTime(timestamp));
    takeOutput(models);
  }

  private void takeOutput(List<KeyGroupModel> models) {
    List<Object> elements = elements();
    for (Object element : elements.subList(taken, elements.size())) {
      if (element instanceof Output output) {
        for (List<Object> row : output.rows()) {
          int keyGroup = Simulation.keyGroup(row, operator);
          assertThat(keyGroups.contains(keyGroup))
              .as("whether the key of %s is here", row)
              .isTrue();
          models.get(keyGroup).emitted(row);
        }
      }
    }
    taken = elements.size();
    keyGroups.forEach(keyGroup -> models.get(keyGroup).check());
  }

  /** The synchronous part of a snapshot, and what the operator emits before the barrier. */
  SnapshotWrite snapshot(long checkpointId, List<KeyGroupModel> models) throws Exception {
    SteppedStreams streams = new SteppedStreams();
    SnapshotWrite[] write = new SnapshotWrite[1];
    armed(
        () -> {
          harness().getOperator().prepareSnapshotPreBarrier(checkpointId);
          write[0] =
              new SnapshotWrite(
                  harness()
                      .getOperator()
                      .snapshotState(
                          checkpointId,
                          checkpointId,
                          CheckpointOptions.forCheckpointWithDefaultLocation(),
                          streams),
                  streams);
        });
    keyGroups.forEach(keyGroup -> models.get(keyGroup).flush());
    takeOutput(models);
    return write[0];
  }

  void notifyComplete(long checkpointId) {
    notice(() -> harness().getOperator().notifyCheckpointComplete(checkpointId));
  }

  void notifyAborted(long checkpointId) {
    notice(() -> harness().getOperator().notifyCheckpointAborted(checkpointId));
  }

  private void notice(Work work) {
    try {
      armed(work);
    } catch (Exception e) {
      throw new IllegalStateException("a notice failed", e);
    }
  }

  /** Ends the input and finishes the operator. */
  void finish(List<KeyGroupModel> models) throws Exception {
    armed(
        () -> {
          harness().endInput();
          harness().getOperator().finish();
        });
    keyGroups.forEach(keyGroup -> models.get(keyGroup).flush());
    takeOutput(models);
  }

  /** Cancels what runs beside the task, as a task does when it fails or is canceled. */
  void cancel() throws Exception {
    harness().getOperator().getContainingTask().getCancelables().close();
  }

  @FunctionalInterface
  private interface Work {
    void run() throws Exception;
  }

  private void armed(Work work) throws Exception {
    faults.arm(true);
    try {
      work.run();
    } finally {
      faults.arm(false);
    }
  }

  private void send(ColumnBatch batch) throws Exception {
    try {
      harness().getOneInputOperator().processElement(new StreamRecord<>(batch, 0));
    } finally {
      batch.release();
    }
  }
}

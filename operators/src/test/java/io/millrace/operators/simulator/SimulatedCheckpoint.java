// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import io.millrace.operators.simulator.SimulatedOperator.KeyGroupModel;
import io.millrace.operators.simulator.SimulatedOperator.RowSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.SharedStateRegistry;

/** A checkpoint of the source and of all subtasks of the operator. */
final class SimulatedCheckpoint {
  private final long id;
  private final List<RowSource> sources;
  private final long[] sourceWatermarks;
  private final Part[] parts;
  private boolean isAborted;

  /**
   * The part of one subtask.
   *
   * @param models of all key groups; null for those of other subtasks
   * @param watermark of the operator
   * @param overtaken the rows that the barrier overtook, by channel
   */
  record Part(
      SnapshotWrite write,
      List<KeyGroupModel> models,
      long watermark,
      List<List<List<Object>>> overtaken) {}

  SimulatedCheckpoint(long id, List<RowSource> sources, long[] sourceWatermarks, int parallelism) {
    this.id = id;
    this.sources = sources.stream().map(RowSource::copy).toList();
    this.sourceWatermarks = sourceWatermarks.clone();
    this.parts = new Part[parallelism];
  }

  long id() {
    return id;
  }

  int parallelism() {
    return parts.length;
  }

  List<RowSource> sources() {
    return sources.stream().map(RowSource::copy).toList();
  }

  /**
   * The last watermark of each source. Sources begin again if a subtask had none: then a restored
   * clock has none either, and models know which watermark is the first.
   */
  long[] sourceWatermarks() {
    boolean hasNone = parts().stream().anyMatch(part -> part.watermark == Long.MIN_VALUE);
    return hasNone ? new long[sourceWatermarks.length] : sourceWatermarks.clone();
  }

  void add(int subtask, Part part) {
    parts[subtask] = part;
  }

  /** The parts so far. */
  List<Part> parts() {
    return Arrays.stream(parts).filter(Objects::nonNull).toList();
  }

  boolean isAborted() {
    return isAborted;
  }

  void abort() throws Exception {
    isAborted = true;
    for (Part part : parts()) {
      part.write.cancel();
    }
  }

  /** Whether a part could not be written. */
  boolean hasFailed() {
    return parts().stream().anyMatch(part -> part.write.isEnded() && part.write.state() == null);
  }

  boolean isComplete() {
    return !isAborted
        && parts().size() == parts.length
        && parts().stream().allMatch(part -> part.write.isEnded() && part.write.state() != null);
  }

  /**
   * Registers the files that this shares with other checkpoints, as the JobManager does.
   *
   * @throws IllegalStateException if there is a reference to a file that is gone
   */
  void register(SharedStateRegistry registry) {
    for (OperatorSubtaskState state : states()) {
      state.registerSharedStates(registry, id);
    }
  }

  /** The states of all subtasks. */
  OperatorSubtaskState[] states() {
    return parts().stream().map(part -> part.write.state()).toArray(OperatorSubtaskState[]::new);
  }

  /** The smallest watermark of the subtasks that had some of these key groups. */
  long watermark(KeyGroupRange keyGroups) {
    long least = Long.MAX_VALUE;
    for (Part part : parts()) {
      for (int keyGroup : keyGroups) {
        if (part.models.get(keyGroup) != null) {
          least = Math.min(least, part.watermark);
        }
      }
    }
    return least;
  }

  /** The models of all key groups at the moments of their subtasks' snapshots. */
  List<KeyGroupModel> models(int keyGroups) {
    List<KeyGroupModel> models = new ArrayList<>();
    for (int i = 0; i < keyGroups; i++) {
      int keyGroup = i;
      models.add(
          parts().stream()
              .map(part -> part.models.get(keyGroup))
              .filter(Objects::nonNull)
              .findFirst()
              .orElseThrow()
              .copy());
    }
    return models;
  }
}

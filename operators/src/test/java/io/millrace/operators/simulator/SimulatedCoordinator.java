// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.simulator.SimulatedCheckpoint.Part;
import io.millrace.operators.simulator.SimulatedOperator.RowSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;

/** The checkpoints of a {@link Simulation}: those that run, and the last complete one. */
final class SimulatedCoordinator {
  private static final int MAX_CHECKPOINTS = 3;

  private final MemoryFaults faults;
  private final List<String> log;
  private final List<SimulatedCheckpoint> running = new ArrayList<>();
  // Of files that checkpoints share.
  private final SharedStateRegistry registry = new SharedStateRegistryImpl();
  private SimulatedCheckpoint completed;
  private long lastCheckpoint;

  SimulatedCoordinator(MemoryFaults faults, List<String> log) {
    this.faults = faults;
    this.log = log;
  }

  /** The last complete checkpoint; null if there is none. */
  SimulatedCheckpoint completed() {
    return completed;
  }

  /** Whether as many checkpoints run as may. */
  boolean isBusy() {
    return running.size() == MAX_CHECKPOINTS;
  }

  SimulatedCheckpoint trigger(
      List<RowSource> sources, long[] sourceWatermarks, int parallelism, boolean overtakes) {
    lastCheckpoint++;
    log.add((overtakes ? "unaligned" : "aligned") + " checkpoint " + lastCheckpoint);
    SimulatedCheckpoint checkpoint =
        new SimulatedCheckpoint(lastCheckpoint, sources, sourceWatermarks, parallelism);
    running.add(checkpoint);
    return checkpoint;
  }

  /** Ends all snapshots that wait or were not begun. */
  void endWrites(List<SimulatedSubtask> subtasks) throws Exception {
    for (SnapshotWrite write : openWrites()) {
      end(write);
    }
    settle(subtasks);
  }

  /** Gives up all checkpoints that run, whose subtasks are gone. */
  void cancel() throws Exception {
    for (SimulatedCheckpoint checkpoint : running) {
      checkpoint.abort();
    }
    running.clear();
  }

  private List<SnapshotWrite> openWrites() {
    return running.stream()
        .flatMap(checkpoint -> checkpoint.parts().stream())
        .map(Part::write)
        .filter(write -> !write.isEnded())
        .toList();
  }

  void write(Random random, List<SimulatedSubtask> subtasks) throws Exception {
    List<SnapshotWrite> writes = openWrites();
    if (!writes.isEmpty()) {
      end(writes.get(random.nextInt(writes.size())));
      settle(subtasks);
    }
  }

  private void end(SnapshotWrite write) throws Exception {
    faults.arm(true);
    try {
      write.end();
    } finally {
      faults.arm(false);
    }
    log.add("a snapshot %s".formatted(write.state() == null ? "fails" : "is written"));
  }

  void beginWrite(Random random) throws Exception {
    List<SnapshotWrite> writes = openWrites().stream().filter(write -> !write.isBegun()).toList();
    if (!writes.isEmpty()) {
      int before = random.nextInt(12);
      log.add("a snapshot waits after %d writes".formatted(before));
      faults.arm(true);
      try {
        writes.get(random.nextInt(writes.size())).begin(before);
      } finally {
        faults.arm(false);
      }
    }
  }

  void failWrite(Random random) {
    List<SnapshotWrite> writes = openWrites();
    if (!writes.isEmpty()) {
      log.add("the disk of a snapshot is full");
      writes.get(random.nextInt(writes.size())).fail();
    }
  }

  void abort(Random random, List<SimulatedSubtask> subtasks) throws Exception {
    if (!running.isEmpty()) {
      abort(running.get(random.nextInt(running.size())), subtasks);
    }
  }

  private void abort(SimulatedCheckpoint checkpoint, List<SimulatedSubtask> subtasks)
      throws Exception {
    log.add("checkpoint %d is aborted".formatted(checkpoint.id()));
    running.remove(checkpoint);
    checkpoint.abort();
    subtasks.forEach(subtask -> subtask.notices().add(task -> task.notifyAborted(checkpoint.id())));
  }

  /** Completes and aborts checkpoints, of which all parts are written or one has failed. */
  private void settle(List<SimulatedSubtask> subtasks) throws Exception {
    for (SimulatedCheckpoint checkpoint : List.copyOf(running)) {
      if (!running.contains(checkpoint)) {
        continue;
      }
      if (checkpoint.hasFailed()) {
        abort(checkpoint, subtasks);
      } else if (checkpoint.isComplete()) {
        complete(checkpoint, subtasks);
      }
    }
  }

  private void complete(SimulatedCheckpoint checkpoint, List<SimulatedSubtask> subtasks)
      throws Exception {
    try {
      checkpoint.register(registry);
    } catch (IllegalStateException e) {
      // The notice of the checkpoint that gave the file up came too late.
      assertThat(e).hasMessageContaining("Attempt to reference unknown state");
      abort(checkpoint, subtasks);
      return;
    }
    log.add("checkpoint %d is complete".formatted(checkpoint.id()));
    running.remove(checkpoint);
    completed = checkpoint;
    registry.unregisterUnusedState(checkpoint.id());
    subtasks.forEach(
        subtask -> subtask.notices().add(task -> task.notifyComplete(checkpoint.id())));
    for (SimulatedCheckpoint earlier : List.copyOf(running)) {
      if (earlier.id() < checkpoint.id()) {
        abort(earlier, subtasks);
      }
    }
  }
}

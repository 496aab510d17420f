// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.DeviceStream;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.runtime.state.AsyncSnapshotCallable;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Writes the rows of a snapshot to a checkpoint, on a thread of the checkpoint. Gives the snapshot
 * up when it ends, also if the checkpoint is canceled before it begins.
 */
final class StateWriter extends AsyncSnapshotCallable<SnapshotResult<KeyedStateHandle>> {
  private final KeyedStates.Snapshot snapshot;
  private final KeyGroupRange keyGroups;
  private final DeviceContext context;
  private final CheckpointStreamFactory streams;
  private final boolean isCompressed;

  /**
   * Takes ownership of the snapshot and the context.
   *
   * @param context keeps the memory of the snapshot until it is closed
   */
  StateWriter(
      KeyedStates.Snapshot snapshot,
      KeyGroupRange keyGroups,
      DeviceContext context,
      CheckpointStreamFactory streams,
      boolean isCompressed) {
    this.snapshot = snapshot;
    this.keyGroups = keyGroups;
    this.context = context;
    this.streams = streams;
    this.isCompressed = isCompressed;
  }

  @Override
  protected SnapshotResult<KeyedStateHandle> callInternal() throws Exception {
    CheckpointStateOutputStream output =
        streams.createCheckpointStateOutputStream(CheckpointedStateScope.EXCLUSIVE);
    snapshotCloseableRegistry.registerCloseable(output);
    long start = output.getPos();
    try (DeviceStream stream = context.device().createStream()) {
      StateFormat.write(snapshot, new BlockWriter(stream, context.retry(), isCompressed), output);
    }
    if (!snapshotCloseableRegistry.unregisterCloseable(output)) {
      throw new IOException("the checkpoint was canceled");
    }
    StreamStateHandle handle = output.closeAndGetHandle();
    return handle == null ? SnapshotResult.empty() : SnapshotResult.of(handle(handle, start));
  }

  // The rows of all key groups are one sequence: each key group's offset is its beginning.
  private KeyGroupsStateHandle handle(StreamStateHandle rows, long start) {
    long[] offsets = new long[keyGroups.getNumberOfKeyGroups()];
    Arrays.fill(offsets, start);
    return new KeyGroupsStateHandle(new KeyGroupRangeOffsets(keyGroups, offsets), rows);
  }

  @Override
  protected void cleanupProvidedResources() {
    FirstFailure failure = new FirstFailure();
    failure.run(snapshot::close);
    failure.run(context::close);
    failure.rethrow();
  }
}

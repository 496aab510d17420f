// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.flink.runtime.checkpoint.filemerging.FileMergingSnapshotManager;
import org.apache.flink.runtime.state.PlaceholderStreamStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * The files that a subtask's next checkpoint may refer to: those of the last checkpoint that
 * completed. Flink keeps the files of a checkpoint while a later one refers to them.
 */
final class IncrementalCheckpoints {
  private final UUID writerId = UUID.randomUUID();
  // By checkpoint: those that were written and may complete. Written by threads of checkpoints.
  private final NavigableMap<Long, PageIndex> written = new TreeMap<>();
  private PageIndex completed = PageIndex.EMPTY;

  UUID writerId() {
    return writerId;
  }

  /** What the last completed checkpoint has; {@link PageIndex#EMPTY} if there is none. */
  synchronized PageIndex completed() {
    return completed;
  }

  /** A checkpoint was written. */
  synchronized void written(long checkpoint, PageIndex index) {
    Map<UUID, StreamStateHandle> files = new HashMap<>();
    index.files().forEach((id, file) -> files.put(id, placeholder(file)));
    written.put(checkpoint, new PageIndex(files, index.tables()));
  }

  // Flink refuses a checkpoint with a placeholder for a file that it has deleted.
  private static StreamStateHandle placeholder(StreamStateHandle file) {
    return new PlaceholderStreamStateHandle(
        file.getStreamStateHandleID(),
        file.getStateSize(),
        FileMergingSnapshotManager.isFileMergingHandle(file));
  }

  /** A checkpoint or a savepoint has completed; savepoints share no files. */
  synchronized void complete(long checkpoint) {
    PageIndex index = written.get(checkpoint);
    if (index != null) {
      completed = index;
      written.headMap(checkpoint, true).clear();
    }
  }

  /** A checkpoint will not complete. */
  synchronized void abort(long checkpoint) {
    written.remove(checkpoint);
  }
}

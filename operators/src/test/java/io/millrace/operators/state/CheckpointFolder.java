// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;

/**
 * Checkpoints of one subtask or several in a folder, with Flink's registry of the files that they
 * share: what the JobManager does.
 */
final class CheckpointFolder {
  private static final int WRITE_BUFFER_BYTES = 4096;

  private final Path folder;
  private final SharedStateRegistry registry = new SharedStateRegistryImpl();
  private final NavigableMap<Long, OperatorSubtaskState> completed = new TreeMap<>();

  CheckpointFolder(Path folder) throws IOException {
    this.folder = folder;
    Files.createDirectories(folder.resolve("shared"));
  }

  /** The files of a checkpoint, none of which is kept in its metadata. */
  CheckpointStreamFactory streams(long checkpoint) throws IOException {
    Path own = Files.createDirectories(folder.resolve("chk-" + checkpoint));
    return new FsCheckpointStreamFactory(
        LocalFileSystem.getSharedInstance(),
        new org.apache.flink.core.fs.Path(own.toUri()),
        new org.apache.flink.core.fs.Path(folder.resolve("shared").toUri()),
        0,
        WRITE_BUFFER_BYTES);
  }

  /** A checkpoint has completed, of which {@code state} is what all subtasks wrote. */
  OperatorSubtaskState complete(long checkpoint, OperatorSubtaskState state) {
    state.registerSharedStates(registry, checkpoint);
    completed.put(checkpoint, state);
    return state;
  }

  /** Deletes all completed checkpoints before {@code checkpoint}. */
  void subsume(long checkpoint) throws Exception {
    for (OperatorSubtaskState state : completed.headMap(checkpoint).values()) {
      state.discardState();
    }
    completed.headMap(checkpoint).clear();
    registry.unregisterUnusedState(checkpoint);
  }

  /** The files that are there. */
  List<Path> sharedFiles() {
    try (Stream<Path> files = Files.list(folder.resolve("shared"))) {
      return files.sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Bytes of the files that are there. */
  long sharedBytes() {
    return sharedFiles().stream().mapToLong(file -> file.toFile().length()).sum();
  }
}

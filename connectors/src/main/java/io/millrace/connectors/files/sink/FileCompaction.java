// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.connector.file.sink.FileSink.DefaultBulkFormatBuilder;
import org.apache.flink.connector.file.sink.compactor.FileCompactStrategy;
import org.apache.flink.connector.file.sink.compactor.FileCompactor;
import org.apache.flink.core.fs.Path;

/**
 * Whether a file sink joins small files to larger ones before they appear, exactly once, with the
 * compaction of Flink's {@link org.apache.flink.connector.file.sink.FileSink}.
 *
 * <p>Files stay hidden until they are joined: those that one checkpoint commits are joined until
 * the next checkpoint, which commits the joined files, {@code compacted-part-...}. The original
 * files are deleted then. Files of all subtasks are joined with each other.
 *
 * <p>Compaction has state: the sink must have a uid, and a job that is resumed without compaction
 * needs {@link #STOPPED}.
 */
@PublicEvolving
public final class FileCompaction implements Serializable {
  /** Files appear as they were written. */
  public static final FileCompaction NONE = new FileCompaction(false, -1, 1);

  /**
   * Files appear as they were written, and so do those that wait to be joined in the savepoint or
   * checkpoint that the job resumes from.
   */
  public static final FileCompaction STOPPED = new FileCompaction(true, -1, 1);

  private static final long serialVersionUID = 1L;

  private final boolean isStopped;
  // Negative without compaction.
  private final long fileBytes;
  private final int checkpoints;

  private FileCompaction(boolean isStopped, long fileBytes, int checkpoints) {
    this.isStopped = isStopped;
    this.fileBytes = fileBytes;
    this.checkpoints = checkpoints;
  }

  /**
   * Joins the files of each checkpoint: as many to one as have {@code bytes} bytes or more
   * together, and the rest to another.
   *
   * @throws IllegalArgumentException if {@code bytes} is less than 1
   */
  public static FileCompaction ofFileBytes(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("expected at least 1 byte, got " + bytes);
    }
    return new FileCompaction(false, bytes, 1);
  }

  /**
   * The same compaction, in which the files of so many checkpoints wait for each other, unless they
   * have enough bytes before.
   *
   * @throws IllegalArgumentException if {@code count} is less than 1
   * @throws IllegalStateException for {@link #NONE} and {@link #STOPPED}
   */
  public FileCompaction withCheckpoints(int count) {
    if (count < 1) {
      throw new IllegalArgumentException("expected at least 1 checkpoint, got " + count);
    }
    if (fileBytes < 0) {
      throw new IllegalStateException("no files are joined");
    }
    return new FileCompaction(false, fileBytes, count);
  }

  /**
   * Checks that files in a folder can be joined. Flink's committables escape a path each time that
   * they are copied, and its files are then not found.
   *
   * @throws IllegalArgumentException if they are joined and the path has such a character
   */
  void check(Path folder) {
    String path = folder.getPath();
    if (fileBytes > 0 && !path.equals(folder.toUri().getRawPath())) {
      throw new IllegalArgumentException(
          "Flink's compaction does not find files in the folder '%s': URIs escape a character of its"
                  .formatted(path)
              + " name; write without compaction, or to another folder");
    }
  }

  /** Sets up {@code sink}, whose files {@code compactor} joins. */
  void addTo(DefaultBulkFormatBuilder<?> sink, FileCompactor compactor) {
    if (isStopped) {
      sink.disableCompact();
    } else if (fileBytes > 0) {
      FileCompactStrategy strategy =
          FileCompactStrategy.Builder.newBuilder()
              .setSizeThreshold(fileBytes)
              .enableCompactionOnCheckpoint(checkpoints)
              .build();
      sink.enableCompact(strategy, compactor);
    }
  }
}

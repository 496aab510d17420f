// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.connector.file.sink.compactor.RecordWiseFileCompactor;
import org.apache.flink.core.fs.Path;

/**
 * Joins files of a format to one: reads their elements, which the sink's {@link
 * org.apache.flink.api.common.serialization.BulkWriter} writes again, between one start and one end
 * of a file. Runs in a thread of Flink's, beside the task.
 */
@Internal
public class EncodedFileCompactor extends RecordWiseFileCompactor<byte[]> {
  private static final long serialVersionUID = 1L;

  private final String suffix;

  /**
   * @param suffix of the names of the sink's files
   * @param readers of a file's elements
   */
  public EncodedFileCompactor(String suffix, Reader.Factory<byte[]> readers) {
    super(readers);
    this.suffix = suffix;
  }

  /**
   * Joins {@code files} in their order.
   *
   * @throws IOException naming the file if it is not of the sink's format, cannot be read, or the
   *     task ends meanwhile
   */
  @Override
  public final void compact(List<Path> files, Writer<byte[]> joined) throws Exception {
    for (Path file : files) {
      if (!file.getName().endsWith(suffix)) {
        throw cannotJoin(file, "expected a file of the suffix " + suffix);
      }
    }
    try {
      join(files, element -> write(element, joined));
    } catch (Error e) {
      // Flink would lose an error here, and wait for the joined file for ever.
      throw new IOException("cannot join the files " + files, e);
    }
  }

  /** Reads the elements of {@code files} and writes them to {@code joined}. */
  protected void join(List<Path> files, Writer<byte[]> joined) throws Exception {
    super.compact(files, joined);
  }

  private static void write(byte[] element, Writer<byte[]> joined) throws IOException {
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("the task has ended");
    }
    joined.write(element);
  }

  /** The exception for a file that an earlier run of the job wrote with other settings. */
  public static IOException cannotJoin(Path file, String reason) {
    return new IOException(
        "cannot join the file "
            + file
            + ": "
            + reason
            + ". A job that is resumed with another format or other columns stops compaction first:"
            + " FileCompaction.STOPPED, or sink.auto-compaction: false for millrace etl");
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.io.IOException;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;

/**
 * Writes encoded bytes to files of one folder, exactly once, with Flink's {@link FileSink}: each
 * checkpoint closes a subtask's file, which appears under its final name ({@code part-...}) when
 * the checkpoint is complete. What stands in hidden files is not committed.
 */
@Internal
public final class EncodedFileSink {
  private static final byte[] NOTHING = {};

  private EncodedFileSink() {}

  /**
   * A sink of files that hold the elements and nothing else.
   *
   * @param suffix of the files' names, such as {@code .jsonl}
   */
  public static FileSink<byte[]> create(Path folder, String suffix) {
    return create(folder, suffix, NOTHING, NOTHING);
  }

  /**
   * A sink of files that start with {@code fileStart} and end with {@code fileEnd}.
   *
   * @param suffix of the files' names, such as {@code .csv}
   */
  public static FileSink<byte[]> create(
      Path folder, String suffix, byte[] fileStart, byte[] fileEnd) {
    return create(
        folder,
        suffix,
        new WriterFactory(fileStart.clone(), fileEnd.clone()),
        FileRollingPolicy.ON_CHECKPOINT);
  }

  /**
   * A sink of files whose bytes {@code writer} makes of the elements.
   *
   * @param suffix of the files' names, such as {@code .parquet}
   * @param rolling when files are closed
   */
  public static FileSink<byte[]> create(
      Path folder, String suffix, BulkWriter.Factory<byte[]> writer, FileRollingPolicy rolling) {
    return FileSink.forBulkFormat(folder, writer)
        .withBucketAssigner(new BasePathBucketAssigner<>())
        .withRollingPolicy(rolling)
        .withOutputFileConfig(OutputFileConfig.builder().withPartSuffix(suffix).build())
        .build();
  }

  private static final class WriterFactory implements BulkWriter.Factory<byte[]> {
    private static final long serialVersionUID = 1L;

    private final byte[] fileStart;
    private final byte[] fileEnd;

    WriterFactory(byte[] fileStart, byte[] fileEnd) {
      this.fileStart = fileStart;
      this.fileEnd = fileEnd;
    }

    @Override
    public BulkWriter<byte[]> create(FSDataOutputStream out) throws IOException {
      out.write(fileStart);
      return new Writer(out, fileEnd);
    }
  }

  /** Appends elements as they are. The stream is closed by whoever opened it. */
  private static final class Writer implements BulkWriter<byte[]> {
    private final FSDataOutputStream out;
    private final byte[] fileEnd;

    Writer(FSDataOutputStream out, byte[] fileEnd) {
      this.out = out;
      this.fileEnd = fileEnd;
    }

    @Override
    public void addElement(byte[] element) throws IOException {
      out.write(element);
    }

    @Override
    public void flush() throws IOException {
      out.flush();
    }

    @Override
    public void finish() throws IOException {
      out.write(fileEnd);
      out.flush();
    }
  }
}

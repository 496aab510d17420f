// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.io.IOException;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.sink.compactor.FileCompactor;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.functions.sink.filesystem.BucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;

/**
 * Writes encoded bytes to files of one folder, exactly once, with Flink's {@link FileSink}: each
 * checkpoint closes a subtask's file, which appears under its final name ({@code part-...}) when
 * the checkpoint is complete, unless {@link FileCompaction} joins it to others first. What stands
 * in hidden files is not committed.
 */
@Internal
public final class EncodedFileSink {
  private static final byte[] NOTHING = {};

  private EncodedFileSink() {}

  /** As {@link #create(Path, String, FileSinkOptions)}, with the default options. */
  public static FileSink<byte[]> create(Path folder, String suffix) {
    return create(folder, suffix, FileSinkOptions.DEFAULT);
  }

  /**
   * A sink of files that hold the elements and nothing else.
   *
   * @param suffix of the files' names, such as {@code .jsonl}
   */
  public static FileSink<byte[]> create(Path folder, String suffix, FileSinkOptions options) {
    return create(folder, suffix, NOTHING, NOTHING, options);
  }

  /**
   * A sink of files that start with {@code fileStart} and end with {@code fileEnd}. Compaction
   * keeps the bytes between them.
   *
   * @param suffix of the files' names, such as {@code .csv}
   */
  public static FileSink<byte[]> create(
      Path folder, String suffix, byte[] fileStart, byte[] fileEnd, FileSinkOptions options) {
    byte[] start = fileStart.clone();
    byte[] end = fileEnd.clone();
    return create(
        folder, suffix, new WriterFactory(start, end), compactor(suffix, start, end), options);
  }

  /** Joins files that start with {@code start} and end with {@code end}. */
  static EncodedFileCompactor compactor(String suffix, byte[] start, byte[] end) {
    return new EncodedFileCompactor(suffix, file -> new FileBodyReader(file, start, end));
  }

  /**
   * A sink of files whose bytes {@code writer} makes of the elements.
   *
   * @param suffix of the files' names, such as {@code .parquet}
   * @param writer writes nothing before the first element, and nothing at the end of a file without
   *     elements: with {@link FileCompaction#STOPPED}, Flink copies files past it
   * @param compactor reads the elements of files again
   */
  public static FileSink<byte[]> create(
      Path folder,
      String suffix,
      BulkWriter.Factory<byte[]> writer,
      EncodedFileCompactor compactor,
      FileSinkOptions options) {
    return create(folder, suffix, writer, new BasePathBucketAssigner<>(), compactor, options);
  }

  /**
   * A sink of files in the folders that {@code folders} chooses.
   *
   * @param <T> the elements
   * @throws IllegalArgumentException as {@link FileCompaction#check}
   */
  static <T> FileSink<T> create(
      Path folder,
      String suffix,
      BulkWriter.Factory<T> writer,
      BucketAssigner<T, String> folders,
      FileCompactor compactor,
      FileSinkOptions options) {
    options.compaction().check(folder);
    FileSink.DefaultBulkFormatBuilder<T> sink =
        FileSink.forBulkFormat(folder, writer)
            .withBucketAssigner(folders)
            .withRollingPolicy(options.rolling().policy())
            .withBucketCheckInterval(options.rolling().checkMillis())
            .withOutputFileConfig(OutputFileConfig.builder().withPartSuffix(suffix).build());
    options.compaction().addTo(sink, compactor);
    return sink.build();
  }

  /** Writes elements between the start and the end of a file. */
  static final class WriterFactory implements BulkWriter.Factory<byte[]> {
    private static final long serialVersionUID = 1L;

    private final byte[] fileStart;
    private final byte[] fileEnd;

    WriterFactory(byte[] fileStart, byte[] fileEnd) {
      this.fileStart = fileStart;
      this.fileEnd = fileEnd;
    }

    @Override
    public BulkWriter<byte[]> create(FSDataOutputStream out) {
      return new Writer(out, fileStart, fileEnd);
    }
  }

  /** Appends elements as they are. The stream is closed by whoever opened it. */
  private static final class Writer implements BulkWriter<byte[]> {
    private final FSDataOutputStream out;
    private final byte[] fileStart;
    private final byte[] fileEnd;
    private boolean isStarted;

    Writer(FSDataOutputStream out, byte[] fileStart, byte[] fileEnd) {
      this.out = out;
      this.fileStart = fileStart;
      this.fileEnd = fileEnd;
    }

    @Override
    public void addElement(byte[] element) throws IOException {
      if (!isStarted) {
        out.write(fileStart);
        isStarted = true;
      }
      out.write(element);
    }

    @Override
    public void flush() throws IOException {
      out.flush();
    }

    @Override
    public void finish() throws IOException {
      if (isStarted) {
        out.write(fileEnd);
      }
      out.flush();
    }
  }
}

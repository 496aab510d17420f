// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.sink.compactor.RecordWiseFileCompactor;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.functions.sink.filesystem.BucketAssigner;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.SimpleVersionedStringSerializer;

/** As {@link EncodedFileSink}, with a folder for each partition, which is a bucket of Flink's. */
final class PartitionedFileSink {
  private PartitionedFileSink() {}

  static FileSink<EncodedRows> create(
      Path folder,
      String suffix,
      BulkWriter.Factory<byte[]> writer,
      EncodedFileCompactor compactor,
      FileSinkOptions options) {
    return EncodedFileSink.create(
        folder,
        suffix,
        new WriterFactory(writer),
        new Folders(options.compaction()),
        new Compactor(compactor),
        options);
  }

  /**
   * The folder of rows is their bucket. A folder whose files cannot be joined fails the job before
   * a checkpoint has one of them.
   */
  private static final class Folders implements BucketAssigner<EncodedRows, String> {
    private static final long serialVersionUID = 1L;

    private final FileCompaction compaction;

    Folders(FileCompaction compaction) {
      this.compaction = compaction;
    }

    @Override
    public String getBucketId(EncodedRows rows, Context context) {
      compaction.check(new Path(rows.folder()));
      return rows.folder();
    }

    @Override
    public SimpleVersionedSerializer<String> getSerializer() {
      return SimpleVersionedStringSerializer.INSTANCE;
    }
  }

  private record WriterFactory(BulkWriter.Factory<byte[]> bytes)
      implements BulkWriter.Factory<EncodedRows> {
    @Override
    public BulkWriter<EncodedRows> create(FSDataOutputStream out) throws IOException {
      return new RowsWriter(bytes.create(out));
    }
  }

  private record RowsWriter(BulkWriter<byte[]> bytes) implements BulkWriter<EncodedRows> {
    @Override
    public void addElement(EncodedRows rows) throws IOException {
      bytes.addElement(rows.bytes());
    }

    @Override
    public void flush() throws IOException {
      bytes.flush();
    }

    @Override
    public void finish() throws IOException {
      bytes.finish();
    }
  }

  /** Flink joins files of one folder at a time. */
  private static final class Compactor extends RecordWiseFileCompactor<EncodedRows> {
    private static final long serialVersionUID = 1L;

    private final EncodedFileCompactor bytes;

    Compactor(EncodedFileCompactor bytes) {
      // Flink takes a compactor of files that are joined by their bytes for its own kinds alone.
      super(
          file -> {
            throw new UnsupportedOperationException("files are read by the compactor of bytes");
          });
      this.bytes = bytes;
    }

    @Override
    public void compact(List<Path> files, Writer<EncodedRows> joined) throws Exception {
      bytes.compact(files, element -> joined.write(new EncodedRows("", element)));
    }
  }
}

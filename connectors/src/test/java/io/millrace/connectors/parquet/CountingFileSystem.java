// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;

/** Local files under {@code counting://}, which Flink finds as a service: counts what is read. */
final class CountingFileSystem extends LocalFileSystem {
  /** Bytes read since the process started. */
  static final AtomicLong READ = new AtomicLong();

  /** Made by Flink. */
  public static final class Factory implements FileSystemFactory {
    @Override
    public String getScheme() {
      return "counting";
    }

    @Override
    public FileSystem create(URI uri) {
      return new CountingFileSystem();
    }
  }

  @Override
  public FSDataInputStream open(Path file) throws IOException {
    return new CountingStream(super.open(file));
  }

  private static final class CountingStream extends FSDataInputStream {
    private final FSDataInputStream stream;

    private CountingStream(FSDataInputStream stream) {
      this.stream = stream;
    }

    @Override
    public void seek(long position) throws IOException {
      stream.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return stream.getPos();
    }

    @Override
    public int read() throws IOException {
      READ.incrementAndGet();
      return stream.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int read = stream.read(bytes, offset, length);
      READ.addAndGet(Math.max(0, read));
      return read;
    }

    @Override
    public void close() throws IOException {
      stream.close();
    }
  }
}

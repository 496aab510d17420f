// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.RecoverableFsDataOutputStream;
import org.apache.flink.core.fs.RecoverableWriter;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.core.fs.local.LocalRecoverableWriter;

/**
 * Local files under {@code slow://}, which Flink finds as a service: while {@link #SLOW} is set, a
 * file takes {@value #BYTES_PER_MILLI} bytes a millisecond.
 */
final class SlowFileSystem extends LocalFileSystem {
  static final AtomicBoolean SLOW = new AtomicBoolean();

  /** Bytes written since the process started. */
  static final AtomicLong WRITTEN = new AtomicLong();

  private static final int BYTES_PER_MILLI = 20;
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Made by Flink. */
  public static final class Factory implements FileSystemFactory {
    @Override
    public String getScheme() {
      return "slow";
    }

    @Override
    public FileSystem create(URI uri) {
      return new SlowFileSystem();
    }
  }

  @Override
  public LocalRecoverableWriter createRecoverableWriter() {
    return new LocalRecoverableWriter(this) {
      @Override
      public RecoverableFsDataOutputStream open(Path file) throws IOException {
        return new SlowStream(super.open(file));
      }
    };
  }

  private static final class SlowStream extends RecoverableFsDataOutputStream {
    private final RecoverableFsDataOutputStream stream;

    private SlowStream(RecoverableFsDataOutputStream stream) {
      this.stream = stream;
    }

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      for (int written = 0; written < length; written += BYTES_PER_MILLI) {
        int part = Math.min(BYTES_PER_MILLI, length - written);
        if (SLOW.get()) {
          LockSupport.parkNanos(NANOS_PER_MILLI);
        }
        stream.write(bytes, offset + written, part);
        WRITTEN.addAndGet(part);
      }
    }

    @Override
    public long getPos() throws IOException {
      return stream.getPos();
    }

    @Override
    public void flush() throws IOException {
      stream.flush();
    }

    @Override
    public void sync() throws IOException {
      stream.sync();
    }

    @Override
    public RecoverableWriter.ResumeRecoverable persist() throws IOException {
      return stream.persist();
    }

    @Override
    public Committer closeForCommit() throws IOException {
      return stream.closeForCommit();
    }

    @Override
    public void close() throws IOException {
      stream.close();
    }
  }
}

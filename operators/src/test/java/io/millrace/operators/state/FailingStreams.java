// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import java.io.IOException;
import java.util.List;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/** A checkpoint whose disk is full after some writes and ends of files. */
final class FailingStreams implements CheckpointStreamFactory {
  private final CheckpointStreamFactory streams;
  private int writesLeft;

  FailingStreams(CheckpointStreamFactory streams, int writes) {
    this.streams = streams;
    this.writesLeft = writes;
  }

  private void write() throws IOException {
    if (writesLeft-- == 0) {
      throw new IOException("the disk is full");
    }
  }

  @Override
  public CheckpointStateOutputStream createCheckpointStateOutputStream(CheckpointedStateScope scope)
      throws IOException {
    return new FailingStream(streams.createCheckpointStateOutputStream(scope));
  }

  @Override
  public boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope) {
    return false;
  }

  @Override
  public List<StreamStateHandle> duplicate(
      List<StreamStateHandle> handles, CheckpointedStateScope scope) {
    throw new IllegalStateException("expected no handle that can be duplicated");
  }

  private final class FailingStream extends CheckpointStateOutputStream {
    private final CheckpointStateOutputStream stream;

    FailingStream(CheckpointStateOutputStream stream) {
      this.stream = stream;
    }

    @Override
    public void write(int value) throws IOException {
      FailingStreams.this.write();
      stream.write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      FailingStreams.this.write();
      stream.write(bytes, offset, length);
    }

    @Override
    public StreamStateHandle closeAndGetHandle() throws IOException {
      FailingStreams.this.write();
      return stream.closeAndGetHandle();
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
    public void close() throws IOException {
      stream.close();
    }
  }
}

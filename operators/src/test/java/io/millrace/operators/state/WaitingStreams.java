// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;

/** A checkpoint whose first write waits until the stream is closed, or until it may go on. */
final class WaitingStreams implements CheckpointStreamFactory {
  private final CheckpointStreamFactory streams = new MemCheckpointStreamFactory(1 << 20);
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch mayGoOn = new CountDownLatch(1);
  private volatile boolean isClosed;

  /** Waits until a write waits. */
  void awaitBegin() throws InterruptedException {
    begun.await();
  }

  /** Lets all writes go on. */
  void goOn() {
    mayGoOn.countDown();
  }

  /** Lets all writes fail. */
  void close() {
    isClosed = true;
    goOn();
  }

  @Override
  public CheckpointStateOutputStream createCheckpointStateOutputStream(CheckpointedStateScope scope)
      throws IOException {
    return new WaitingStream(streams.createCheckpointStateOutputStream(scope));
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

  private final class WaitingStream extends CheckpointStateOutputStream {
    private final CheckpointStateOutputStream stream;

    WaitingStream(CheckpointStateOutputStream stream) {
      this.stream = stream;
    }

    private void await() throws IOException {
      begun.countDown();
      try {
        mayGoOn.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      if (isClosed) {
        throw new IOException("the stream is closed");
      }
    }

    @Override
    public void write(int value) throws IOException {
      await();
      stream.write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      await();
      stream.write(bytes, offset, length);
    }

    @Override
    public StreamStateHandle closeAndGetHandle() throws IOException {
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
      WaitingStreams.this.close();
      stream.close();
    }
  }
}

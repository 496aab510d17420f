// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;

/** A checkpoint in memory, one write of which waits, and later writes of which may fail. */
final class SteppedStreams implements CheckpointStreamFactory {
  private static final int MAX_STATE_BYTES = 64 << 20;

  private final CheckpointStreamFactory streams = new MemCheckpointStreamFactory(MAX_STATE_BYTES);
  private final CountDownLatch waits = new CountDownLatch(1);
  private final CountDownLatch mayGoOn = new CountDownLatch(1);
  private volatile int writesBeforeWait = Integer.MAX_VALUE;
  private volatile boolean fails;

  /** The write after {@code writes} writes waits until {@link #goOn}. */
  void waitAfter(int writes) {
    writesBeforeWait = writes;
  }

  /** Returns when a write waits, or after {@link #ended}. */
  void awaitWaitOrEnd() throws InterruptedException {
    waits.await();
  }

  /** The writer has ended. */
  void ended() {
    waits.countDown();
  }

  void goOn() {
    mayGoOn.countDown();
  }

  /** Lets further writes fail. */
  void fail() {
    fails = true;
  }

  @Override
  public CheckpointStateOutputStream createCheckpointStateOutputStream(CheckpointedStateScope scope)
      throws IOException {
    return new SteppedStream(streams.createCheckpointStateOutputStream(scope));
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

  private final class SteppedStream extends CheckpointStateOutputStream {
    private final CheckpointStateOutputStream stream;
    private volatile boolean isClosed;

    SteppedStream(CheckpointStateOutputStream stream) {
      this.stream = stream;
    }

    private void step() throws IOException {
      if (writesBeforeWait == 0) {
        waits.countDown();
        try {
          mayGoOn.await();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
      int left = writesBeforeWait;
      writesBeforeWait = left - 1;
      if (fails || isClosed) {
        throw new IOException(isClosed ? "the stream is closed" : "injected failure of a write");
      }
    }

    @Override
    public void write(int value) throws IOException {
      step();
      stream.write(value);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      step();
      stream.write(bytes, offset, length);
    }

    @Override
    public StreamStateHandle closeAndGetHandle() throws IOException {
      step();
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
      isClosed = true;
      goOn();
      stream.close();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import io.millrace.device.GpuOutOfMemoryException;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFinalizer;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.util.ExceptionUtils;

/** The asynchronous part of a subtask's snapshot: runs at once, or in two steps. */
final class SnapshotWrite {
  private final OperatorSnapshotFutures futures;
  private final SteppedStreams streams;
  private Thread thread;
  private OperatorSubtaskState state;
  private boolean isEnded;

  SnapshotWrite(OperatorSnapshotFutures futures, SteppedStreams streams) {
    this.futures = futures;
    this.streams = streams;
  }

  boolean isBegun() {
    return thread != null;
  }

  boolean isEnded() {
    return isEnded;
  }

  /** What was written; null if the write failed or was canceled. */
  OperatorSubtaskState state() {
    return state;
  }

  /** Writes on another thread, until one write waits or the end. */
  void begin(int writesBeforeWait) throws Exception {
    streams.waitAfter(writesBeforeWait);
    thread =
        new Thread(
            () -> {
              futures.getKeyedStateRawFuture().run();
              futures.getKeyedStateManagedFuture().run();
              streams.ended();
            },
            "snapshot");
    thread.start();
    streams.awaitWaitOrEnd();
  }

  void fail() {
    streams.fail();
  }

  /** Writes the rest on the calling thread, or waits for the other one. */
  void end() throws Exception {
    streams.goOn();
    if (thread != null) {
      thread.join();
    }
    isEnded = true;
    try {
      state = OperatorSnapshotFinalizer.create(futures).getJobManagerOwnedState();
    } catch (CancellationException e) {
      state = null;
    } catch (ExecutionException e) {
      state = null;
      boolean isInjected =
          ExceptionUtils.findThrowable(e, GpuOutOfMemoryException.class).isPresent()
              || ExceptionUtils.findThrowable(e, IOException.class).isPresent();
      if (!isInjected) {
        throw e;
      }
    }
  }

  /** As a checkpoint that is aborted, or a task that ends. */
  void cancel() throws Exception {
    futures.cancel();
    if (thread != null) {
      thread.join();
    }
    isEnded = true;
    state = null;
  }
}

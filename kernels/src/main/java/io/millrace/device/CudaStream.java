// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static io.millrace.device.CudaDriver.check;

import io.millrace.device.CudaDriver.Address;
import io.millrace.device.CudaDriver.Event;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToIntFunction;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** A non-blocking CUDA stream: never ordered with the legacy default stream. */
final class CudaStream implements DeviceStream {
  private final CudaDevice device;
  private final CUstream stream = new CUstream();
  private final AtomicLong enqueued = new AtomicLong();
  private CudaEvent lastEvent;
  private long workBeforeLastEvent;
  private CudaEvent lastWaitedFor;
  private volatile boolean closed;

  CudaStream(CudaDevice device) {
    this.device = device;
    device.enter();
    check(
        JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING),
        "cuStreamCreate");
  }

  @Override
  public CudaDevice device() {
    return device;
  }

  CUstream handle() {
    if (closed) {
      throw new IllegalStateException("the stream is closed");
    }
    device.enter();
    return stream;
  }

  /**
   * Enqueues work on the stream.
   *
   * @param call names the work in exceptions
   * @param driverCall a call of the driver, which gives its result
   */
  void enqueue(String call, ToIntFunction<CUstream> driverCall) {
    check(driverCall.applyAsInt(handle()), call);
    // Not before: another thread may record an event meanwhile, which is then not of this work.
    enqueued.incrementAndGet();
  }

  @Override
  public void copy(long targetAddress, long sourceAddress, long bytes) {
    if (bytes > 0) {
      Address target = new Address(targetAddress);
      Address source = new Address(sourceAddress);
      enqueue("cuMemcpyAsync", to -> JCudaDriver.cuMemcpyAsync(target, source, bytes, to));
    }
  }

  @Override
  public void fill(long address, byte value, long bytes) {
    if (bytes > 0) {
      Address target = new Address(address);
      enqueue("cuMemsetD8Async", to -> JCudaDriver.cuMemsetD8Async(target, value, bytes, to));
    }
  }

  /** The last event again if no work was enqueued since it was recorded. */
  @Override
  public synchronized DeviceEvent recordEvent() {
    long work = enqueued.get();
    if (lastEvent == null || work != workBeforeLastEvent) {
      CudaEvent event = new CudaEvent(this);
      closeLastEvent();
      lastEvent = event;
      workBeforeLastEvent = work;
    }
    return lastEvent.retain();
  }

  private void closeLastEvent() {
    if (lastEvent != null) {
      lastEvent.close();
      lastEvent = null;
    }
  }

  // A thread that frees memory waits here, also while another thread closes the stream: the stream
  // then either waits before its last synchronization or is closed already.
  @Override
  public synchronized void waitFor(DeviceEvent event) {
    if (event instanceof CudaEvent cudaEvent && cudaEvent != lastWaitedFor) {
      enqueue("cuStreamWaitEvent", to -> JCudaDriver.cuStreamWaitEvent(to, cudaEvent.event, 0));
      lastWaitedFor = cudaEvent;
    }
  }

  @Override
  public void waitForHandle(long eventHandle) {
    Event event = new Event(eventHandle);
    enqueue("cuStreamWaitEvent", to -> JCudaDriver.cuStreamWaitEvent(to, event, 0));
  }

  // The other stream may be closed by another thread meanwhile: a closed stream was synchronized,
  // so no work of it is left to wait for.
  @Override
  public void waitFor(DeviceStream other) {
    if (other != this && other instanceof CudaStream source) {
      DeviceEvent event;
      synchronized (source) {
        if (source.closed) {
          return;
        }
        event = source.recordEvent();
      }
      try (event) {
        waitFor(event);
      }
    }
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void synchronize() {
    if (!closed) {
      check(JCudaDriver.cuStreamSynchronize(handle()), "cuStreamSynchronize");
    }
  }

  /** Frees memory of the driver's stream-ordered allocator, at once if the stream is closed. */
  synchronized void freeAsync(long address) {
    if (closed) {
      device.free(address);
    } else {
      Address freed = new Address(address);
      enqueue("cuMemFreeAsync", to -> JCudaDriver.cuMemFreeAsync(freed, to));
    }
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      try {
        synchronize();
      } finally {
        closed = true;
        check(JCudaDriver.cuStreamDestroy(stream), "cuStreamDestroy");
        closeLastEvent();
      }
    }
  }

  private static final class CudaEvent implements DeviceEvent {
    private final CudaDevice device;
    private final Event event;
    private final AtomicInteger users = new AtomicInteger(1);

    CudaEvent(CudaStream stream) {
      this.device = stream.device;
      CUstream handle = stream.handle();
      this.event = device.acquireEvent();
      check(JCudaDriver.cuEventRecord(event, handle), "cuEventRecord");
    }

    @Override
    public boolean isReached() {
      device.enter();
      int result = JCudaDriver.cuEventQuery(event);
      if (result == jcuda.driver.CUresult.CUDA_ERROR_NOT_READY) {
        return false;
      }
      check(result, "cuEventQuery");
      return true;
    }

    @Override
    public void synchronize() {
      device.enter();
      check(JCudaDriver.cuEventSynchronize(event), "cuEventSynchronize");
    }

    @Override
    public long handle() {
      return event.value();
    }

    @Override
    public CudaEvent retain() {
      users.incrementAndGet();
      return this;
    }

    @Override
    public void close() {
      if (users.decrementAndGet() == 0) {
        device.releaseEvent(event);
      }
    }
  }
}

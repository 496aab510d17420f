// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static io.millrace.device.CudaDriver.check;

import io.millrace.device.CudaDriver.Address;
import io.millrace.device.CudaDriver.Event;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/** A non-blocking CUDA stream: never ordered with the legacy default stream. */
final class CudaStream implements DeviceStream {
  private final CudaDevice device;
  private final CUstream stream = new CUstream();
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

  @Override
  public void copy(long targetAddress, long sourceAddress, long bytes) {
    if (bytes > 0) {
      check(
          JCudaDriver.cuMemcpyAsync(
              new Address(targetAddress), new Address(sourceAddress), bytes, handle()),
          "cuMemcpyAsync");
    }
  }

  @Override
  public void fill(long address, byte value, long bytes) {
    if (bytes > 0) {
      check(
          JCudaDriver.cuMemsetD8Async(new Address(address), value, bytes, handle()),
          "cuMemsetD8Async");
    }
  }

  @Override
  public DeviceEvent recordEvent() {
    return new CudaEvent(this);
  }

  // A thread that frees memory waits here, also while another thread closes the stream: the stream
  // then either waits before its last synchronization or is closed already.
  @Override
  public synchronized void waitFor(DeviceEvent event) {
    if (event instanceof CudaEvent cudaEvent) {
      check(JCudaDriver.cuStreamWaitEvent(handle(), cudaEvent.event, 0), "cuStreamWaitEvent");
    }
  }

  @Override
  public void waitForHandle(long eventHandle) {
    check(JCudaDriver.cuStreamWaitEvent(handle(), new Event(eventHandle), 0), "cuStreamWaitEvent");
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
      check(JCudaDriver.cuMemFreeAsync(new Address(address), handle()), "cuMemFreeAsync");
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
      }
    }
  }

  private static final class CudaEvent implements DeviceEvent {
    private final CudaDevice device;
    private final Event event = new Event();
    private final AtomicInteger users = new AtomicInteger(1);

    CudaEvent(CudaStream stream) {
      this.device = stream.device;
      CUstream handle = stream.handle();
      check(
          JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING), "cuEventCreate");
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
    public DeviceEvent retain() {
      users.incrementAndGet();
      return this;
    }

    @Override
    public void close() {
      if (users.decrementAndGet() == 0) {
        device.enter();
        check(JCudaDriver.cuEventDestroy(event), "cuEventDestroy");
      }
    }
  }
}

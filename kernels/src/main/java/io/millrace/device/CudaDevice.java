// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static io.millrace.device.CudaDriver.check;

import io.millrace.annotation.Internal;
import io.millrace.device.CudaDriver.Address;
import io.millrace.device.CudaDriver.Event;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUevent_flags;
import jcuda.driver.JCudaDriver;

/** An NVIDIA GPU: its primary context, made current on every thread that enters. */
@Internal
public final class CudaDevice implements Device {
  private static final ThreadLocal<CudaDevice> CURRENT = new ThreadLocal<>();
  private static final int BUS_ID_BYTES = 32;

  /** What the driver says of itself. */
  private record Driver(int gpus, int cudaVersion) {}

  private final int index;
  private final CUcontext context = new CUcontext();
  private final String description;
  private final GpuProperties properties;
  private final Map<String, KernelModule> modules = new ConcurrentHashMap<>();
  private final LongAdder launches = new LongAdder();
  private final PinnedStagingPool stagingPool = new PinnedStagingPool(this);
  // The driver makes and destroys events under a lock that all threads wait for.
  private final Queue<Event> idleEvents = new ConcurrentLinkedQueue<>();

  private CudaDevice(int index, int cudaVersion) {
    this.index = index;
    CUdevice device = device(index);
    byte[] name = new byte[256];
    check(JCudaDriver.cuDeviceGetName(name, name.length, device), "cuDeviceGetName");
    long[] bytes = new long[1];
    check(JCudaDriver.cuDeviceTotalMem(bytes, device), "cuDeviceTotalMem");
    String[] busId = new String[1];
    check(JCudaDriver.cuDeviceGetPCIBusId(busId, BUS_ID_BYTES, device), "cuDeviceGetPCIBusId");
    this.description =
        String.format(
            "GPU %d (%s, %d MiB, PCI %s)",
            index,
            new String(name, StandardCharsets.US_ASCII).replace("\0", ""),
            bytes[0] >> 20,
            busId[0]);
    this.properties = GpuProperties.of(device);
    properties.checkSupported(description, cudaVersion);
    check(JCudaDriver.cuDevicePrimaryCtxRetain(context, device), "cuDevicePrimaryCtxRetain");
  }

  /**
   * Opens GPU {@code index}.
   *
   * @throws DeviceUnavailableException if JCuda's natives or the driver do not load, if there is no
   *     such GPU, or if the kernels do not run on the GPU or with the driver
   */
  static CudaDevice open(int index) {
    Driver driver = driver();
    if (index < 0 || index >= driver.gpus()) {
      throw new DeviceUnavailableException(
          "there is no GPU " + index + ": the driver sees " + driver.gpus(), null);
    }
    return new CudaDevice(index, driver.cudaVersion());
  }

  /** The indexes that {@link #open} accepts. */
  static List<Integer> usable() {
    try {
      Driver driver = driver();
      return IntStream.range(0, driver.gpus())
          .filter(index -> isSupported(index, driver.cudaVersion()))
          .boxed()
          .toList();
    } catch (DeviceUnavailableException e) {
      return List.of();
    }
  }

  private static boolean isSupported(int index, int cudaVersion) {
    try {
      GpuProperties.of(device(index)).checkSupported("GPU " + index, cudaVersion);
      return true;
    } catch (DeviceUnavailableException e) {
      return false;
    }
  }

  private static CUdevice device(int index) {
    CUdevice device = new CUdevice();
    check(JCudaDriver.cuDeviceGet(device, index), "cuDeviceGet");
    return device;
  }

  private static Driver driver() {
    int[] count = new int[1];
    int[] cudaVersion = new int[1];
    try {
      JCudaDriver.setExceptionsEnabled(false);
      check(JCudaDriver.cuInit(0), "cuInit");
      check(JCudaDriver.cuDeviceGetCount(count), "cuDeviceGetCount");
      check(JCudaDriver.cuDriverGetVersion(cudaVersion), "cuDriverGetVersion");
    } catch (GpuException | LinkageError e) {
      throw new DeviceUnavailableException(
          "no GPU can be used: "
              + reason(e)
              + "; set "
              + OPTION
              + "=host or auto to run without one",
          e);
    }
    return new Driver(count[0], cudaVersion[0]);
  }

  private static String reason(Throwable failure) {
    if (failure instanceof GpuException) {
      return failure.getMessage();
    }
    return isLoadedElsewhere(failure)
        ? "another class loader of this process has loaded JCuda, so that Millrace's jar has to be"
            + " in the lib folder of Flink"
        : "the CUDA driver does not load";
  }

  /** Whether a GPU is not used for the class loader alone. */
  static boolean isLoadedElsewhere(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
        .anyMatch(
            cause ->
                cause instanceof LinkageError
                    && String.valueOf(cause.getMessage()).contains("in another classloader"));
  }

  /** Makes this device's context current on the calling thread. */
  void enter() {
    if (CURRENT.get() != this) {
      check(JCudaDriver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
      CURRENT.set(this);
    }
  }

  @Override
  public DeviceKind kind() {
    return DeviceKind.CUDA;
  }

  @Override
  public String description() {
    return description;
  }

  @Override
  public int index() {
    return index;
  }

  @Override
  public GpuProperties properties() {
    return properties;
  }

  @Override
  public DeviceStream createStream() {
    return new CudaStream(this);
  }

  @Override
  public long allocateAsync(long bytes, DeviceStream stream) {
    Address address = new Address();
    ((CudaStream) stream)
        .enqueue(
            "cuMemAllocAsync of " + bytes + " bytes",
            to -> JCudaDriver.cuMemAllocAsync(address, bytes, to));
    return address.value();
  }

  @Override
  public void freeAsync(long address, DeviceStream stream) {
    ((CudaStream) stream).freeAsync(address);
  }

  @Override
  public long allocate(long bytes) {
    enter();
    Address address = new Address();
    check(JCudaDriver.cuMemAlloc(address, bytes), "cuMemAlloc of " + bytes + " bytes");
    return address.value();
  }

  @Override
  public void free(long address) {
    enter();
    check(JCudaDriver.cuMemFree(new Address(address)), "cuMemFree");
  }

  @Override
  public long allocatePinned(long bytes) {
    enter();
    HostPointer pointer = new HostPointer();
    check(
        JCudaDriver.cuMemHostAlloc(
            pointer,
            bytes,
            JCudaDriver.CU_MEMHOSTALLOC_DEVICEMAP | JCudaDriver.CU_MEMHOSTALLOC_PORTABLE),
        "cuMemHostAlloc of " + bytes + " bytes");
    return pointer.value();
  }

  @Override
  public void freePinned(long address) {
    enter();
    check(JCudaDriver.cuMemFreeHost(new HostPointer(address)), "cuMemFreeHost");
  }

  /** An event without timing, to be recorded: one that was given back, or a new one. */
  Event acquireEvent() {
    Event idle = idleEvents.poll();
    if (idle != null) {
      return idle;
    }
    enter();
    Event event = new Event();
    check(JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    return event;
  }

  /**
   * Keeps an event to be recorded again, behind those that were given back before: recording an
   * event costs more while the device has not reached its last record. Streams that wait for that
   * record keep waiting for it.
   */
  void releaseEvent(Event event) {
    idleEvents.add(event);
  }

  @Override
  public PinnedStagingPool stagingPool() {
    return stagingPool;
  }

  @Override
  public KernelModule loadModule(String name) {
    return modules.computeIfAbsent(name, key -> CudaKernelModule.load(this, key));
  }

  @Override
  public KernelModule compileModule(String ptx) {
    return CudaKernelModule.compile(this, "generated PTX", ptx);
  }

  @Override
  public long launchCount() {
    return launches.sum();
  }

  void countLaunch() {
    launches.increment();
  }

  /** A host address in the form that JCuda wants. */
  static final class HostPointer extends Pointer {
    HostPointer() {}

    HostPointer(long address) {
      super(address);
    }

    long value() {
      return getNativePointer() + getByteOffset();
    }
  }
}

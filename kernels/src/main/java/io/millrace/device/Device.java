// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;
import java.util.List;

/**
 * A processor with memory of its own (a CUDA GPU) or the host's (the host device).
 *
 * <p>A device lives as long as the process; it is never closed. All methods may be called from any
 * thread. No method synchronizes the whole device.
 */
@PublicEvolving
public interface Device {

  /** The name of the system property and of the Flink option that chooses the device. */
  String OPTION = "millrace.device";

  DeviceKind kind();

  /** Whether the host reads and writes this device's memory by its address. */
  default boolean isHostAccessible() {
    return kind() == DeviceKind.HOST;
  }

  /** A description in one line: the processor's name and memory, and of a GPU its PCI address. */
  String description();

  /** The index of the GPU as the driver counts GPUs; -1 on the host. */
  int index();

  /**
   * The properties that launch shapes are chosen from.
   *
   * @throws UnsupportedOperationException on the host device, whose kernels are plain Java
   */
  default GpuProperties properties() {
    throw new UnsupportedOperationException(description() + " is not a GPU");
  }

  /** Creates a stream that does not synchronize with any other. The caller closes it. */
  DeviceStream createStream();

  /**
   * Allocates device memory that is usable by work enqueued on {@code stream} after this call.
   *
   * @param bytes at least 1
   * @return an address aligned to at least 64 bytes
   * @throws GpuOutOfMemoryException if the device has too little memory left
   */
  long allocateAsync(long bytes, DeviceStream stream);

  /**
   * Frees memory allocated by {@link #allocateAsync} once the work enqueued on {@code stream} is
   * done. The stream may be closed.
   */
  void freeAsync(long address, DeviceStream stream);

  /**
   * Allocates device memory without a pool, so that memory checkers see each allocation's bounds.
   *
   * @throws GpuOutOfMemoryException if the device has no such memory left
   */
  long allocate(long bytes);

  /** Frees memory allocated by {@link #allocate}; waits for the work that uses it. */
  void free(long address);

  /**
   * Allocates host memory that this device copies from and to at full speed and whose address its
   * kernels can use. Slow: allocate once and pool.
   *
   * @throws GpuOutOfMemoryException if the host cannot pin that much
   */
  long allocatePinned(long bytes);

  void freePinned(long address);

  /** Pooled pinned memory for transfers and for results that the host waits for. */
  PinnedStagingPool stagingPool();

  /**
   * Loads the kernels compiled ahead of time from {@code name}.cu, once per device.
   *
   * @throws UnsupportedOperationException on the host device, whose kernels are plain Java
   */
  KernelModule loadModule(String name);

  /**
   * Compiles a module of generated PTX, which the caller closes.
   *
   * @throws GpuException if the driver rejects the PTX
   * @throws UnsupportedOperationException on the host device
   */
  default KernelModule compileModule(String ptx) {
    throw new UnsupportedOperationException(description() + " runs no compiled kernels");
  }

  /** Kernels launched on this device since the process began; always 0 on the host device. */
  long launchCount();

  /**
   * The device that this process's {@value #OPTION} system property names; {@code auto} if unset.
   */
  static Device current() {
    return select(
        System.getProperty(OPTION, "auto"), Integer.getInteger("millrace.device.index", 0));
  }

  /**
   * The indexes of the GPUs that run kernels, as the driver counts GPUs: those that {@code
   * CUDA_VISIBLE_DEVICES} lets it see, without those that are too old. Empty without a driver.
   */
  static List<Integer> gpus() {
    return CudaDevice.usable();
  }

  /**
   * Chooses a device. The same arguments give the same object.
   *
   * @param option {@code auto} (the GPU when a driver loads and sees one, else the host), {@code
   *     cuda} or {@code host}
   * @param index the index of the GPU; ignored for the host
   * @throws DeviceUnavailableException if the option is {@code cuda} and no GPU can be used
   * @throws IllegalArgumentException if {@code option} has another value
   */
  static Device select(String option, int index) {
    return DeviceSelection.select(option, index);
  }
}

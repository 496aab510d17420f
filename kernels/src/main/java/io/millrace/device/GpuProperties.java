// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static io.millrace.device.CudaDriver.check;

import io.millrace.annotation.Internal;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.JCudaDriver;

/**
 * The properties of a GPU that matter to kernels, as its driver reports them. Launch shapes are
 * chosen from these numbers, never from the name of a GPU.
 *
 * @param computeCapability major version times 10 plus minor version: 80 for an A100, 90 for an
 *     H200
 * @param multiprocessors multiprocessors of the GPU, or of its MIG slice
 * @param threadsPerMultiprocessor threads that one multiprocessor holds at once
 * @param sharedBytesPerBlock shared memory that one block may have after its kernel's limit was
 *     raised ({@code MAX_SHARED_MEMORY_PER_BLOCK_OPTIN})
 * @param sharedBytesPerMultiprocessor shared memory of one multiprocessor
 * @param reservedSharedBytesPerBlock shared memory that the driver takes for each block
 * @param cooperativeLaunch whether a grid may wait for all of its blocks
 */
@Internal
public record GpuProperties(
    int computeCapability,
    int multiprocessors,
    int threadsPerMultiprocessor,
    int sharedBytesPerBlock,
    int sharedBytesPerMultiprocessor,
    int reservedSharedBytesPerBlock,
    boolean cooperativeLaunch) {

  /** The target of {@code scripts/compile-kernels}: PTX runs on this compute capability and up. */
  static final int MIN_COMPUTE_CAPABILITY = 80;

  /** CUDA 13.0, whose PTX is ISA 9.0; as {@code cuDriverGetVersion} counts. */
  static final int MIN_CUDA_VERSION = 13_000;

  static GpuProperties of(CUdevice device) {
    return new GpuProperties(
        10 * attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
            + attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
        attribute(
            device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
        attribute(device, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0);
  }

  private static int attribute(CUdevice device, int attribute) {
    int[] value = new int[1];
    check(
        JCudaDriver.cuDeviceGetAttribute(value, attribute, device),
        "cuDeviceGetAttribute " + CUdevice_attribute.stringFor(attribute));
    return value[0];
  }

  /**
   * The number of blocks with {@code sharedBytes} of shared memory each that a multiprocessor
   * holds.
   */
  public int blocksPerMultiprocessor(int threads, int sharedBytes) {
    return Math.min(
        threadsPerMultiprocessor / threads,
        sharedBytesPerMultiprocessor / (sharedBytes + reservedSharedBytesPerBlock));
  }

  /**
   * Does nothing if the kernels can be loaded.
   *
   * @param name the name of the GPU for the message
   * @param cudaVersion the CUDA version of the driver, as {@code cuDriverGetVersion} counts
   * @throws DeviceUnavailableException if the driver is older than CUDA 13.0, or the compute
   *     capability is less than 8.0; the message states the required and the actual version
   */
  void checkSupported(String name, int cudaVersion) {
    if (cudaVersion < MIN_CUDA_VERSION) {
      throw new DeviceUnavailableException(
          String.format(
              "%s needs a driver for CUDA %d.%d (580 or newer), its driver is for CUDA %d.%d",
              name,
              MIN_CUDA_VERSION / 1000,
              MIN_CUDA_VERSION % 1000 / 10,
              cudaVersion / 1000,
              cudaVersion % 1000 / 10),
          null);
    }
    if (computeCapability < MIN_COMPUTE_CAPABILITY) {
      throw new DeviceUnavailableException(
          String.format(
              "%s has compute capability %d.%d, the kernels need %d.%d or higher",
              name,
              computeCapability / 10,
              computeCapability % 10,
              MIN_COMPUTE_CAPABILITY / 10,
              MIN_COMPUTE_CAPABILITY % 10),
          null);
    }
  }
}

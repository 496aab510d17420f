// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.Internal;

/**
 * Kernels that are loaded on one device: those compiled ahead of time from one CUDA source file,
 * which stay with the device, or those of generated PTX, which whoever had them compiled closes.
 */
@Internal
public interface KernelModule extends AutoCloseable {

  /**
   * The kernel with this name.
   *
   * @throws GpuException if the module has none
   */
  KernelFunction function(String name);

  /**
   * Reads the 32-bit constant {@code name} that the module defines, such as the size of a structure
   * that Java fills in.
   *
   * @throws GpuException if the module has none
   */
  int constant(String name);

  /** Unloads the kernels; the work that they were launched for must be done. */
  @Override
  void close();
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/**
 * Kernels that are loaded on a device. Kernels compiled ahead of time from a CUDA source file stay
 * loaded as long as the device; a module of generated PTX is closed by the caller that compiled it.
 */
@PublicEvolving
public interface KernelModule extends AutoCloseable {

  /**
   * The kernel with the given name.
   *
   * @throws GpuException if the module has no such kernel
   */
  KernelFunction function(String name);

  /**
   * Reads the 32-bit constant {@code name} that the module defines, such as the size of a structure
   * that Java fills in.
   *
   * @throws GpuException if the module has no such constant
   */
  int constant(String name);

  /** Unloads the kernels; the work that they were launched for must be done. */
  @Override
  void close();
}

package io.millrace.device;

/** Kernels compiled from one CUDA source file and loaded on one device; lives with the device. */
public interface KernelModule {

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
}

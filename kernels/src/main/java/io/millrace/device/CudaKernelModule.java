// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static io.millrace.device.CudaDriver.check;

import io.millrace.device.CudaDevice.HostPointer;
import io.millrace.device.CudaDriver.Address;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;

/** PTX, compiled by the driver to the GPU's own machine code. */
final class CudaKernelModule implements KernelModule {
  private static final String FOLDER = "/io/millrace/cuda/";

  private final CudaDevice device;
  private final CUmodule module = new CUmodule();
  private final Map<String, KernelFunction> functions = new ConcurrentHashMap<>();

  private CudaKernelModule(CudaDevice device) {
    this.device = device;
  }

  static CudaKernelModule load(CudaDevice device, String name) {
    String resource = FOLDER + name + ".ptx";
    try (InputStream stream = CudaKernelModule.class.getResourceAsStream(resource)) {
      if (stream == null) {
        throw new GpuException("there is no kernel module " + resource);
      }
      return compile(
          device, resource, new String(stream.readAllBytes(), StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static CudaKernelModule compile(CudaDevice device, String name, String ptx) {
    CudaKernelModule loaded = new CudaKernelModule(device);
    device.enter();
    check(JCudaDriver.cuModuleLoadData(loaded.module, ptx), "cuModuleLoadData of " + name);
    return loaded;
  }

  @Override
  public KernelFunction function(String name) {
    return functions.computeIfAbsent(name, this::load);
  }

  private KernelFunction load(String name) {
    device.enter();
    CUfunction function = new CUfunction();
    check(JCudaDriver.cuModuleGetFunction(function, module, name), "cuModuleGetFunction " + name);
    return new CudaKernelFunction(device, function, name);
  }

  @Override
  public int constant(String name) {
    device.enter();
    Address address = new Address();
    long[] bytes = new long[1];
    check(JCudaDriver.cuModuleGetGlobal(address, bytes, module, name), "cuModuleGetGlobal " + name);
    if (bytes[0] != Integer.BYTES) {
      throw new GpuException(name + " has " + bytes[0] + " bytes, not " + Integer.BYTES);
    }
    try (StagingBuffer value = device.stagingPool().acquire(Integer.BYTES);
        DeviceStream stream = device.createStream()) {
      stream.copy(value.address(), address.value(), Integer.BYTES);
      stream.synchronize();
      return HostMemory.getInt(value.address());
    }
  }

  @Override
  public void close() {
    device.enter();
    check(JCudaDriver.cuModuleUnload(module), "cuModuleUnload");
  }

  private static final class CudaKernelFunction implements KernelFunction {
    private static final int DEFAULT_LIMIT_BYTES = 48 << 10;

    private final CudaDevice device;
    private final CUfunction function;
    private final String name;
    private int sharedLimitBytes;

    CudaKernelFunction(CudaDevice device, CUfunction function, String name) {
      this.device = device;
      this.function = function;
      this.name = name;
      this.sharedLimitBytes = DEFAULT_LIMIT_BYTES - staticSharedBytes(function, name);
    }

    private static int staticSharedBytes(CUfunction function, String name) {
      int[] bytes = new int[1];
      check(
          JCudaDriver.cuFuncGetAttribute(
              bytes, CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
          "static shared memory of " + name);
      return bytes[0];
    }

    @Override
    public void launch(
        int blocks, int threads, int sharedBytes, DeviceStream stream, KernelArguments arguments) {
      raiseSharedLimit(sharedBytes);
      HostPointer parameters = new HostPointer(arguments.parametersAddress());
      ((CudaStream) stream)
          .enqueue(
              "launch of " + name,
              to ->
                  JCudaDriver.cuLaunchKernel(
                      function, blocks, 1, 1, threads, 1, 1, sharedBytes, to, parameters, null));
      device.countLaunch();
    }

    @Override
    public void launchCooperative(
        int blocks, int threads, int sharedBytes, DeviceStream stream, KernelArguments arguments) {
      raiseSharedLimit(sharedBytes);
      HostPointer parameters = new HostPointer(arguments.parametersAddress());
      ((CudaStream) stream)
          .enqueue(
              "cooperative launch of " + name,
              to ->
                  JCudaDriver.cuLaunchCooperativeKernel(
                      function, blocks, 1, 1, threads, 1, 1, sharedBytes, to, parameters));
      device.countLaunch();
    }

    @Override
    public int residentBlocks(int threads, int sharedBytes) {
      raiseSharedLimit(sharedBytes);
      device.enter();
      int[] blocks = new int[1];
      check(
          JCudaDriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
              blocks, function, threads, sharedBytes),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
      return blocks[0] * device.properties().multiprocessors();
    }

    // A block gets more than 48 KiB of shared memory, with what the kernel declares, only after the
    // kernel's limit is raised.
    private synchronized void raiseSharedLimit(int sharedBytes) {
      if (sharedBytes > sharedLimitBytes) {
        device.enter();
        check(
            JCudaDriver.cuFuncSetAttribute(
                function,
                CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                sharedBytes),
            "shared memory limit of " + name);
        sharedLimitBytes = sharedBytes;
      }
    }
  }
}

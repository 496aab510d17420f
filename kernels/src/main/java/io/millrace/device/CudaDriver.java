// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Set;
import jcuda.NativePointerObject;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUresult;

/** Turns results of the CUDA driver into exceptions, and addresses into JCuda's pointers. */
final class CudaDriver {
  // Errors of drivers that are newer than JCuda, from cuda.h of CUDA 13.
  private static final int ERROR_CONTAINED = 226;
  private static final int ERROR_TENSOR_MEMORY_LEAK = 721;

  // After these the context answers every call with the same error.
  private static final Set<Integer> FATAL =
      Set.of(
          ERROR_CONTAINED,
          ERROR_TENSOR_MEMORY_LEAK,
          CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED,
          CUresult.CUDA_ERROR_EXTERNAL_DEVICE,
          CUresult.CUDA_ERROR_MPS_CLIENT_TERMINATED,
          CUresult.CUDA_ERROR_DEINITIALIZED,
          CUresult.CUDA_ERROR_ECC_UNCORRECTABLE,
          CUresult.CUDA_ERROR_NVLINK_UNCORRECTABLE,
          CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
          CUresult.CUDA_ERROR_LAUNCH_TIMEOUT,
          CUresult.CUDA_ERROR_ASSERT,
          CUresult.CUDA_ERROR_HARDWARE_STACK_ERROR,
          CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION,
          CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
          CUresult.CUDA_ERROR_INVALID_ADDRESS_SPACE,
          CUresult.CUDA_ERROR_INVALID_PC,
          CUresult.CUDA_ERROR_LAUNCH_FAILED,
          CUresult.CUDA_ERROR_UNKNOWN);

  private CudaDriver() {}

  /**
   * Does nothing for success.
   *
   * @throws GpuOutOfMemoryException for out of memory
   * @throws GpuFatalError for an error that the process cannot outlive
   * @throws GpuException for any other error
   */
  static void check(int result, String call) {
    if (result == CUresult.CUDA_SUCCESS) {
      return;
    }
    String message = call + " failed: " + CUresult.stringFor(result) + " (" + result + ")";
    if (result == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
      throw new GpuOutOfMemoryException(message);
    }
    if (FATAL.contains(result)) {
      throw GpuFatalError.handled(message);
    }
    throw new GpuException(message);
  }

  /** An event, made by the driver or known by its handle. */
  static final class Event extends CUevent {
    // JCuda's constructors take no handle.
    private static final VarHandle HANDLE = handleField();

    private static VarHandle handleField() {
      try {
        return MethodHandles.privateLookupIn(NativePointerObject.class, MethodHandles.lookup())
            .findVarHandle(NativePointerObject.class, "nativePointer", long.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    Event() {}

    Event(long handle) {
      HANDLE.set((NativePointerObject) this, handle);
    }

    long value() {
      return getNativePointer();
    }
  }

  /** A pointer with a known address; also receives the address of an allocation. */
  static final class Address extends CUdeviceptr {
    Address(long address) {
      super(new CUdeviceptr(), address);
    }

    Address() {}

    long value() {
      return getNativePointer() + getByteOffset();
    }
  }
}

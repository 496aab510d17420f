// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.PerDevice;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;

/** The operations of write.cu, on the host or by its kernels. Addresses are on the device. */
interface WriteKernels {
  PerDevice<WriteKernels> KERNELS =
      new PerDevice<>(host -> new HostWriteKernels(), CudaWriteKernels::new);

  /**
   * Rows to be written.
   *
   * @param planAddress what {@link WritePlan#write} wrote
   * @param powers what {@link FloatWriter#writePowers} wrote
   * @param columns what {@link WriteColumns#write} wrote
   * @param count at least 1
   * @param positions an INT32 for each record, and one more
   * @param scratch address of {@link #scratchBytes} bytes
   * @param result address of an INT64 that the host and the device reach
   */
  record Rows(
      WritePlan plan,
      long planAddress,
      long powers,
      long columns,
      int count,
      long positions,
      long scratch,
      long result,
      DeviceStream stream) {}

  /** Bytes of scratch memory. */
  long scratchBytes(int count);

  /**
   * Writes the records, and the position of each. Waits for the number of bytes; the rest is
   * enqueued.
   *
   * @param memory of the bytes
   * @return the bytes of the records, which are the caller's
   * @throws GpuOutOfMemoryException if there is too little memory, or there are more than 2^31 - 16
   *     bytes
   */
  Buffer write(Rows rows, MemoryResource memory);
}

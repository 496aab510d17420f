// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;

/** The operations of write.cu, on the host or by its kernels. Addresses are on the device. */
interface WriteKernels {
  PerDevice<WriteKernels> KERNELS =
      new PerDevice<>(host -> new HostWriteKernels(), CudaWriteKernels::new);

  /** Bytes that may be written behind the last record. */
  int MAX_BYTES_BEHIND = Long.BYTES - 1;

  /**
   * Rows to be written.
   *
   * @param planAddress what {@link WritePlan#write} wrote
   * @param powers what {@link FloatWriter#writePowers} wrote
   * @param columns what {@link WriteColumns#write} wrote
   * @param count at least 1
   * @param positions an INT32 for each record, and one more
   * @param scratch address of {@link #scratchBytes} bytes
   * @param result address of an INT64, the bytes of all records, that the host and the device reach
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
   * Counts the bytes of each record: the positions, which are whole if all records have less than
   * 2^31 bytes, and the result. Waits for the work.
   */
  void measure(Rows rows);

  /**
   * Writes the records. Enqueued.
   *
   * @param bytes where they go, with room for {@link #MAX_BYTES_BEHIND} bytes behind them
   */
  void write(Rows rows, long bytes);
}

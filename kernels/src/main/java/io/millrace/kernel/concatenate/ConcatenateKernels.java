// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.concatenate;

import io.millrace.device.DeviceStream;

/** The operations of concatenate.cu, on the host or by its kernels. Addresses are on the device. */
interface ConcatenateKernels {

  /**
   * Copies bits to a mask that is zero there. Enqueued.
   *
   * @param source 0: all bits are set
   * @param bits at least 1
   */
  void bits(
      long target, long targetBit, long source, long sourceBit, int bits, DeviceStream stream);

  /** Copies {@code count} INT32 and adds {@code shift} to each. Enqueued. */
  void offsets(long target, long source, int shift, int count, DeviceStream stream);
}

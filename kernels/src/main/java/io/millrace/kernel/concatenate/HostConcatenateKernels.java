// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.concatenate;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;

/** The twin of concatenate.cu. */
final class HostConcatenateKernels implements ConcatenateKernels {

  @Override
  public void bits(
      long target, long targetBit, long source, long sourceBit, int bits, DeviceStream stream) {
    for (int i = 0; i < bits; i++) {
      boolean isSet = source == 0 || HostMemory.getBit(source, sourceBit + i);
      HostMemory.putBit(target, targetBit + i, isSet);
    }
  }

  @Override
  public void offsets(long target, long source, int shift, int count, DeviceStream stream) {
    for (int i = 0; i < count; i++) {
      long place = (long) i * Integer.BYTES;
      HostMemory.putInt(target + place, HostMemory.getInt(source + place) + shift);
    }
  }
}

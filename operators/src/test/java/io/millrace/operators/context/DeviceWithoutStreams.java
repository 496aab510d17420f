// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;

/** The host as another device, which refuses the first stream. */
final class DeviceWithoutStreams extends OtherHostDevice {
  private boolean refused;

  DeviceWithoutStreams() {
    super(-1);
  }

  @Override
  public DeviceStream createStream() {
    if (!refused) {
      refused = true;
      throw new GpuOutOfMemoryException("no stream");
    }
    return super.createStream();
  }
}

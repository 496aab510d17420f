// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.KernelModule;
import io.millrace.device.PinnedStagingPool;

/** The host as another device. */
class OtherHostDevice implements Device {
  private final int index;

  OtherHostDevice(int index) {
    this.index = index;
  }

  @Override
  public DeviceKind kind() {
    return DeviceKind.HOST;
  }

  @Override
  public String description() {
    return "the host as device " + index;
  }

  @Override
  public int index() {
    return index;
  }

  @Override
  public DeviceStream createStream() {
    return HostDevice.INSTANCE.createStream();
  }

  @Override
  public long allocateAsync(long bytes, DeviceStream stream) {
    return HostDevice.INSTANCE.allocateAsync(bytes, stream);
  }

  @Override
  public void freeAsync(long address, DeviceStream stream) {
    HostDevice.INSTANCE.freeAsync(address, stream);
  }

  @Override
  public long allocate(long bytes) {
    return HostDevice.INSTANCE.allocate(bytes);
  }

  @Override
  public void free(long address) {
    HostDevice.INSTANCE.free(address);
  }

  @Override
  public long allocatePinned(long bytes) {
    return HostDevice.INSTANCE.allocatePinned(bytes);
  }

  @Override
  public void freePinned(long address) {
    HostDevice.INSTANCE.freePinned(address);
  }

  @Override
  public PinnedStagingPool stagingPool() {
    return HostDevice.INSTANCE.stagingPool();
  }

  @Override
  public KernelModule loadModule(String name) {
    return HostDevice.INSTANCE.loadModule(name);
  }

  @Override
  public long launchCount() {
    return 0;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Chooses the process's devices and says so once for each. */
final class DeviceSelection {
  private static final Logger LOG = LoggerFactory.getLogger(Device.class);
  private static final Map<Integer, CudaDevice> CUDA_DEVICES = new ConcurrentHashMap<>();
  private static final Set<String> ANNOUNCED = ConcurrentHashMap.newKeySet();

  private DeviceSelection() {}

  static Device select(String option, int index) {
    return switch (option) {
      case "host" -> announce(option, HostDevice.INSTANCE, "");
      case "cuda" -> announce(option, cuda(index), "");
      case "auto" -> automatic(option, index);
      default ->
          throw new IllegalArgumentException(
              "expected auto, cuda or host for " + Device.OPTION + ", got '" + option + "'");
    };
  }

  private static Device automatic(String option, int index) {
    try {
      return announce(option, cuda(index), "");
    } catch (DeviceUnavailableException e) {
      if (CudaDevice.isLoadedElsewhere(e) && ANNOUNCED.add("class loader")) {
        LOG.warn("{}", e.getMessage());
      }
      return announce(option, HostDevice.INSTANCE, " (" + e.getMessage() + ")");
    }
  }

  private static CudaDevice cuda(int index) {
    return CUDA_DEVICES.computeIfAbsent(index, CudaDevice::open);
  }

  private static Device announce(String option, Device device, String reason) {
    if (ANNOUNCED.add(option + device.index())) {
      LOG.info("{}={}: running on {}{}", Device.OPTION, option, device.description(), reason);
    }
    return device;
  }
}

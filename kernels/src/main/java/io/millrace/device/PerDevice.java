// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.Internal;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * An operation with one implementation for the host and another for CUDA: one instance per device,
 * created when it is first needed. Thread-safe.
 *
 * @param <T> the operation
 */
@Internal
public final class PerDevice<T> {
  private final Map<Device, T> instances = new ConcurrentHashMap<>();
  private final Function<Device, T> host;
  private final Function<Device, T> cuda;

  /**
   * @param host creates the implementation for the host device
   * @param cuda creates the implementation for a GPU
   */
  public PerDevice(Function<Device, T> host, Function<Device, T> cuda) {
    this.host = host;
    this.cuda = cuda;
  }

  /** The implementation for {@code device}. */
  public T of(Device device) {
    T instance = instances.get(device);
    return instance != null ? instance : instances.computeIfAbsent(device, this::create);
  }

  private T create(Device device) {
    return switch (device.kind()) {
      case HOST -> host.apply(device);
      case CUDA -> cuda.apply(device);
    };
  }
}

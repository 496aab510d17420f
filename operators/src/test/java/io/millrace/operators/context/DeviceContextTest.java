// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.HostDevice;
import io.millrace.memory.Buffer;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.junit.jupiter.api.Test;

class DeviceContextTest {

  @Test
  void operatorsOfOneChainShareAStreamUntilTheLastCloses() {
    Device device = Device.current();
    Object chain = new Object();
    ChainResources first = ChainResources.acquire(chain, JobEnvironment.ofProcess(), () -> device);
    ChainResources second =
        ChainResources.acquire(
            chain,
            JobEnvironment.ofProcess(),
            () -> {
              throw new AssertionError("the device is chosen once");
            });
    ChainResources other =
        ChainResources.acquire(new Object(), JobEnvironment.ofProcess(), () -> device);
    assertThat(second).isSameAs(first);
    assertThat(other.stream()).isNotSameAs(first.stream());

    first.release();
    first.stream().synchronize();
    second.release();
    ChainResources reopened =
        ChainResources.acquire(chain, JobEnvironment.ofProcess(), () -> device);
    assertThat(reopened).isNotSameAs(first);
    reopened.release();
    other.release();
  }

  @Test
  void aClosedStreamOfAGpuRefusesWork() {
    Device device = Device.current();
    DeviceContext context = DeviceContext.open(device);
    context.close();
    context.close();
    if (device.kind() == DeviceKind.CUDA) {
      assertThatThrownBy(context.stream()::recordEvent).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void memoryIsCountedForTheDevice() {
    Device device = Device.current();
    long before = DeviceContext.heldBytes(device);
    try (DeviceContext context = DeviceContext.open(device)) {
      assertThat(context.device()).isSameAs(device);
      assertThat(context.resource().device()).isSameAs(device);
      assertThat(context.pinnedResource().device()).isSameAs(HostDevice.INSTANCE);
      Buffer buffer = Buffer.allocate(100, context.stream(), context.resource());
      assertThat(DeviceContext.heldBytes(device)).isEqualTo(before + 100);
      buffer.close();
      long pinned = pinnedBytes(device);
      Buffer pinnedBuffer = Buffer.allocate(100, context.hostStream(), context.pinnedResource());
      assertThat(pinnedBytes(device)).isGreaterThanOrEqualTo(pinned + 100);
      pinnedBuffer.close();
    }
    assertThat(DeviceContext.heldBytes(device)).isEqualTo(before);
  }

  private static long pinnedBytes(Device device) {
    return device.kind() == DeviceKind.HOST
        ? DeviceContext.heldBytes(device)
        : device.stagingPool().heldBytes();
  }

  @Test
  void subtasksTakeTurnsOnTheAssignedGpus() {
    List<ExternalResourceInfo> gpus = List.of(new Gpu("3"), new Gpu("1"));
    assertThat(DeviceOptions.assignedIndex(gpus, 0)).contains(1);
    assertThat(DeviceOptions.assignedIndex(gpus, 1)).contains(3);
    assertThat(DeviceOptions.assignedIndex(gpus, 2)).contains(1);
    assertThat(DeviceOptions.assignedIndex(List.of(), 0)).isEmpty();
  }

  private record Gpu(String index) implements ExternalResourceInfo {
    @Override
    public Optional<String> getProperty(String key) {
      return key.equals("index") ? Optional.of(index) : Optional.empty();
    }

    @Override
    public Collection<String> getKeys() {
      return List.of("index");
    }
  }
}

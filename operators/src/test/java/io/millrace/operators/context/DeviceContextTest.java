// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.HostDevice;
import io.millrace.memory.Buffer;
import java.util.ArrayList;
import java.util.List;
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
  void slotsTakeTurnsOnTheGpus() {
    List<Integer> gpus = List.of(1, 3);
    List<ChainResources> chains = new ArrayList<>();
    for (String slot : List.of("a", "b", "b", "a", "c")) {
      chains.add(chainOnGpuOf(slot, gpus));
    }
    assertThat(indexes(chains)).containsExactly(1, 3, 3, 1, 1);

    chains.remove(0).release();
    assertThat(ChainResources.gpuOf("a", gpus)).as("its other chain is open").isEqualTo(1);
    chains.remove(2).release();
    chains.add(chainOnGpuOf("d", gpus));
    chains.add(chainOnGpuOf("e", gpus));
    assertThat(indexes(chains)).containsExactly(3, 3, 1, 1, 3);
    assertThat(ChainResources.gpuOf("a", List.of(7))).isEqualTo(7);
    assertThat(ChainResources.gpuOf("b", List.of(7))).as("that it may use").isEqualTo(7);
    chains.forEach(ChainResources::release);
  }

  private static ChainResources chainOnGpuOf(String slot, List<Integer> gpus) {
    return ChainResources.acquire(
        new Object(),
        slot,
        JobEnvironment.ofProcess(),
        () -> new OtherHostDevice(ChainResources.gpuOf(slot, gpus)));
  }

  private static List<Integer> indexes(List<ChainResources> chains) {
    return chains.stream().map(chain -> chain.device().index()).toList();
  }
}

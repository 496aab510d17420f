// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class DeviceSelectionTest {
  private static boolean hasGpu() {
    return Device.select("auto", 0).kind() == DeviceKind.CUDA;
  }

  @Test
  void hostIsAlwaysThere() {
    assertThat(Device.select("host", 0)).isSameAs(HostDevice.INSTANCE);
    assertThat(HostDevice.INSTANCE.kind()).isEqualTo(DeviceKind.HOST);
    assertThat(HostDevice.INSTANCE.launchCount()).isZero();
  }

  @Test
  void theSameChoiceGivesTheSameDevice() {
    assertThat(Device.select("auto", 0)).isSameAs(Device.select("auto", 0));
    assertThat(Device.current()).isSameAs(Device.current());
  }

  @Test
  void cudaWithoutAGpuSaysWhatToSet() {
    assumeFalse(hasGpu(), "this machine has a GPU");
    assertThatThrownBy(() -> Device.select("cuda", 0))
        .isInstanceOf(DeviceUnavailableException.class)
        .hasMessageStartingWith("no GPU can be used: ")
        .hasMessageContaining("millrace.device=host or auto");
    assertThat(Device.select("auto", 0)).isSameAs(HostDevice.INSTANCE);
    assertThat(Device.gpus()).isEmpty();
  }

  @Test
  void aGpuThatIsNotThereIsRefused() {
    assertThatThrownBy(() -> Device.select("cuda", 1_000))
        .isInstanceOf(DeviceUnavailableException.class);
    assertThatThrownBy(() -> Device.select("cuda", -1))
        .isInstanceOf(DeviceUnavailableException.class);
  }

  @Test
  void eachGpuThatIsListedIsADeviceOfItsOwn() {
    assumeTrue(hasGpu(), "this machine has no GPU");
    List<Device> devices = Device.gpus().stream().map(i -> Device.select("cuda", i)).toList();
    assertThat(devices).isNotEmpty().doesNotHaveDuplicates();
    assertThat(devices).extracting(Device::index).isEqualTo(Device.gpus());
    assertThat(devices).extracting(Device::description).doesNotHaveDuplicates();
  }

  @Test
  void anUnknownOptionIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Device.select("gpu", 0))
        .withMessage("expected auto, cuda or host for millrace.device, got 'gpu'");
  }
}

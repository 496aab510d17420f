// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.testing.GpuModel;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GpuPropertiesTest {
  private static final int CUDA_13_0 = 13_000;

  @ParameterizedTest
  @EnumSource
  void aSupportedGpuIsTaken(GpuModel model) {
    model.properties().checkSupported("a GPU", CUDA_13_0);
  }

  @Test
  void anOldGpuIsRefusedWithBothNumbers() {
    GpuProperties t4 = new GpuProperties(75, 40, 1024, 64 << 10, 64 << 10, 0, true);
    assertThatThrownBy(() -> t4.checkSupported("GPU 0 (Tesla T4, 15360 MiB)", CUDA_13_0))
        .isInstanceOf(DeviceUnavailableException.class)
        .hasMessage(
            "GPU 0 (Tesla T4, 15360 MiB) has compute capability 7.5,"
                + " the kernels need 8.0 or higher");
  }

  @Test
  void anOldDriverIsRefusedWithBothNumbers() {
    assertThatThrownBy(() -> GpuModel.H100.properties().checkSupported("GPU 0 (H100)", 12_040))
        .isInstanceOf(DeviceUnavailableException.class)
        .hasMessage(
            "GPU 0 (H100) needs a driver for CUDA 13.0 (580 or newer), its driver is for CUDA 12.4");
  }

  @Test
  void theKernelsAreCompiledForTheLeastComputeCapability() throws IOException {
    try (InputStream ptx = Device.class.getResourceAsStream("/io/millrace/cuda/partition.ptx")) {
      assertThat(new String(ptx.readAllBytes(), StandardCharsets.US_ASCII))
          .contains(".target sm_" + GpuProperties.MIN_COMPUTE_CAPABILITY)
          .contains(".version 9.0");
    }
  }

  @Test
  void theHostHasNoGpuProperties() {
    assertThatThrownBy(HostDevice.INSTANCE::properties)
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void theDriverReportsWhatTheKernelsNeed() {
    Device device = Device.current();
    assumeTrue(device.kind() == DeviceKind.CUDA, "needs a GPU");
    GpuProperties gpu = device.properties();
    assertThat(gpu.computeCapability())
        .isGreaterThanOrEqualTo(GpuProperties.MIN_COMPUTE_CAPABILITY);
    assertThat(gpu.multiprocessors()).isPositive();
    assertThat(gpu.threadsPerMultiprocessor()).isGreaterThanOrEqualTo(1024);
    assertThat(gpu.sharedBytesPerBlock()).isGreaterThan(48 << 10);
    assertThat(gpu.sharedBytesPerMultiprocessor()).isGreaterThan(gpu.sharedBytesPerBlock());
  }
}

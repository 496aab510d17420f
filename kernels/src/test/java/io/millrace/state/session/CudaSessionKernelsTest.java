// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.KernelModule;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CudaSessionKernelsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void argumentsHaveTheFieldsOfTheKernels() {
    CudaStructures cuda = CudaStructures.ofSources();
    assertThat(CudaSessionKernels.SelectArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("SessionSelectArguments").fields());
    assertThat(CudaSessionKernels.ClearArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("SessionClearArguments").fields());
    assertThat(CudaSessionKernels.TouchArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("SessionTouchArguments").fields());
    if (device.isCuda()) {
      KernelModule module = device.device().loadModule("session");
      assertThat(module.constant("sizeof_SessionSelectArguments"))
          .isEqualTo(CudaSessionKernels.SelectArguments.LAYOUT.bytes());
      assertThat(module.constant("sizeof_SessionClearArguments"))
          .isEqualTo(CudaSessionKernels.ClearArguments.LAYOUT.bytes());
      assertThat(module.constant("sizeof_SessionTouchArguments"))
          .isEqualTo(CudaSessionKernels.TouchArguments.LAYOUT.bytes());
    }
  }
}

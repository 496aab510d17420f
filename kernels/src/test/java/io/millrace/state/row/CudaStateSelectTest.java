// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CudaStateSelectTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void argumentsHaveTheFieldsOfTheKernel() {
    assertThat(CudaStateSelect.Arguments.LAYOUT.fields())
        .isEqualTo(CudaStructures.ofSources().layout("StateSelectArguments").fields());
    if (device.isCuda()) {
      assertThat(device.device().loadModule("state_select").constant("sizeof_StateSelectArguments"))
          .isEqualTo(CudaStateSelect.Arguments.LAYOUT.bytes());
    }
  }
}

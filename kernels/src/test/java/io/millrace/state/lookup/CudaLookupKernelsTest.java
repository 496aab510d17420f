// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CudaLookupKernelsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void argumentsHaveTheFieldsOfTheKernels() {
    assertThat(CudaLookupKernels.Arguments.LAYOUT.fields())
        .isEqualTo(CudaStructures.ofSources().layout("StateLookupArguments").fields());
    if (device.isCuda()) {
      assertThat(device.device().loadModule("state_lookup").constant("sizeof_StateLookupArguments"))
          .isEqualTo(CudaLookupKernels.Arguments.LAYOUT.bytes());
    }
  }
}

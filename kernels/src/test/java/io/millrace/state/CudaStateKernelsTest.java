// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.state.row.CudaKeyWord;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CudaStateKernelsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void argumentsHaveTheFieldsOfTheKernels() {
    CudaStructures cuda = CudaStructures.ofSources();
    assertThat(CudaStateKernels.Arguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateArguments").fields());
    assertThat(CudaKeyWord.LAYOUT.fields()).isEqualTo(cuda.layout("KeyWord").fields());
    assertThat(CudaStateKernels.ValueArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("AccumulatedValue").fields());
    assertThat(CudaStateStrings.Arguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateStringsArguments").fields());
    assertThat(CudaStateKernels.IndexArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateIndexArguments").fields());
    assertThat(CudaStateFold.SortArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateSortArguments").fields());
    assertThat(CudaStateFold.ValueArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("FoldedValue").fields());
    assertThat(CudaStateFold.FoldArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateFoldArguments").fields());
    assertThat(CudaStateKernels.OverflowArguments.LAYOUT.fields())
        .isEqualTo(cuda.layout("StateOverflowArguments").fields());
  }

  @Test
  void argumentsHaveTheSizesThatTheKernelsExpect() {
    if (device.isCuda()) {
      assertThat(device.device().loadModule("state").constant("sizeof_StateArguments"))
          .isEqualTo(CudaStateKernels.Arguments.LAYOUT.bytes());
      assertThat(
              device.device().loadModule("state_strings").constant("sizeof_StateStringsArguments"))
          .isEqualTo(CudaStateStrings.Arguments.LAYOUT.bytes());
      assertThat(device.device().loadModule("state").constant("sizeof_StateIndexArguments"))
          .isEqualTo(CudaStateKernels.IndexArguments.LAYOUT.bytes());
      assertThat(device.device().loadModule("state_fold").constant("sizeof_StateSortArguments"))
          .isEqualTo(CudaStateFold.SortArguments.LAYOUT.bytes());
      assertThat(device.device().loadModule("state_fold").constant("sizeof_StateFoldArguments"))
          .isEqualTo(CudaStateFold.FoldArguments.LAYOUT.bytes());
      assertThat(
              device
                  .device()
                  .loadModule("state_overflow")
                  .constant("sizeof_StateOverflowArguments"))
          .isEqualTo(CudaStateKernels.OverflowArguments.LAYOUT.bytes());
    }
  }
}

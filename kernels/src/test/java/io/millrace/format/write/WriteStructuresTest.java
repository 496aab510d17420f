// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.KernelStructure;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class WriteStructuresTest {
  private static final List<KernelStructure> STRUCTURES =
      List.of(
          WriteStep.Layout.LAYOUT, WriteColumns.Layout.LAYOUT, CudaWriteKernels.Arguments.LAYOUT);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void structuresAreThoseOfTheKernels() {
    CudaStructures cuda = CudaStructures.ofSources();
    for (KernelStructure structure : STRUCTURES) {
      assertThat(structure.fields()).isEqualTo(cuda.layout(structure.name()).fields());
      if (device.isCuda()) {
        assertThat(device.device().loadModule("write").constant("sizeof_" + structure.name()))
            .isEqualTo(structure.bytes());
      }
    }
  }
}

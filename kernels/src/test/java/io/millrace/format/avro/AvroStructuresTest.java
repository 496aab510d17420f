// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class AvroStructuresTest {
  private static final List<KernelStructure> STRUCTURES =
      List.of(
          AvroStep.Layout.LAYOUT,
          AvroPlan.Layout.LAYOUT,
          AvroPlan.ProgramLayout.LAYOUT,
          AvroPlan.SymbolLayout.LAYOUT);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void structuresAreThoseOfTheSources() {
    CudaStructures cuda = CudaStructures.ofSources();
    for (KernelStructure structure : STRUCTURES) {
      assertThat(structure.fields()).isEqualTo(cuda.layout(structure.name()).fields());
    }
  }

  @Test
  void structuresHaveTheSizesOfTheModule() {
    if (device.isCuda()) {
      KernelModule module = device.device().loadModule("avro");
      for (KernelStructure structure : STRUCTURES) {
        assertThat(module.constant("sizeof_" + structure.name())).isEqualTo(structure.bytes());
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RecordStructuresTest {
  private static final List<KernelStructure> PARTS =
      List.of(
          RecordFields.Layout.LAYOUT,
          CudaRecordKernels.ColumnArguments.LAYOUT,
          CudaRecordKernels.StringColumnArguments.LAYOUT,
          CudaRecordKernels.ElementsArguments.LAYOUT);
  private static final List<KernelStructure> ARGUMENTS =
      List.of(CudaRecordKernels.Arguments.LAYOUT, CudaRecordKernels.StringsArguments.LAYOUT);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void structuresAreThoseOfTheSources() {
    CudaStructures cuda = CudaStructures.ofSources();
    for (List<KernelStructure> structures : List.of(PARTS, ARGUMENTS)) {
      for (KernelStructure structure : structures) {
        assertThat(structure.fields()).isEqualTo(cuda.layout(structure.name()).fields());
      }
    }
  }

  @Test
  void argumentsHaveTheSizesOfEachModule() {
    if (device.isCuda()) {
      for (String format : List.of("json", "csv", "raw", "avro")) {
        KernelModule module = device.device().loadModule(format);
        for (KernelStructure structure : ARGUMENTS) {
          assertThat(module.constant("sizeof_" + structure.name())).isEqualTo(structure.bytes());
        }
      }
      KernelStructure elements = CudaRecordKernels.ElementsArguments.LAYOUT;
      for (String format : List.of("json", "avro")) {
        assertThat(device.device().loadModule(format).constant("sizeof_" + elements.name()))
            .isEqualTo(elements.bytes());
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.operators.testing.AllocationCoverage;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Each line that asks for memory failed in an {@link
 * io.millrace.operators.testing.OutOfMemoryTest}. Runs once all other tests of the module have run,
 * and on the host alone: other lines ask for memory on a GPU.
 */
@Tag("last")
class AllocationCoverageTest {
  private static final String GPU_ONLY = "runs on a GPU only";

  @Test
  void eachLineThatAsksForMemoryFailed() {
    assumeTrue(Device.current().kind() == DeviceKind.HOST, "only on the host");
    List<String> notRun = AllocationCoverage.testsNotRun("io.millrace.connectors");
    assumeTrue(notRun.isEmpty(), () -> "only when all tests ran, but not so " + notRun);
    assertThat(
            AllocationCoverage.ofMainCode(
                    "io.millrace.connectors",
                    "io.millrace.arrow.ArrowColumnImporter",
                    "io.millrace.format")
                .gaps(
                    Map.of(
                        "io.millrace.format.CudaLineKernels",
                        GPU_ONLY,
                        "io.millrace.format.parquet.PagePlan",
                        GPU_ONLY,
                        "io.millrace.format.write.CudaWriteKernels",
                        GPU_ONLY)))
        .isEmpty();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators;

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
  private static final String NO_OPERATOR = "no operator calls it";
  private static final String CONNECTORS = "the same test of connectors asks for it";

  private static final Map<String, String> EXEMPTIONS =
      Map.ofEntries(
          Map.entry("io.millrace.arrow.ipc.ArrowIpcStreamReader", NO_OPERATOR),
          Map.entry("io.millrace.arrow.ipc.ArrowRecordBatchReader", NO_OPERATOR),
          Map.entry("io.millrace.arrow.cdata.DeviceExport", NO_OPERATOR),
          Map.entry("io.millrace.arrow.cdata.DeviceReads", NO_OPERATOR),
          Map.entry("io.millrace.arrow.cdata.ImportedMemory", NO_OPERATOR),
          Map.entry("io.millrace.arrow.PinnedAllocationManagerFactory", NO_OPERATOR),
          Map.entry("io.millrace.column.Column", "copies to and from a GPU; nothing else does"),
          Map.entry("io.millrace.column.DeferredRowCount", GPU_ONLY),
          Map.entry("io.millrace.column.NullCount", "operators know the nulls of their batches"),
          Map.entry("io.millrace.column.StringBytes", GPU_ONLY),
          Map.entry("io.millrace.calc.AppendedRows", GPU_ONLY),
          Map.entry("io.millrace.calc.CalcInputs", GPU_ONLY),
          Map.entry("io.millrace.calc.CalcKernel", GPU_ONLY),
          Map.entry("io.millrace.calc.CalcOutputs", GPU_ONLY),
          Map.entry("io.millrace.calc.CalcTables", GPU_ONLY),
          Map.entry("io.millrace.calc.RowsForHost", GPU_ONLY),
          Map.entry("io.millrace.format.CudaLineKernels", GPU_ONLY),
          Map.entry("io.millrace.format.RecordBytes", CONNECTORS),
          Map.entry("io.millrace.format.parquet.DecodedColumns", CONNECTORS),
          Map.entry("io.millrace.format.parquet.PageDecoder", CONNECTORS),
          Map.entry("io.millrace.format.parquet.PagePlan", CONNECTORS),
          Map.entry("io.millrace.format.parquet.RowGroupPages", CONNECTORS),
          Map.entry("io.millrace.format.record.ChangeTexts", CONNECTORS),
          Map.entry("io.millrace.format.record.HostCopy", CONNECTORS),
          Map.entry("io.millrace.format.record.RecordColumns", CONNECTORS),
          Map.entry("io.millrace.format.record.RecordFaults", CONNECTORS),
          Map.entry("io.millrace.format.record.RecordLevel", CONNECTORS),
          Map.entry("io.millrace.format.record.RecordPass", CONNECTORS),
          Map.entry("io.millrace.format.record.TableReader", CONNECTORS),
          Map.entry("io.millrace.format.write.CudaWriteKernels", GPU_ONLY),
          Map.entry("io.millrace.format.write.PlanWriter", CONNECTORS),
          Map.entry("io.millrace.format.write.TextSink", CONNECTORS),
          Map.entry("io.millrace.kernel.cast.Cast", NO_OPERATOR),
          Map.entry("io.millrace.kernel.gather.GatherKernels", GPU_ONLY),
          Map.entry("io.millrace.kernel.partition.PartitionKernels", GPU_ONLY),
          Map.entry("io.millrace.kernel.slice.CudaSliceKernels", GPU_ONLY),
          Map.entry("io.millrace.state.CudaStateKernels", GPU_ONLY),
          Map.entry("io.millrace.state.UpdateScratch$StagedRows", GPU_ONLY),
          Map.entry("io.millrace.state.row.CudaStateSelect", GPU_ONLY),
          Map.entry("io.millrace.state.session.CudaSessionKernels", GPU_ONLY));

  @Test
  void eachLineThatAsksForMemoryFailed() {
    assumeTrue(Device.current().kind() == DeviceKind.HOST, "only on the host");
    List<String> notRun = AllocationCoverage.testsNotRun("io.millrace.operators");
    assumeTrue(notRun.isEmpty(), () -> "only when all tests ran, but not so " + notRun);
    assertThat(AllocationCoverage.ofMainCode("io.millrace").gaps(EXEMPTIONS)).isEmpty();
  }
}

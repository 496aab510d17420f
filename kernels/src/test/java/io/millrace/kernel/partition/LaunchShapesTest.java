// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceKind;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.memory.AccessScope;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.GpuModel;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tiles and crossovers of partitioning on every kind of GPU that the kernels run on. */
class LaunchShapesTest {
  private static final int MAX_PARTITIONS_PER_PASS = 1024;
  private static final int FEW_ROWS = 1 << 16;
  private static final int MANY_ROWS = 1 << 26;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @ParameterizedTest
  @EnumSource
  void eachTileFitsItsGpu(GpuModel model) {
    for (int rows : List.of(1, FEW_ROWS, MANY_ROWS)) {
      for (int partitions = 1; partitions <= MAX_PARTITIONS_PER_PASS; partitions++) {
        ScatterTile tile = ScatterTile.of(model.properties(), rows, partitions);
        assertThat(tile.sharedBytes(partitions))
            .as("%s, %d rows to %d partitions", tile, rows, partitions)
            .isLessThanOrEqualTo(model.properties().sharedBytesPerBlock());
      }
    }
  }

  // The counters of the warps share memory with the last two of three slots for columns.
  @Test
  void theCountersOfAnyTileFitTwoOfItsSlots() {
    for (ScatterTile tile : ScatterTile.ALL) {
      int slots = tile.sharedBytes(0) - 32 * Integer.BYTES;
      int counters = tile.threads() / 32 * MAX_PARTITIONS_PER_PASS * Integer.BYTES;
      assertThat(counters).as(tile.toString()).isLessThanOrEqualTo(slots / 3 * 2);
    }
  }

  @Test
  void tilesAreTheMeasuredOnesOnAnH200() {
    assertThat(threads(GpuModel.H200, FEW_ROWS, 512)).isEqualTo(512);
    assertThat(threads(GpuModel.H200, 1 << 20, 512)).isEqualTo(512);
    assertThat(threads(GpuModel.H200, MANY_ROWS, 128)).isEqualTo(512);
    assertThat(threads(GpuModel.H200, MANY_ROWS, 512)).isEqualTo(1024);
  }

  @Test
  void smallerGpusTakeSmallerTiles() {
    assertThat(threads(GpuModel.A100, MANY_ROWS, 64)).isEqualTo(256);
    assertThat(threads(GpuModel.A100, MANY_ROWS, 512)).isEqualTo(512);
    assertThat(threads(GpuModel.L4, MANY_ROWS, 8)).isEqualTo(256);
    assertThat(threads(GpuModel.L4, MANY_ROWS, 213)).isEqualTo(512);
    assertThat(threads(GpuModel.L4, MANY_ROWS, 214)).isEqualTo(256);
    assertThat(threads(GpuModel.RTX_PRO_6000, MANY_ROWS, 1024)).isEqualTo(256);
  }

  private static int threads(GpuModel model, int rows, int partitions) {
    return ScatterTile.of(model.properties(), rows, partitions).threads();
  }

  @Test
  void roundRobinTakesOneRowAThreadWhileAllThreadsFitTheGpu() {
    assertThat(RoundRobinKernels.smallRows(GpuModel.H200.properties())).isEqualTo(270_336);
    assertThat(RoundRobinKernels.smallRows(GpuModel.L4.properties())).isEqualTo(89_088);
  }

  @ParameterizedTest
  @EnumSource
  void theShapesOfEachGpuGiveTheSameRows(GpuModel model) {
    assumeTrue(device.stream().device().kind() == DeviceKind.CUDA, "launches kernels");
    PartitionKernels kernels = new PartitionKernels(device.stream().device(), model.properties());
    for (int partitions : List.of(8, 100, 214, 1024, 5000)) {
      assertPartitioned(kernels, 300_000, partitions);
    }
    // More tiles than an H100's multiprocessors, for the large tile.
    assertPartitioned(kernels, 1_100_000, 600);
  }

  private void assertPartitioned(PartitionKernels kernels, int rows, int partitions) {
    int[] map = random.random().ints(rows, 0, partitions).toArray();
    List<Integer> partitionOf = IntStream.of(map).boxed().toList();
    List<Object> numbers = new ArrayList<>(IntStream.range(0, rows).boxed().toList());
    try (Table input =
            new TableBuilder()
                .column(Field.of("map", DataType.INT32), new ArrayList<>(partitionOf))
                .column(Field.of("number", DataType.INT32), numbers)
                .build(device);
        AccessScope scope = AccessScope.on(device.stream());
        GatherPlan moves = GatherPlan.ofReordering(input.columns(), rows, scope, device.memory())) {
      int[] offsets =
          kernels.partition(
              moves, new PartitionMap(input.column(0)), partitions, scope, device.memory());
      assertThat(offsets).isEqualTo(Partitions.offsets(partitionOf, partitions));
      Schema schema = input.schema();
      try (Table output = new Table(schema, moves.takeColumns(), rows)) {
        assertThat(device.rows(output).stream().map(row -> row.get(1)).toList())
            .isEqualTo(Partitions.reorder(numbers, partitionOf, partitions));
      }
    }
  }
}

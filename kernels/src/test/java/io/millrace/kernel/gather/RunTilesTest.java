// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.RandomExtension;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunTilesTest {
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  /** With the arithmetic of gather.cu, every tile is one block's. */
  @ParameterizedTest
  @CsvSource({
    "1, 0, 1",
    "1, 2147483647, 8",
    "256, 2560, 64",
    "257, 2570, 64",
    "65536, 655360, 64",
    "262144, 2621440, 8",
    "262145, 2621440, 8",
    "1048576, 10485760, 2",
    "1048577, 10485760, 1",
    "1048577, 10485760, 255",
    "1048577, 10485760, 256",
    "1048577, 10485760, 257",
    "1048577, 10485760, 100000",
    "67108864, 671088640, 512",
    "67108864, 2147483647, 7",
    "2147483647, 2147483647, 1024",
    "100, 2147483647, 1",
    "2000000, 2147483647, 3"
  })
  void eachTileIsTakenOnce(int rows, long bytes, int partitions) {
    RunTiles tiles = RunTiles.of(rows, bytes, partitions);
    assertThat(tiles.rowsOfTile()).isBetween(1, 1024);
    assertThat((long) tiles.count() * tiles.rowsOfTile()).isGreaterThanOrEqualTo(rows);
    assertThat((tiles.count() - 1L) * tiles.rowsOfTile()).isLessThan(rows);
    assertThat(bytes / rows * tiles.rowsOfTile())
        .isLessThanOrEqualTo(Math.max(1 << 16, bytes / rows));

    BitSet taken = new BitSet();
    for (int block = 0; block < tiles.blocks(); block++) {
      int tile =
          tiles.stripes() == 0
              ? block
              : block % tiles.stripes() * tiles.tilesOfStripe() + block / tiles.stripes();
      if (tile < tiles.count()) {
        assertThat(taken.get(tile)).isFalse();
        taken.set(tile);
      }
    }
    assertThat(taken.cardinality()).isEqualTo(tiles.count());
    assertThat(tiles.scratchBytes()).isGreaterThan(8L * tiles.count());
  }

  @Test
  void scratchMemoryForManyRowsIsEnoughForFewerRows() {
    Random random = seed.random();
    for (int i = 0; i < 20_000; i++) {
      int most = 1 + random.nextInt(1 << random.nextInt(31));
      int capacity = random.nextInt(1 << random.nextInt(31));
      int rows = 1 + random.nextInt(most);
      assertThat(RunTiles.of(rows, capacity, 1).scratchBytes())
          .as("%d of %d rows, %d bytes", rows, most, capacity)
          .isLessThanOrEqualTo(RunTiles.mostScratchBytes(most, capacity));
    }
  }

  @ParameterizedTest
  @CsvSource({"1048575, 8, 0", "1048576, 8, 8", "1048576, 1, 0", "1048576, 257, 0"})
  void largePartitionedTablesAreTakenInStripes(int rows, int partitions, int stripes) {
    assertThat(RunTiles.of(rows, 10L * rows, partitions).stripes()).isEqualTo(stripes);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import static io.millrace.memory.SpillTier.DEVICE;
import static io.millrace.memory.SpillTier.DISK;
import static io.millrace.memory.SpillTier.HOST;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.memory.spill.SpillStatistics.Exposure;
import io.millrace.testing.ExposureSites;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SpillStatisticsTest {
  @Test
  void levelZeroCountsNothing() {
    SpillStatistics parent = new SpillStatistics(1);
    SpillStatistics statistics = new SpillStatistics(0, parent);
    statistics.moved(DEVICE, HOST, 24, 1);
    ExposureSites.first(statistics, 24, false);
    assertThat(statistics.count(DEVICE, HOST)).isZero();
    assertThat(statistics.bytes(DEVICE, HOST)).isZero();
    assertThat(statistics.nanos(DEVICE, HOST)).isZero();
    assertThat(statistics.exposures()).isEmpty();
    assertThat(statistics).hasToString("Spill Statistics (level=0): N/A");
    assertThat(parent.count(DEVICE, HOST)).isZero();
  }

  @Test
  void levelOneIsPrintedInTheFormOfCudf() {
    SpillStatistics statistics = new SpillStatistics(1);
    statistics.moved(DEVICE, HOST, 16, 1_300_000);
    statistics.moved(DEVICE, HOST, 8, 2_000_000);
    ExposureSites.first(statistics, 24, false);
    assertThat(statistics)
        .hasToString(
            """
            Spill Statistics (level=1):
             Spilling (level >= 1):
              gpu => cpu: 24B in 0.0033\
            """);
    assertThat(statistics.level()).isEqualTo(1);
    assertThat(statistics.exposures()).isEmpty();
  }

  @Test
  void everyDirectionIsCountedByItself() {
    SpillStatistics statistics = new SpillStatistics(1);
    statistics.moved(DISK, DEVICE, 1L << 40, 2_500_000_000L);
    statistics.moved(HOST, DISK, 1_536, 50_000);
    statistics.moved(HOST, DEVICE, 1_025, 0);
    assertThat(statistics)
        .hasToString(
            """
            Spill Statistics (level=1):
             Spilling (level >= 1):
              cpu => gpu: 1.00KiB in 0.0000
              cpu => disk: 1.50KiB in 0.0001
              disk => gpu: 1TiB in 2.5000\
            """);
    assertThat(statistics.count(HOST, DISK)).isEqualTo(1);
    assertThat(statistics.bytes(HOST, DISK)).isEqualTo(1_536);
    assertThat(statistics.nanos(HOST, DISK)).isEqualTo(50_000);
    assertThat(statistics.count(DISK, HOST)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0B",
    "1, 1B",
    "1023, 1023B",
    "1024, 1KiB",
    "1536, 1.50KiB",
    "1048576, 1MiB",
    "1073741825, 1.00GiB",
    "1125899906842624, 1PiB",
    "9223372036854775807, 8EiB"
  })
  void bytesAreFormattedInTheirLargestUnit(long bytes, String text) {
    assertThat(SpillStatistics.formatBytes(bytes)).isEqualTo(text);
  }

  @Test
  void levelTwoSaysThatThereIsNothing() {
    assertThat(new SpillStatistics(2))
        .hasToString(
            """
            Spill Statistics (level=2):
             Spilling (level >= 1): None
             Exposed buffers (level >= 2): None\
            """);
  }

  @Test
  void exposuresAreGroupedByTheirSiteOutsideThePackage() {
    SpillStatistics statistics = new SpillStatistics(2);
    ExposureSites.first(statistics, 8, false);
    for (int i = 0; i < 2; i++) {
      ExposureSites.second(statistics, 512, i == 0);
    }
    List<Exposure> exposures = statistics.exposures();
    assertThat(exposures).hasSize(2);
    Exposure second = exposures.get(0);
    assertThat(second.count()).isEqualTo(2);
    assertThat(second.totalBytes()).isEqualTo(1_024);
    assertThat(second.spilledBytes()).isEqualTo(512);
    assertThat(second.site().get(0).getMethodName()).isEqualTo("second");
    assertThat(second.site().get(1).getClassName()).isEqualTo(getClass().getName());
    assertThat(exposures.get(1))
        .isEqualTo(new Exposure(exposures.get(1).site(), 1, 8, 0))
        .satisfies(first -> assertThat(first.site().get(0).getMethodName()).isEqualTo("first"));
    assertThat(statistics.toString())
        .startsWith(
            """
            Spill Statistics (level=2):
             Spilling (level >= 1): None
             Exposed buffers (level >= 2):
              exposed 2 times, total: 1KiB, spilled: 512B, traceback:
                at io.millrace.testing.ExposureSites.second(ExposureSites.java:\
            """)
        .contains("\n  exposed 1 times, total: 8B, spilled: 0B, traceback:\n    at io.millrace");
  }

  @Test
  void theParentCountsWhatAllItsChildrenCount() {
    SpillStatistics parent = new SpillStatistics(2);
    SpillStatistics child = new SpillStatistics(2, parent);
    SpillStatistics other = new SpillStatistics(1, parent);
    child.moved(DEVICE, HOST, 10, 100);
    other.moved(DEVICE, HOST, 20, 200);
    for (SpillStatistics statistics : List.of(child, other, parent)) {
      ExposureSites.first(statistics, 5, true);
    }
    assertThat(child.bytes(DEVICE, HOST)).isEqualTo(10);
    assertThat(other.bytes(DEVICE, HOST)).isEqualTo(20);
    assertThat(parent.count(DEVICE, HOST)).isEqualTo(2);
    assertThat(parent.bytes(DEVICE, HOST)).isEqualTo(30);
    assertThat(parent.nanos(DEVICE, HOST)).isEqualTo(300);
    assertThat(parent.exposures())
        .singleElement()
        .extracting(Exposure::count, Exposure::totalBytes, Exposure::spilledBytes)
        .containsExactly(2L, 10L, 10L);
    assertThat(child.exposures()).extracting(Exposure::count).containsExactly(1L);
  }

  @Test
  void threadsLoseNothing() throws InterruptedException, ExecutionException {
    SpillStatistics parent = new SpillStatistics(2);
    SpillStatistics statistics = new SpillStatistics(2, parent);
    int threadCount = 4;
    int rounds = 2_000;
    ExecutorService threads = Executors.newFixedThreadPool(threadCount);
    try {
      List<? extends Future<?>> work =
          IntStream.range(0, threadCount)
              .mapToObj(
                  thread ->
                      threads.submit(
                          () -> {
                            for (int i = 0; i < rounds; i++) {
                              statistics.moved(DEVICE, DISK, 3, 2);
                              ExposureSites.first(statistics, 1, true);
                            }
                          }))
              .toList();
      for (Future<?> future : work) {
        future.get();
      }
    } finally {
      threads.shutdownNow();
    }
    long all = (long) threadCount * rounds;
    for (SpillStatistics counted : List.of(statistics, parent)) {
      assertThat(counted.count(DEVICE, DISK)).isEqualTo(all);
      assertThat(counted.bytes(DEVICE, DISK)).isEqualTo(3 * all);
      assertThat(counted.nanos(DEVICE, DISK)).isEqualTo(2 * all);
      assertThat(counted.exposures()).extracting(Exposure::count).containsExactly(all);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 3})
  void otherLevelsAreRefused(int level) {
    assertThatThrownBy(() -> new SpillStatistics(level))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected 0, 1 or 2 as the level of spill statistics, got " + level);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Measures the overhead of spillable memory per batch while nothing spills: the calls of the
 * partition benchmarks with plain memory and with spillable memory, statistics of level 1 and
 * copy-on-write. Both run in turn, one call each, and so does a second instance of plain memory,
 * whose difference from the first is the noise. Prints medians in microseconds, also of the
 * differences within a round, as a Markdown table.
 *
 * <p>The bar: one microsecond per batch below {@value #BAR_ROWS} rows, 3 % from there on.
 */
public final class SpillableMemoryBenchmark {
  private static final List<Integer> ROWS =
      List.of(1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 26);
  private static final List<Integer> PARTITIONS = List.of(8, 512);
  private static final int BAR_ROWS = 1 << 20;
  private static final double BAR_MICROSECONDS = 1;
  private static final double BAR_SHARE = 0.03;
  private static final int MIN_ROUNDS = 51;
  private static final int MAX_ROUNDS = 5001;
  private static final double WARM_UP_MICROSECONDS = 300_000;
  private static final double MICROSECONDS = 1_000_000;

  private final MemoryResource plain;
  private final MemoryResource spillable;

  private SpillableMemoryBenchmark(MemoryResource plain, MemoryResource spillable) {
    this.plain = plain;
    this.spillable = spillable;
  }

  /** Runs the benchmark. The arguments are numbers of rows, the usual ones if there are none. */
  public static void main(String[] arguments) {
    List<Integer> rows =
        arguments.length == 0 ? ROWS : Stream.of(arguments).map(Integer::valueOf).toList();
    Device device = Device.current();
    MemoryResource plain = PerDeviceResource.of(device);
    try (SpillManager manager =
            new SpillManager(
                plain,
                new PinnedHostMemoryResource(device),
                Long.MAX_VALUE,
                true,
                new SpillStatistics(1),
                System::nanoTime);
        SpillQuota quota = manager.openQuota("the benchmark", SpillLimits.DEFAULT)) {
      new SpillableMemoryBenchmark(plain, quota.resource(MemoryBudget.unlimited()))
          .printTable(rows);
    }
  }

  private void printTable(List<Integer> allRows) {
    System.out.println(
        "| operation | rows | partitions | rounds | plain (us) | noise (us) | spillable (us) |"
            + " difference (us) | difference | bar |");
    System.out.println("|---|---:|---:|---:|---:|---:|---:|---:|---:|---|");
    for (int rows : allRows) {
      DeviceStream stream = plain.device().createStream();
      PartitionInput[] inputs = {
        create(rows, plain, stream), create(rows, plain, stream), create(rows, spillable, stream)
      };
      for (int partitions : PARTITIONS) {
        printLine("hashPartition", inputs, partitions, HashPartitionBenchmark::partition);
        printLine(
            "roundRobinPartition", inputs, partitions, RoundRobinPartitionBenchmark::partition);
      }
      Stream.of(inputs).forEach(PartitionInput::close);
    }
  }

  private static PartitionInput create(int rows, MemoryResource memory, DeviceStream stream) {
    PartitionInput input = new PartitionInput();
    input.rows = rows;
    input.create(memory, stream);
    return input;
  }

  private interface Partitioning {
    /** The measured operation; the caller closes the output. */
    PartitionedTable partition(PartitionInput input, int partitions);
  }

  private static double microseconds(Partitioning operation, PartitionInput input, int partitions) {
    long start = System.nanoTime();
    PartitionedTable output = operation.partition(input, partitions);
    input.stream.synchronize();
    output.close();
    return (System.nanoTime() - start) / 1e3;
  }

  private static void printLine(
      String name, PartitionInput[] inputs, int partitions, Partitioning operation) {
    int rounds = rounds(inputs, partitions, operation);
    double[][] times = new double[inputs.length][rounds];
    for (int round = 0; round < rounds; round++) {
      // The order changes from round to round, since a call's predecessor affects it.
      for (int turn = 0; turn < inputs.length; turn++) {
        int variant = (round + turn) % inputs.length;
        times[variant][round] = microseconds(operation, inputs[variant], partitions);
      }
    }
    System.out.printf(
        Locale.ROOT,
        "| %s | %d | %d | %d |%s%n",
        name,
        inputs[0].rows,
        partitions,
        rounds,
        columns(inputs[0].rows, times[0], times[1], times[2]));
  }

  /** The number of rounds that fit the time. */
  private static int rounds(PartitionInput[] inputs, int partitions, Partitioning operation) {
    // At first kernels are loaded and methods compiled.
    double round = 0;
    for (int i = 0; i < 2; i++) {
      round = microsecondsOfRounds(inputs, partitions, operation, WARM_UP_MICROSECONDS);
    }
    return (int) Math.max(MIN_ROUNDS, Math.min(MAX_ROUNDS, MICROSECONDS / round));
  }

  /** The mean time of a round, from as many rounds as fit {@code microseconds}. */
  private static double microsecondsOfRounds(
      PartitionInput[] inputs, int partitions, Partitioning operation, double microseconds) {
    double total = 0;
    int rounds = 0;
    while (total < microseconds) {
      for (PartitionInput input : inputs) {
        total += microseconds(operation, input, partitions);
      }
      rounds++;
    }
    return total / rounds;
  }

  // Differences are taken within a round, so that what drifts over the rounds cancels out.
  private static String columns(int rows, double[] plain, double[] again, double[] spillable) {
    double[] noise = new double[plain.length];
    double[] differences = new double[plain.length];
    for (int round = 0; round < plain.length; round++) {
      noise[round] = again[round] - plain[round];
      differences[round] = spillable[round] - (plain[round] + again[round]) / 2;
    }
    double difference = median(differences);
    double share = difference / median(plain);
    boolean holds = rows < BAR_ROWS ? difference <= BAR_MICROSECONDS : share <= BAR_SHARE;
    return String.format(
        Locale.ROOT,
        " %.2f | %.2f | %.2f | %.2f | %.1f %% | %s |",
        median(plain),
        median(noise),
        median(spillable),
        difference,
        share * 100,
        holds ? "holds" : "missed");
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}

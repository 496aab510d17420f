// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.device.Device;
import io.millrace.process.Await;
import io.millrace.process.CommittedFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Clusters on a host with two GPUs or more: kernels are launched on each GPU that takes part, and
 * the rows are those of the host. Prints what ran where, and how many rows a second.
 */
@Tag("cluster")
class SeveralGpusTest {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final int SLOTS_FOR_EACH_GPU = 4;
  private static final String COMPARED_BIDS = "200000";
  // Their time is measured.
  private static final String BIDS = System.getProperty("millrace.cluster.bids", "40000000");
  private static final String SELECT =
      "--select=auction, bidder, price * 0.908 AS eur, UPPER(channel) AS channel, url, date_time";
  private static final Pattern RUNNING_ON = Pattern.compile("running on (GPU (\\d+) .*)");
  private static final Pattern LAUNCHES =
      Pattern.compile("task_device_kernelLaunches\\{.*\\bdevice=\"(\\d+)\".*} ([\\d.E]+)");
  private static final Pattern ROWS_PER_SECOND = Pattern.compile("rows/s +([\\d,]+)");

  /** How the GPUs of the host are used by as many slots. */
  private enum Form {
    ONE_GPU,
    ONE_TASK_MANAGER_OF_ALL_GPUS,
    A_TASK_MANAGER_FOR_EACH_GPU;

    int taskManagers(int gpus) {
      return this == A_TASK_MANAGER_FOR_EACH_GPU ? gpus : 1;
    }
  }

  /** A GPU that a TaskManager uses, which its log describes. */
  private record UsedGpu(String taskManager, int metricsPort, int index, String description) {

    /** Kernels that the TaskManager has launched on it. */
    long launches() throws Exception {
      Matcher metric = LAUNCHES.matcher(MillraceCluster.metrics(metricsPort));
      while (metric.find()) {
        if (Integer.parseInt(metric.group(1)) == index) {
          return (long) Double.parseDouble(metric.group(2));
        }
      }
      return 0;
    }

    /** Without the index, which each TaskManager counts from 0. */
    String physicalGpu() {
      return description.substring(description.indexOf('('));
    }
  }

  @TempDir private Path folder;

  private final int gpus = Device.gpus().size();
  private MillraceCluster cluster;

  @BeforeEach
  void create() {
    cluster = new MillraceCluster(folder);
    assumeTrue(gpus > 1, "this host has fewer than two GPUs");
  }

  @AfterEach
  void stop() throws Exception {
    cluster.run("down");
  }

  @ParameterizedTest
  @EnumSource
  void gpusThatTakePartLaunchKernels(Form form) throws Exception {
    int metricsPort = up(form);
    List<String> rows = etl("--events=" + COMPARED_BIDS);
    assertThat(rows).isEqualTo(rowsOfTheHost());
    String throughput =
        cluster.run("run", "etl", "--events=" + BIDS, SELECT, "--sink=discard").output();

    cluster.submit("etl", "--events=0", "--rate=1000000", SELECT, "--sink=discard");
    List<UsedGpu> used = usedGpus(form, metricsPort);
    assertThat(used.stream().map(UsedGpu::physicalGpu).distinct())
        .hasSize(form == Form.ONE_GPU ? 1 : gpus);
    for (UsedGpu gpu : used) {
      Await.until(
          "kernels are launched on each GPU",
          LIMIT,
          () -> gpu.launches() > 0,
          () -> "none on " + gpu);
    }
    print(form, used, throughput);
  }

  /** Starts the cluster with as many slots for each form. */
  private int up(Form form) throws Exception {
    int taskManagers = form.taskManagers(gpus);
    int slots = SLOTS_FOR_EACH_GPU * gpus / taskManagers;
    int metricsPort = MillraceCluster.freePorts(1 + taskManagers);
    List<String> options = new ArrayList<>();
    options.addAll(List.of("up", "--port=0", "--metrics-port=" + metricsPort));
    options.addAll(List.of("--taskmanagers=" + taskManagers, "--slots=" + slots));
    options.addAll(List.of("--memory=" + (1 + slots) + "g", "-D", "millrace.device=cuda"));
    if (form == Form.ONE_GPU) {
      options.addAll(List.of("-D", "millrace.device.index=0"));
    }
    cluster.run(options.toArray(String[]::new));
    return metricsPort;
  }

  /** The rows that the job writes, sorted. */
  private List<String> etl(String events) throws Exception {
    Path output = folder.resolve("rows");
    cluster.run("run", "etl", events, SELECT, "--output=" + output);
    return CommittedFiles.lines(output).stream().sorted().toList();
  }

  private List<String> rowsOfTheHost() throws Exception {
    Path output = folder.resolve("rows-of-the-host");
    MillraceProcess host =
        MillraceProcess.etl(
            folder, "--events=" + COMPARED_BIDS, SELECT, "--device=host", "--output=" + output);
    assertThat(host.exitCode()).as(host.error() + host.output()).isZero();
    return CommittedFiles.lines(output).stream().sorted().toList();
  }

  private List<UsedGpu> usedGpus(Form form, int metricsPort) throws Exception {
    List<UsedGpu> used = new ArrayList<>();
    for (int number = 1; number <= form.taskManagers(gpus); number++) {
      String taskManager = "taskmanager-" + number;
      Matcher line = RUNNING_ON.matcher(Files.readString(cluster.log(taskManager)));
      assertThat(line.find()).as("%s uses a GPU", taskManager).isTrue();
      do {
        int index = Integer.parseInt(line.group(2));
        used.add(new UsedGpu(taskManager, metricsPort + number, index, line.group(1)));
      } while (line.find());
    }
    return used;
  }

  private static void print(Form form, List<UsedGpu> used, String throughput) throws Exception {
    Matcher rowsPerSecond = ROWS_PER_SECOND.matcher(throughput);
    assertThat(rowsPerSecond.find()).as(throughput).isTrue();
    List<String> where = new ArrayList<>();
    for (UsedGpu gpu : used) {
      where.add(
          String.format(
              Locale.ROOT,
              "%s on %s, %,d launches",
              gpu.taskManager(),
              gpu.description(),
              gpu.launches()));
    }
    System.out.printf(
        "%s: %s; %s rows/s%n", form, String.join("; ", where), rowsPerSecond.group(1));
  }
}

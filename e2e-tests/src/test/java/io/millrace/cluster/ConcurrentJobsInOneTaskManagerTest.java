// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.job.DeviceProbe;
import io.millrace.process.LoggedProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A native library binds to one class loader. JCuda and the kernels stand in the cluster's lib
 * folder, so that the jobs of a TaskManager share them; each TaskManager of a host has its own.
 */
@Tag("cluster")
class ConcurrentJobsInOneTaskManagerTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int ROWS = 60_000;
  private static final int ROWS_PER_SECOND = 4_000;

  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();

  @Test
  void jobsAtOnceInOneTaskManagerShareKernelsAndNatives() throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(1);
    LoggedProcess taskManager = cluster.taskManagers().get(0);

    JobID first = run("first", 1);
    Matcher firstLine = probeLine(taskManager, "first");
    JobID second = run("second", 1);
    Matcher secondLine = probeLine(taskManager, "second");

    assertThat(cluster.rest().status(first)).isEqualTo(JobStatus.RUNNING);
    assertThat(cluster.rest().status(second)).isEqualTo(JobStatus.RUNNING);
    assertLoadedFromLib(firstLine);
    assertLoadedFromLib(secondLine);
    assertThat(secondLine.group("job")).isNotEqualTo(firstLine.group("job"));
    assertThat(secondLine.group("kernels")).isEqualTo(firstLine.group("kernels"));
  }

  @Test
  void mainJobsAtOnceInOneTaskManagerWriteTheirOwnRows() throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(1);
    StreamingEtlJob first =
        StreamingEtlJob.afterReferenceRun(cluster, ROWS, processes.folder().resolve("first"));
    StreamingEtlJob second =
        new StreamingEtlJob(ROWS, processes.folder().resolve("second"), first.rows());

    CheckpointedJob firstRun = CheckpointedJob.run(cluster, first.submission(1, ROWS_PER_SECOND));
    CheckpointedJob secondRun = CheckpointedJob.run(cluster, second.submission(1, ROWS_PER_SECOND));
    assertThat(cluster.rest().runningJobs()).hasSize(2);
    firstRun.awaitFinished();
    secondRun.awaitFinished();

    first.assertEachRowCommittedOnce();
    second.assertEachRowCommittedOnce();
  }

  @Test
  void taskManagersOfOneHostLoadTheirOwn() throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);

    JobID job = run("spread", 2);

    for (LoggedProcess taskManager : cluster.taskManagers()) {
      assertLoadedFromLib(probeLine(taskManager, "spread"));
    }
    assertThat(cluster.rest().status(job)).isEqualTo(JobStatus.RUNNING);
  }

  private JobID run(String name, int parallelism) throws Exception {
    return processes
        .cluster()
        .rest()
        .run(
            new JobSubmission(
                Path.of(System.getProperty("millrace.cluster.job.jar")),
                DeviceProbe.class.getName(),
                List.of(name),
                parallelism,
                Optional.empty(),
                Map.of()));
  }

  private static Matcher probeLine(LoggedProcess taskManager, String job) throws Exception {
    return taskManager.awaitOutput(
        Pattern.compile(
            job
                + ": sum=(?<sum>\\d+) device=(?<device>\\w+) launches=(?<launches>\\d+)"
                + " job=(?<job>\\S+) kernels=(?<kernels>\\S+) jcuda=(?<jcuda>\\S+)\n"),
        LIMIT);
  }

  private static void assertLoadedFromLib(Matcher probe) {
    assertThat(probe.group("sum")).isEqualTo(String.valueOf(DeviceProbe.EXPECTED_SUM));
    assertThat(probe.group("job")).startsWith("ChildFirstClassLoader@");
    assertThat(probe.group("kernels")).startsWith("AppClassLoader@");
    assertThat(probe.group("jcuda")).isEqualTo(probe.group("kernels"));
    if (probe.group("device").equals("CUDA")) {
      assertThat(Integer.parseInt(probe.group("launches"))).isPositive();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import io.millrace.jobs.cluster.ClusterFolder.Member;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatistics;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo.JobVertexDetailsInfo;
import org.apache.flink.runtime.rest.messages.taskmanager.TaskManagerInfo;

/** Prints what a cluster and its jobs do. */
@Internal
public final class ClusterStatus {
  /** The parameter of a job with what {@code ColumnStream.explain} says of it. */
  public static final String EXPLAIN = "millrace.explain";

  private static final int NAME_WIDTH = 60;

  private final ClusterFolder folder;
  private final ClusterRest rest;
  private final PrintStream out;

  ClusterStatus(ClusterFolder folder, ClusterRest rest, PrintStream out) {
    this.folder = folder;
    this.rest = rest;
    this.out = out;
  }

  /** The processes and the jobs, each in short. */
  void printCluster() throws IOException, ClusterException, InterruptedException {
    List<TaskManagerInfo> taskManagers = rest.taskManagers();
    List<Member> alive = folder.alive();
    out.printf(Locale.ROOT, "cluster at %s, files in %s%n", rest.address(), folder.path());
    for (Member member : alive) {
      String slots =
          taskManagers.stream()
              .filter(info -> info.getResourceId().toString().equals(member.name()))
              .map(
                  info ->
                      String.format(
                          Locale.ROOT,
                          "%d of %d slots free",
                          info.getNumberAvailableSlots(),
                          info.getNumberSlots()))
              .findFirst()
              .orElse(member.isJobManager() ? "" : "not registered");
      out.printf(
          Locale.ROOT, "  %-16s process %-8d %s%n", member.name(), member.process().pid(), slots);
    }
    for (JobStatusMessage job : rest.jobs()) {
      JobDetailsInfo details = rest.details(job.getJobId());
      printJobLine(details);
      if (!details.getJobStatus().isGloballyTerminalState()) {
        printOperators(details);
      }
    }
  }

  private void printJobLine(JobDetailsInfo details) {
    out.printf(
        Locale.ROOT,
        "job %s %s: %s, %s%n",
        details.getJobId(),
        details.getName(),
        details.getJobStatus(),
        duration(details.getDuration()));
  }

  /** One job with its operators, checkpoints and, if it has told it, its plan. */
  void printJob(JobID id) throws ClusterException, InterruptedException {
    JobDetailsInfo details = rest.details(id);
    printJobLine(details);
    printOperators(details);
    printCheckpoints(rest.checkpoints(id), details.getNow());
    Map<String, String> parameters = rest.jobParameters(id);
    if (parameters.containsKey(EXPLAIN)) {
      out.println("  plan:");
      parameters.get(EXPLAIN).lines().forEach(line -> out.println("    " + line));
    }
  }

  private void printOperators(JobDetailsInfo details) {
    out.printf(
        Locale.ROOT,
        "  %-" + NAME_WIDTH + "s %-9s %15s %15s %6s %6s%n",
        "operators",
        "tasks",
        "records in",
        "records out",
        "busy",
        "waits");
    for (JobVertexDetailsInfo vertex : details.getJobVertexInfos()) {
      int running = vertex.getTasksPerState().getOrDefault(ExecutionState.RUNNING, 0);
      double lifetime = (double) Math.max(1, vertex.getDuration()) * vertex.getParallelism();
      out.printf(
          Locale.ROOT,
          "  %-" + NAME_WIDTH + "s %-9s %,15d %,15d %5.0f%% %5.0f%%%n",
          shortened(vertex.getName()),
          running == 0
              ? vertex.getExecutionState().toString().toLowerCase(Locale.ROOT)
              : running + "/" + vertex.getParallelism(),
          vertex.getJobVertexMetrics().getRecordsRead(),
          vertex.getJobVertexMetrics().getRecordsWritten(),
          percent(vertex.getJobVertexMetrics().getAccumulatedBusy(), lifetime),
          percent((double) vertex.getJobVertexMetrics().getAccumulatedBackpressured(), lifetime));
    }
  }

  private static double percent(double part, double whole) {
    return Double.isNaN(part) ? 0 : Math.min(100, 100 * part / whole);
  }

  private static String shortened(String name) {
    return name.length() <= NAME_WIDTH ? name : name.substring(0, NAME_WIDTH - 3) + "...";
  }

  private void printCheckpoints(CheckpointingStatistics statistics, long now) {
    CheckpointStatistics latest =
        statistics.getLatestCheckpoints().getCompletedCheckpointStatistics();
    String last =
        latest == null
            ? "none complete"
            : String.format(
                Locale.ROOT,
                "number %d, %,d bytes in %d ms, %s ago",
                latest.getId(),
                latest.getStateSize(),
                latest.getDuration(),
                duration(now - latest.getLatestAckTimestamp()));
    out.printf(
        Locale.ROOT,
        "  checkpoints: %d complete, %d failed; last: %s%n",
        statistics.getCounts().getNumberCompletedCheckpoints(),
        statistics.getCounts().getNumberFailedCheckpoints(),
        last);
  }

  private static String duration(long millis) {
    Duration duration = Duration.ofMillis(Math.max(0, millis));
    List<String> parts =
        List.of(
            duration.toHours() > 0 ? duration.toHours() + " h" : "",
            duration.toMinutesPart() > 0 ? duration.toMinutesPart() + " min" : "",
            duration.toHours() > 0 ? "" : duration.toSecondsPart() + " s");
    return parts.stream().filter(part -> !part.isEmpty()).collect(Collectors.joining(" "));
  }
}

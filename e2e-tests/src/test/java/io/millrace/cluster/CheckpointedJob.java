// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import io.millrace.process.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointStatistics.CompletedCheckpointStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatistics.RestoredCheckpointStatistics;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo;
import org.apache.flink.util.ExceptionUtils;

/**
 * A job on a cluster whose checkpoints the test takes itself, so that it knows what happened since
 * the last one. The job's own checkpoint interval must be longer than the test.
 */
final class CheckpointedJob {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final long DECLINED = -1;
  private static final String DEVICE = "device ";

  private final ProcessCluster cluster;
  private final JobID id;

  private CheckpointedJob(ProcessCluster cluster, JobID id) {
    this.cluster = cluster;
    this.id = id;
  }

  /** Submits a job and returns when it runs. */
  static CheckpointedJob run(ProcessCluster cluster, JobSubmission submission) throws Exception {
    CheckpointedJob job = new CheckpointedJob(cluster, cluster.rest().run(submission));
    cluster.awaitStatus(job.id, JobStatus.RUNNING, LIMIT);
    return job;
  }

  /**
   * Takes a checkpoint once all tasks run, and returns its id when it is complete and no other is
   * under way: Flink takes one of its own accord when a job starts (and one when it ends).
   */
  long checkpoint() throws Exception {
    cluster.awaitTasksRunning(id, LIMIT);
    long[] triggered = new long[1];
    Await.until(
        "a checkpoint of job " + id + " is complete",
        LIMIT,
        () -> {
          triggered[0] = triggerCheckpoint();
          return triggered[0] != DECLINED;
        },
        cluster::diagnosis);
    long checkpoint = triggered[0];
    Await.until(
        "checkpoint " + checkpoint + " of job " + id + " is known and no other is under way",
        LIMIT,
        () -> isNewest(checkpoint),
        cluster::diagnosis);
    return checkpoint;
  }

  // Flink declines a checkpoint while a task ends, such as a source without a split.
  private long triggerCheckpoint() throws Exception {
    try {
      return cluster.rest().triggerCheckpoint(id);
    } catch (ExecutionException e) {
      // The JobManager answers with the text of its exception.
      if (ExceptionUtils.findThrowableWithMessage(e, CheckpointException.class.getName())
          .isPresent()) {
        return DECLINED;
      }
      throw e;
    }
  }

  // The JobManager answers with statistics that may be older than the checkpoint.
  private boolean isNewest(long checkpoint) throws Exception {
    CheckpointingStatistics statistics = cluster.rest().checkpoints(id);
    CompletedCheckpointStatistics completed =
        statistics.getLatestCheckpoints().getCompletedCheckpointStatistics();
    return completed != null
        && completed.getId() >= checkpoint
        && statistics.getCounts().getNumberInProgressCheckpoints() == 0;
  }

  /**
   * Waits until the sources have sent elements through their exchange that they had not sent when
   * this was called, and returns how many. Behind a checkpoint they are what a failure would lose.
   */
  long awaitElementsInFlight() throws Exception {
    long before = elementsSent();
    Await.until(
        "the sources send more than " + before + " elements",
        LIMIT,
        () -> elementsSent() > before,
        cluster::diagnosis);
    return elementsSent() - before;
  }

  private long elementsSent() throws Exception {
    return cluster.rest().details(id).getJobVertexInfos().stream()
        .findFirst()
        .orElseThrow()
        .getJobVertexMetrics()
        .getRecordsWritten();
  }

  /**
   * As {@link #awaitElementsInFlight}, for rows that a {@link GroupedBidsJob} generates. Does not
   * wait for metrics, of which there are none for ten seconds behind the death of a TaskManager.
   */
  long awaitRowsInFlight() throws Exception {
    long before = rowsGenerated();
    long[] now = new long[1];
    Await.until(
        "the sources generate more than " + before + " rows",
        LIMIT,
        () -> {
          now[0] = rowsGenerated();
          // A new attempt counts from zero.
          return now[0] > before || (0 < now[0] && now[0] < before);
        },
        cluster::diagnosis);
    return now[0] > before ? now[0] - before : now[0];
  }

  private long rowsGenerated() throws Exception {
    return cluster.rest().accumulators(id).get("rows in") instanceof Long rows ? rows : 0;
  }

  /** The device that the sources of a {@link GroupedBidsJob} run on, in words. */
  String device() throws Exception {
    return cluster.rest().accumulators(id).keySet().stream()
        .filter(name -> name.startsWith(DEVICE))
        .map(name -> name.substring(DEVICE.length()))
        .collect(Collectors.joining(" and "));
  }

  /** Waits until each of the job's subtasks reports more than zero for a metric. */
  void awaitPositive(String metric) throws Exception {
    Await.until(
        metric + " of each subtask of job " + id + " is positive",
        LIMIT,
        () -> {
          for (JobDetailsInfo.JobVertexDetailsInfo vertex :
              cluster.rest().details(id).getJobVertexInfos()) {
            List<Long> values = cluster.rest().subtaskMetric(id, vertex, metric);
            if (values.size() < vertex.getParallelism() || Collections.min(values) <= 0) {
              return false;
            }
          }
          return true;
        },
        cluster::diagnosis);
  }

  /** The names of the job's operators, those of a chain together. */
  List<String> operators() throws Exception {
    return cluster.rest().details(id).getJobVertexInfos().stream()
        .map(JobDetailsInfo.JobVertexDetailsInfo::getName)
        .toList();
  }

  /** Ends the job with a savepoint in {@code folder}, and returns its path. */
  String stopWithSavepoint(Path folder) throws Exception {
    cluster.awaitTasksRunning(id, LIMIT);
    String path = cluster.rest().stopWithSavepoint(id, folder);
    cluster.awaitStatus(id, JobStatus.FINISHED, LIMIT);
    return path;
  }

  /** The id of the newest completed checkpoint. */
  long completedCheckpoint() throws Exception {
    return completed().getId();
  }

  /** The path of the newest completed checkpoint. */
  String checkpointPath() throws Exception {
    return completed().getExternalPath();
  }

  /** The newest completed checkpoint. */
  CompletedCheckpointStatistics completed() throws Exception {
    return cluster.rest().checkpoints(id).getLatestCheckpoints().getCompletedCheckpointStatistics();
  }

  /** The checkpoint that the running attempt started from, if it started from one. */
  Optional<Long> restoredCheckpoint() throws Exception {
    return Optional.ofNullable(
            cluster.rest().checkpoints(id).getLatestCheckpoints().getRestoredCheckpointStatistics())
        .map(RestoredCheckpointStatistics::getId);
  }

  Set<String> taskManagers() throws Exception {
    return cluster.rest().taskManagersOf(id);
  }

  /** Waits until the job has noticed a failure and runs again from a checkpoint. */
  void awaitRestored() throws Exception {
    Await.until(
        "job " + id + " is restored",
        LIMIT,
        () -> restoredCheckpoint().isPresent() && cluster.rest().status(id) == JobStatus.RUNNING,
        cluster::diagnosis);
  }

  /** Waits for the first checkpoint of the running attempt, and returns its id or a later one. */
  long awaitCheckpointSinceRestored() throws Exception {
    long[] newest = new long[1];
    Await.until(
        "a checkpoint of the running attempt of job " + id + " is complete",
        LIMIT,
        () -> {
          CompletedCheckpointStatistics completed = completed();
          newest[0] = completed == null ? 0 : completed.getId();
          return newest[0] > restoredCheckpoint().orElse(0L);
        },
        cluster::diagnosis);
    return newest[0];
  }

  /** Waits until the running attempt started from this checkpoint or a later one. */
  void awaitRestoredSince(long checkpoint) throws Exception {
    Await.until(
        "job " + id + " is restored from checkpoint " + checkpoint + " or a later one",
        LIMIT,
        () -> restoredCheckpoint().filter(restored -> restored >= checkpoint).isPresent(),
        cluster::diagnosis);
  }

  /** Waits until the job has noticed a failure and runs again from this checkpoint. */
  void awaitRestoredFrom(long checkpoint) throws Exception {
    Await.until(
        "job " + id + " is restored from checkpoint " + checkpoint,
        LIMIT,
        () ->
            restoredCheckpoint().equals(Optional.of(checkpoint))
                && cluster.hasStatus(id, JobStatus.RUNNING),
        cluster::diagnosis);
  }

  /** Waits until a failure of the job has this in its stack traces. */
  void awaitFailure(String text) throws Exception {
    Await.until(
        "job " + id + " fails with '" + text + "'",
        LIMIT,
        () -> cluster.rest().failures(id).contains(text),
        cluster::diagnosis);
  }

  /** Submits a job that fails, and returns the stack traces of its failures. */
  static String failureOf(ProcessCluster cluster, JobSubmission submission) throws Exception {
    JobID id = cluster.rest().run(submission);
    cluster.awaitStatus(id, JobStatus.FAILED, LIMIT);
    return cluster.rest().failures(id);
  }

  /** Cancels the job; its newest checkpoint is kept. */
  void cancel() throws Exception {
    cluster.rest().cancel(id);
    cluster.awaitStatus(id, JobStatus.CANCELED, LIMIT);
  }

  void awaitFinished() throws Exception {
    cluster.awaitStatus(id, JobStatus.FINISHED, LIMIT);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.executiongraph.ErrorInfo;
import org.apache.flink.runtime.jobgraph.JobResourceRequirements;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;

/** A job that runs, or ran, on the cluster of the tests. */
public final class FlinkJob {
  private static final long TIMEOUT_SECONDS = 300;

  private final MiniCluster cluster;
  private final JobID id;

  FlinkJob(MiniCluster cluster, JobID id) {
    this.cluster = cluster;
    this.id = id;
  }

  /**
   * Waits for the job's end.
   *
   * @throws Exception the job's failure, if it failed
   */
  public void await() throws Exception {
    JobResult result = awaitEnd();
    if (result.getSerializedThrowable().isPresent()) {
      throw new IllegalStateException(
          "job failed: " + result.getSerializedThrowable().get().getFullStringifiedStackTrace());
    }
  }

  private JobResult awaitEnd() throws Exception {
    return cluster.requestJobResult(id).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  /** Waits for the job's end, and returns its accumulators by name. */
  public Map<String, Object> accumulators() throws Exception {
    return awaitEnd().toJobExecutionResult(getClass().getClassLoader()).getAllAccumulatorResults();
  }

  /** Waits until all subtasks run. */
  public void awaitRunning() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (!runs()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("the job does not run: " + status());
      }
      Thread.sleep(20);
    }
  }

  /**
   * Waits until {@code condition} holds.
   *
   * @throws Exception the job's failure if it fails; an IllegalStateException if the job ends, or
   *     {@value #TIMEOUT_SECONDS} s pass, before {@code condition} holds; what the condition throws
   */
  public void awaitUntil(Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (!condition.call()) {
      if (status().isGloballyTerminalState()) {
        await();
        throw new IllegalStateException("the job ended too early: " + status());
      }
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("the condition does not hold: " + status());
      }
      Thread.sleep(5);
    }
  }

  /**
   * Sets the parallelism of each operator to {@code parallelism} or, if this is smaller, its
   * maximum parallelism, and waits until all subtasks run.
   */
  public void rescale(int parallelism) throws Exception {
    JobResourceRequirements.Builder requirements = JobResourceRequirements.newBuilder();
    graph()
        .getAllVertices()
        .values()
        .forEach(
            vertex ->
                requirements.setParallelismForJobVertex(
                    vertex.getJobVertexId(), 1, parallelism(vertex, parallelism)));
    cluster
        .updateJobResourceRequirements(id, requirements.build())
        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
    while (!runs() || !hasParallelism(parallelism)) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("the job is not rescaled to " + parallelism);
      }
      Thread.sleep(20);
    }
  }

  private static int parallelism(AccessExecutionJobVertex vertex, int asked) {
    return Math.min(asked, vertex.getMaxParallelism());
  }

  private boolean hasParallelism(int parallelism) throws Exception {
    return graph().getAllVertices().values().stream()
        .allMatch(vertex -> vertex.getParallelism() == parallelism(vertex, parallelism));
  }

  private boolean runs() throws Exception {
    AccessExecutionGraph graph = graph();
    if (status().isGloballyTerminalState()) {
      ErrorInfo failure = graph().getFailureInfo();
      throw new IllegalStateException(
          "the job ended: " + status() + (failure == null ? "" : ": " + rootCause(failure)),
          failure == null ? null : failure.getException());
    }
    return StreamSupport.stream(graph.getAllExecutionVertices().spliterator(), false)
        .map(AccessExecutionVertex::getExecutionState)
        .allMatch(state -> state == ExecutionState.RUNNING || state == ExecutionState.FINISHED);
  }

  private static Throwable rootCause(ErrorInfo failure) {
    Throwable cause = failure.getException().deserializeError(FlinkJob.class.getClassLoader());
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  private AccessExecutionGraph graph() throws Exception {
    return cluster.getExecutionGraph(id).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  public JobStatus status() throws Exception {
    return cluster.getJobStatus(id).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  /** Cancels the job and waits for its end. */
  public void cancel() throws Exception {
    cluster.cancelJob(id).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    awaitEnd();
  }

  /**
   * Stops the job with a savepoint under {@code folder}, and returns the savepoint's path.
   *
   * @throws Exception the job's failure, if the job fails before it stops
   */
  public String stopWithSavepoint(Path folder) throws Exception {
    String savepoint;
    try {
      savepoint =
          cluster
              .stopWithSavepoint(
                  id, folder.toUri().toString(), false, SavepointFormatType.CANONICAL)
              .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      await();
      throw e;
    }
    awaitEnd();
    return savepoint;
  }

  /** Takes a checkpoint, and returns its path. */
  public String checkpoint() throws Exception {
    return cluster.triggerCheckpoint(id).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  /** The statistics of the last completed checkpoint. */
  public AbstractCheckpointStats lastCheckpoint() throws Exception {
    return graph().getCheckpointStatsSnapshot().getHistory().getLatestCompletedCheckpoint();
  }
}

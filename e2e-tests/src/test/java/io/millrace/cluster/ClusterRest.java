// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.client.deployment.StandaloneClusterId;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.rest.FileUpload;
import org.apache.flink.runtime.rest.RestClient;
import org.apache.flink.runtime.rest.messages.EmptyMessageParameters;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.apache.flink.runtime.rest.messages.JobExceptionsHeaders;
import org.apache.flink.runtime.rest.messages.JobExceptionsInfoWithHistory;
import org.apache.flink.runtime.rest.messages.JobMessageParameters;
import org.apache.flink.runtime.rest.messages.JobVertexDetailsHeaders;
import org.apache.flink.runtime.rest.messages.JobVertexMessageParameters;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatisticsHeaders;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo;
import org.apache.flink.runtime.rest.messages.job.JobExceptionsMessageParameters;
import org.apache.flink.runtime.rest.messages.job.metrics.JobVertexMetricsHeaders;
import org.apache.flink.runtime.rest.messages.job.metrics.JobVertexMetricsMessageParameters;
import org.apache.flink.runtime.rest.messages.taskmanager.TaskManagersHeaders;
import org.apache.flink.runtime.webmonitor.handlers.JarRunHeaders;
import org.apache.flink.runtime.webmonitor.handlers.JarRunMessageParameters;
import org.apache.flink.runtime.webmonitor.handlers.JarRunRequestBody;
import org.apache.flink.runtime.webmonitor.handlers.JarUploadHeaders;

/** REST calls of tests to a JobManager. Every call waits for its answer, 60 seconds at most. */
final class ClusterRest implements AutoCloseable {
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(5);
  private static final String HOST = "localhost";

  private final int port;
  private final ExecutorService executor = Executors.newSingleThreadExecutor();
  private final RestClient restClient;
  private final RestClusterClient<StandaloneClusterId> clusterClient;

  ClusterRest(int port) throws Exception {
    this.port = port;
    Configuration configuration = new Configuration();
    configuration.set(JobManagerOptions.ADDRESS, HOST);
    configuration.set(RestOptions.ADDRESS, HOST);
    configuration.set(RestOptions.PORT, port);
    restClient = new RestClient(configuration, executor);
    clusterClient = new RestClusterClient<>(configuration, StandaloneClusterId.getInstance());
  }

  /** The resource ids of the TaskManagers that are registered now. */
  Set<String> taskManagers() throws Exception {
    return answer(
            clusterClient.sendRequest(
                TaskManagersHeaders.getInstance(),
                EmptyMessageParameters.getInstance(),
                EmptyRequestBody.getInstance()))
        .getTaskManagerInfos()
        .stream()
        .map(info -> info.getResourceId().toString())
        .collect(Collectors.toSet());
  }

  /**
   * Uploads the submission's jar and has the JobManager run its main class, as the web page does.
   * The jar's classes are loaded by Flink's user-code class loader, everything else by the process.
   */
  JobID run(JobSubmission submission) throws Exception {
    JarRunMessageParameters parameters = new JarRunMessageParameters();
    parameters.jarIdPathParameter.resolve(upload(submission.jar()));
    JarRunRequestBody request =
        new JarRunRequestBody(
            submission.entryClass(),
            submission.arguments(),
            submission.parallelism(),
            null,
            false,
            submission.restorePath().orElse(null),
            RecoveryClaimMode.NO_CLAIM,
            submission.configuration());
    return answer(clusterClient.sendRequest(JarRunHeaders.getInstance(), parameters, request))
        .getJobId();
  }

  private String upload(Path jar) throws Exception {
    String stored =
        answer(
                restClient.sendRequest(
                    HOST,
                    port,
                    JarUploadHeaders.getInstance(),
                    EmptyMessageParameters.getInstance(),
                    EmptyRequestBody.getInstance(),
                    List.of(new FileUpload(jar, "application/java-archive"))))
            .getFilename();
    return Path.of(stored).getFileName().toString();
  }

  /** The jobs that have not ended. */
  Set<JobID> runningJobs() throws Exception {
    return answer(clusterClient.listJobs()).stream()
        .filter(job -> !job.getJobState().isGloballyTerminalState())
        .map(JobStatusMessage::getJobId)
        .collect(Collectors.toSet());
  }

  JobStatus status(JobID job) throws Exception {
    return answer(clusterClient.getJobStatus(job));
  }

  JobDetailsInfo details(JobID job) throws Exception {
    return answer(clusterClient.getJobDetails(job));
  }

  /** The accumulators of the job's running attempt. */
  Map<String, Object> accumulators(JobID job) throws Exception {
    return answer(clusterClient.getAccumulators(job));
  }

  /** Takes a checkpoint as the job is configured, and returns its id when it is complete. */
  long triggerCheckpoint(JobID job) throws Exception {
    return answer(clusterClient.triggerCheckpoint(job, CheckpointType.CONFIGURED));
  }

  /** Ends a job with a savepoint in {@code folder}, and returns its path. */
  String stopWithSavepoint(JobID job, Path folder) throws Exception {
    return answer(
        clusterClient.stopWithSavepoint(
            job, false, folder.toUri().toString(), SavepointFormatType.CANONICAL));
  }

  CheckpointingStatistics checkpoints(JobID job) throws Exception {
    JobMessageParameters parameters = new JobMessageParameters();
    parameters.jobPathParameter.resolve(job);
    return answer(
        clusterClient.sendRequest(
            CheckpointingStatisticsHeaders.getInstance(),
            parameters,
            EmptyRequestBody.getInstance()));
  }

  /** The TaskManagers that the tasks of the job's current attempt run on. */
  Set<String> taskManagersOf(JobID job) throws Exception {
    Set<String> names = new HashSet<>();
    for (JobDetailsInfo.JobVertexDetailsInfo vertex : details(job).getJobVertexInfos()) {
      names.addAll(taskManagersOf(job, vertex.getJobVertexID()));
    }
    return names;
  }

  private Set<String> taskManagersOf(JobID job, JobVertexID vertex) throws Exception {
    JobVertexMessageParameters parameters = new JobVertexMessageParameters();
    parameters.jobPathParameter.resolve(job);
    parameters.jobVertexIdPathParameter.resolve(vertex);
    return answer(
            clusterClient.sendRequest(
                JobVertexDetailsHeaders.getInstance(), parameters, EmptyRequestBody.getInstance()))
        .getSubtasks()
        .stream()
        .map(subtask -> subtask.getTaskmanagerId())
        .collect(Collectors.toSet());
  }

  /** The values of a metric that the subtasks of {@code vertex} report so far. */
  List<Long> subtaskMetric(JobID job, JobDetailsInfo.JobVertexDetailsInfo vertex, String metric)
      throws Exception {
    JobVertexMetricsMessageParameters parameters = new JobVertexMetricsMessageParameters();
    parameters.jobPathParameter.resolve(job);
    parameters.jobVertexIdPathParameter.resolve(vertex.getJobVertexID());
    String ids =
        IntStream.range(0, vertex.getParallelism())
            .mapToObj(subtask -> subtask + "." + metric)
            .collect(Collectors.joining(","));
    parameters.getQueryParameters().iterator().next().resolveFromString(ids);
    return answer(
            clusterClient.sendRequest(
                JobVertexMetricsHeaders.getInstance(), parameters, EmptyRequestBody.getInstance()))
        .getMetrics()
        .stream()
        .map(value -> Long.valueOf(value.getValue()))
        .toList();
  }

  /** The stack traces of the job's failures so far, newest first. */
  String failures(JobID job) throws Exception {
    JobExceptionsMessageParameters parameters = new JobExceptionsMessageParameters();
    parameters.jobPathParameter.resolve(job);
    return answer(
            clusterClient.sendRequest(
                JobExceptionsHeaders.getInstance(), parameters, EmptyRequestBody.getInstance()))
        .getExceptionHistory()
        .getEntries()
        .stream()
        .map(JobExceptionsInfoWithHistory.ExceptionInfo::getStacktrace)
        .collect(Collectors.joining("\n"));
  }

  /** Asks the JobManager to cancel the job; does not wait until it is cancelled. */
  void cancel(JobID job) throws Exception {
    answer(clusterClient.cancel(job));
  }

  @Override
  public void close() {
    clusterClient.close();
    restClient.shutdown(Duration.ofSeconds(5));
    executor.shutdownNow();
  }

  private static <T> T answer(CompletableFuture<T> future) throws Exception {
    return future.get(ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS);
  }
}

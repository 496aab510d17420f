// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.client.deployment.StandaloneClusterId;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.rest.messages.EmptyMessageParameters;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.apache.flink.runtime.rest.messages.JobConfigHeaders;
import org.apache.flink.runtime.rest.messages.JobConfigInfo;
import org.apache.flink.runtime.rest.messages.JobMessageParameters;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatistics;
import org.apache.flink.runtime.rest.messages.checkpoints.CheckpointingStatisticsHeaders;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo;
import org.apache.flink.runtime.rest.messages.taskmanager.TaskManagerInfo;
import org.apache.flink.runtime.rest.messages.taskmanager.TaskManagersHeaders;

/** What a JobManager tells of its cluster. Each call waits for the answer, 30 seconds at most. */
final class ClusterRest implements AutoCloseable {
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);

  private final String address;
  private final RestClusterClient<StandaloneClusterId> client;

  /**
   * @param configuration of the cluster
   * @throws ClusterException if no client can be made for it
   */
  ClusterRest(Configuration configuration) throws ClusterException {
    address = "http://localhost:" + configuration.get(RestOptions.PORT);
    Configuration once = new Configuration(configuration);
    once.set(RestOptions.RETRY_MAX_ATTEMPTS, 0);
    try {
      client = new RestClusterClient<>(once, StandaloneClusterId.getInstance());
    } catch (Exception e) {
      throw new ClusterException("no client for " + address + ": " + e.getMessage(), e);
    }
  }

  String address() {
    return address;
  }

  /** The TaskManagers that are registered, by their names. */
  List<TaskManagerInfo> taskManagers() throws ClusterException, InterruptedException {
    Collection<TaskManagerInfo> all =
        answer(
                client.sendRequest(
                    TaskManagersHeaders.getInstance(),
                    EmptyMessageParameters.getInstance(),
                    EmptyRequestBody.getInstance()))
            .getTaskManagerInfos();
    return all.stream()
        .sorted(Comparator.comparing(info -> info.getResourceId().toString()))
        .toList();
  }

  /** All jobs that the JobManager knows, the newest first. */
  List<JobStatusMessage> jobs() throws ClusterException, InterruptedException {
    return answer(client.listJobs()).stream()
        .sorted(Comparator.comparingLong(JobStatusMessage::getStartTime).reversed())
        .toList();
  }

  JobDetailsInfo details(JobID job) throws ClusterException, InterruptedException {
    return answer(client.getJobDetails(job));
  }

  CheckpointingStatistics checkpoints(JobID job) throws ClusterException, InterruptedException {
    return answer(
        client.sendRequest(
            CheckpointingStatisticsHeaders.getInstance(),
            parameters(job),
            EmptyRequestBody.getInstance()));
  }

  /** The parameters that the job gave to Flink for its users to see. */
  Map<String, String> jobParameters(JobID job) throws ClusterException, InterruptedException {
    JobConfigInfo.ExecutionConfigInfo info =
        answer(
                client.sendRequest(
                    JobConfigHeaders.getInstance(),
                    parameters(job),
                    EmptyRequestBody.getInstance()))
            .getExecutionConfigInfo();
    return info == null ? Map.of() : info.getGlobalJobParameters();
  }

  private static JobMessageParameters parameters(JobID job) {
    JobMessageParameters parameters = new JobMessageParameters();
    parameters.jobPathParameter.resolve(job);
    return parameters;
  }

  private <T> T answer(CompletableFuture<T> future) throws ClusterException, InterruptedException {
    try {
      return future.get(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new ClusterException(address + " does not answer: " + e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw new ClusterException(
          address + " did not answer within " + ANSWER_LIMIT.toSeconds() + " seconds", e);
    }
  }

  @Override
  public void close() {
    client.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import io.millrace.process.Await;
import io.millrace.process.LoggedProcess;
import io.millrace.services.Database;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo;

/**
 * A Flink session cluster of real processes on the loopback interface: one JobManager and any
 * number of TaskManagers, each a plain {@code java -cp lib/*}. The lib folder holds Flink,
 * Millrace's modules and their libraries as an operator of a cluster would lay them out, and no
 * jobs.
 *
 * <p>All processes end in {@link #close}, also after a failure and when this JVM exits. For one
 * thread.
 */
final class ProcessCluster implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofMinutes(5);
  private static final Duration CANCEL_LIMIT = Duration.ofMinutes(5);
  private static final String JOB_MANAGER =
      "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint";
  private static final String TASK_MANAGER =
      "org.apache.flink.runtime.taskexecutor.TaskManagerRunner";
  private static final Pattern RPC_PORT =
      Pattern.compile("Actor system started at pekko\\.tcp://flink@localhost:(\\d+)");
  private static final Pattern REST_PORT =
      Pattern.compile("Rest endpoint listening at [\\w.]+:(\\d+)");

  private final Path folder;
  private final Map<String, LoggedProcess> taskManagers = new LinkedHashMap<>();
  private LoggedProcess jobManager;
  private String rpcPort;
  private ClusterRest rest;
  private int jobManagersStarted;
  private int taskManagersStarted;

  private ProcessCluster(Path folder) {
    this.folder = folder;
  }

  /**
   * Starts a JobManager and returns when it answers; no TaskManager yet.
   *
   * @param folder gets the configuration, logs, temporary files and checkpoints
   * @throws AssertionError if the JobManager does not come up; the message has the tail of its log
   */
  static ProcessCluster start(Path folder) throws Exception {
    return start(folder, Map.of());
  }

  /**
   * As {@link #start(Path)}.
   *
   * @param options Flink options besides those of {@link ClusterConfiguration}, or in their place
   */
  static ProcessCluster start(Path folder, Map<String, String> options) throws Exception {
    ClusterConfiguration.write(folder, folder.resolve("conf").resolve("config.yaml"), options);
    for (String name : List.of("tmp", "upload", "checkpoints")) {
      Files.createDirectories(folder.resolve(name));
    }
    ProcessCluster cluster = new ProcessCluster(folder);
    cluster.startJobManager();
    return cluster;
  }

  private void startJobManager() throws Exception {
    String name = "jobmanager-" + ++jobManagersStarted;
    List<String> arguments = javaArguments(List.of("-Xmx256m"));
    arguments.addAll(List.of(JOB_MANAGER, "--configDir", folder.resolve("conf").toString()));
    jobManager = LoggedProcess.startJava(name, folder.resolve(name + ".log"), arguments);
    try {
      rpcPort = jobManager.awaitOutput(RPC_PORT, START_LIMIT).group(1);
      String restPort = jobManager.awaitOutput(REST_PORT, START_LIMIT).group(1);
      rest = new ClusterRest(Integer.parseInt(restPort));
    } catch (Exception | Error e) {
      jobManager.close();
      throw e;
    }
  }

  ClusterRest rest() {
    return rest;
  }

  /** The folder of the cluster's files. */
  Path folder() {
    return folder;
  }

  /** The TaskManagers that were started and neither stopped nor killed, oldest first. */
  List<LoggedProcess> taskManagers() {
    return List.copyOf(taskManagers.values());
  }

  /** Starts or stops TaskManagers until {@code count} run, and returns when they are registered. */
  void setTaskManagers(int count) throws Exception {
    taskManagers.values().removeIf(process -> !process.isAlive());
    while (taskManagers.size() > count) {
      taskManagers.remove(taskManagers().get(0).name()).close();
    }
    while (taskManagers.size() < count) {
      startTaskManager();
    }
    awaitRegistered();
  }

  /** Starts one more TaskManager; does not wait until it is registered. */
  LoggedProcess startTaskManager() throws IOException {
    String name = "taskmanager-" + ++taskManagersStarted;
    List<String> arguments =
        javaArguments(
            List.of("-Xmx224m", "-XX:MaxDirectMemorySize=160m", "-XX:MaxMetaspaceSize=192m"));
    arguments.addAll(
        List.of(
            TASK_MANAGER,
            "--configDir",
            folder.resolve("conf").toString(),
            "-D",
            "jobmanager.rpc.port=" + rpcPort,
            "-D",
            "taskmanager.resource-id=" + name));
    LoggedProcess process =
        LoggedProcess.startJava(
            name,
            folder.resolve(name + ".log"),
            arguments,
            Map.of("PGPASSWORD", Database.PASSWORD));
    taskManagers.put(name, process);
    return process;
  }

  /** Ends a TaskManager with SIGKILL. */
  void killTaskManager(String name) throws InterruptedException {
    taskManagers.remove(name).kill();
  }

  /** Ends the JobManager with SIGKILL: the cluster can only be closed then. */
  void killJobManager() throws InterruptedException {
    jobManager.kill();
  }

  /**
   * Ends the JobManager with SIGKILL, starts another one, and returns when it has the TaskManagers
   * and the jobs. Needs high availability, by which it finds them.
   */
  void replaceJobManager() throws Exception {
    Set<JobID> jobs = rest.runningJobs();
    jobManager.kill();
    rest.close();
    startJobManager();
    awaitRegistered();
    Await.until(
        "jobs " + jobs + " run again",
        START_LIMIT,
        () -> rest.runningJobs().equals(jobs),
        this::diagnosis);
  }

  /** Waits until a TaskManager has ended by itself, and returns it. */
  LoggedProcess awaitTaskManagerEnd() throws Exception {
    Await.until(
        "a TaskManager ends",
        START_LIMIT,
        () -> taskManagers.values().stream().anyMatch(process -> !process.isAlive()),
        this::diagnosis);
    LoggedProcess ended =
        taskManagers().stream().filter(process -> !process.isAlive()).findFirst().orElseThrow();
    taskManagers.remove(ended.name());
    return ended;
  }

  /** Waits until exactly the TaskManagers of {@link #taskManagers} are registered. */
  void awaitRegistered() throws Exception {
    Await.until(
        "TaskManagers " + taskManagers.keySet() + " are registered",
        START_LIMIT,
        () -> {
          requireAllAlive();
          return rest.taskManagers().equals(taskManagers.keySet());
        },
        this::diagnosis);
  }

  /**
   * Waits until the job has the given status.
   *
   * @throws AssertionError if the job ends in another way or {@code limit} passes; the message has
   *     the job's failures and the logs
   */
  void awaitStatus(JobID job, JobStatus expected, Duration limit) throws Exception {
    Await.until(
        "job " + job + " is " + expected, limit, () -> hasStatus(job, expected), this::diagnosis);
  }

  /**
   * Whether the job has the given status.
   *
   * @throws AssertionError if the job has ended in another way
   */
  boolean hasStatus(JobID job, JobStatus expected) throws Exception {
    JobStatus status = rest.status(job);
    if (status != expected && status.isGloballyTerminalState()) {
      throw new AssertionError(
          "job %s is %s, not %s:%n%s%n%s"
              .formatted(job, status, expected, rest.failures(job), diagnosis()));
    }
    return status == expected;
  }

  /** Waits until every task of the job runs; sources without a split have finished then. */
  void awaitTasksRunning(JobID job, Duration limit) throws Exception {
    Await.until(
        "all tasks of job " + job + " run",
        limit,
        () ->
            hasStatus(job, JobStatus.RUNNING)
                && rest.details(job).getJobVertexInfos().stream().allMatch(ProcessCluster::runs),
        this::diagnosis);
  }

  // The state of a vertex is RUNNING as soon as one of its tasks runs.
  private static boolean runs(JobDetailsInfo.JobVertexDetailsInfo vertex) {
    Map<ExecutionState, Integer> tasks = vertex.getTasksPerState();
    int started =
        tasks.getOrDefault(ExecutionState.RUNNING, 0)
            + tasks.getOrDefault(ExecutionState.FINISHED, 0);
    return started == vertex.getParallelism();
  }

  /** Cancels the jobs that run and waits until they are gone. */
  void cancelJobs() throws Exception {
    for (JobID job : rest.runningJobs()) {
      rest.cancel(job);
    }
    Await.until("no job runs", CANCEL_LIMIT, () -> rest.runningJobs().isEmpty(), this::diagnosis);
  }

  /** Logs of all processes that run, for the message of an error. */
  String diagnosis() {
    return jobManager.diagnosis()
        + taskManagers.values().stream()
            .map(LoggedProcess::diagnosis)
            .collect(Collectors.joining());
  }

  @Override
  public void close() {
    rest.close();
    List<LoggedProcess> processes = new ArrayList<>(taskManagers.values());
    processes.add(jobManager);
    processes.forEach(LoggedProcess::close);
    taskManagers.clear();
  }

  private void requireAllAlive() {
    Set<String> ended =
        taskManagers.values().stream()
            .filter(process -> !process.isAlive())
            .map(LoggedProcess::name)
            .collect(Collectors.toSet());
    if (!ended.isEmpty()) {
      throw new AssertionError(ended + " ended by themselves\n" + diagnosis());
    }
  }

  private static List<String> javaArguments(List<String> memory) {
    List<String> arguments = new ArrayList<>(memory);
    // Short-lived processes on few cores: the second compiler costs more than it gives.
    arguments.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    arguments.addAll(List.of(required("millrace.cluster.jvm.flags").split(" ")));
    for (String inherited :
        List.of("millrace.device", "user.timezone", "user.language", "user.country")) {
      arguments.add("-D" + inherited + "=" + required(inherited));
    }
    arguments.add(
        "-Dlog4j.configurationFile=" + ProcessCluster.class.getResource("/cluster-log4j2.xml"));
    arguments.addAll(List.of("-cp", Path.of(required("millrace.cluster.lib"), "*").toString()));
    return arguments;
  }

  private static String required(String property) {
    String value = System.getProperty(property);
    if (value == null) {
      throw new IllegalStateException(
          "system property " + property + " is not set: run by mvn verify");
    }
    return value;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import io.millrace.jobs.cluster.ClusterFolder.Member;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.time.Deadline;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessSpec;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;
import org.apache.flink.runtime.jobmanager.JobManagerProcessSpec;
import org.apache.flink.runtime.jobmanager.JobManagerProcessUtils;
import org.apache.flink.runtime.util.config.memory.ProcessMemoryUtils;

/**
 * A Flink session cluster of processes on this machine: a JobManager and TaskManagers, which go on
 * when this process ends. Their class path is that of this process without the jar of the jobs,
 * which are submitted.
 */
@Internal
public final class LocalCluster {
  private static final String JOB_MANAGER_CLASS =
      "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint";
  private static final String TASK_MANAGER_CLASS =
      "org.apache.flink.runtime.taskexecutor.TaskManagerRunner";
  private static final String LOGGING = "/millrace-cluster-log4j2.properties";
  private static final String VISIBLE_GPUS = "CUDA_VISIBLE_DEVICES";
  private static final Duration START_LIMIT = Duration.ofMinutes(3);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
  private static final Duration POLL_INTERVAL = Duration.ofMillis(200);
  private static final int LOG_LINES = 20;

  // A terminal sends its signals to the processes of this one's group, too.
  private static final List<String> WITHOUT_SIGNALS_OF_THE_TERMINAL =
      List.of("/bin/sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh");

  private final ClusterFolder folder;
  private final PrintStream out;

  LocalCluster(ClusterFolder folder, PrintStream out) {
    this.folder = folder;
    this.out = out;
  }

  /** The folder of a user's cluster, if no other one is given. */
  public static Path defaultFolder() {
    return ClusterFolder.defaultPath();
  }

  /**
   * The options of the cluster in a folder. If none runs there, one is started with the settings of
   * {@code millrace cluster up} without options, and goes on when this process ends.
   *
   * @param out gets a line for each process that is started
   * @throws ClusterException if the cluster cannot be started
   */
  public static Configuration connect(Path folder, PrintStream out)
      throws IOException, ClusterException, InterruptedException {
    ClusterFolder files = new ClusterFolder(folder.toAbsolutePath().normalize());
    if (files.alive().stream().noneMatch(Member::isJobManager)) {
      new LocalCluster(files, out).start(ClusterSettings.defaults());
      out.println("'./millrace cluster down' stops it");
    }
    return files.readConfiguration();
  }

  /**
   * Starts the processes and waits until all TaskManagers are registered.
   *
   * @throws ClusterException if the cluster runs already, a port is taken, or a process ends or
   *     does not answer within three minutes, with the end of its log; nothing that was started
   *     goes on then
   */
  void start(ClusterSettings settings) throws IOException, ClusterException, InterruptedException {
    List<Member> alive = folder.alive();
    if (!alive.isEmpty()) {
      throw new ClusterException(
          "a cluster runs already in "
              + folder.path()
              + ": "
              + names(alive)
              + "; './millrace cluster down' stops it");
    }
    folder.create();
    Configuration configuration = ClusterConfiguration.write(folder, settings);
    writeLogging();
    Thread stop = new Thread(this::stopAtExit);
    Runtime.getRuntime().addShutdownHook(stop);
    try {
      startJobManager(configuration, settings);
      for (int number = 1; number <= settings.taskManagers(); number++) {
        startTaskManager(number, configuration, settings);
      }
      awaitRegistered(configuration, settings);
    } catch (IOException | ClusterException | InterruptedException | RuntimeException e) {
      stop();
      throw e;
    } finally {
      forget(stop);
    }
  }

  private static void forget(Thread atExit) {
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // This process ends, and the thread runs.
    }
  }

  private void stopAtExit() {
    try {
      stop();
    } catch (IOException e) {
      out.println("the cluster that was started may go on: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // From the jar of the jobs, which the processes do not have.
  private void writeLogging() throws IOException {
    try (InputStream in = LocalCluster.class.getResourceAsStream(LOGGING)) {
      Files.copy(in, folder.logging(), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private void startJobManager(Configuration configuration, ClusterSettings settings)
      throws IOException {
    JobManagerProcessSpec memory = JobManagerProcessUtils.processSpecFromConfig(configuration);
    List<String> jvm =
        words(JobManagerProcessUtils.generateJvmParametersStr(memory, configuration));
    List<String> arguments = new ArrayList<>(configurationArguments());
    arguments.addAll(words(JobManagerProcessUtils.generateDynamicConfigsStr(memory)));
    settings.metricsPort().ifPresent(port -> arguments.addAll(metricsArguments(port)));
    start(ClusterFolder.jobManager(), jvm, JOB_MANAGER_CLASS, arguments, Map.of());
  }

  private void startTaskManager(int number, Configuration configuration, ClusterSettings settings)
      throws IOException {
    TaskExecutorProcessSpec memory = TaskExecutorProcessUtils.processSpecFromConfig(configuration);
    List<String> arguments = new ArrayList<>(configurationArguments());
    arguments.addAll(words(TaskExecutorProcessUtils.generateDynamicConfigsStr(memory)));
    String name = ClusterFolder.taskManager(number);
    arguments.addAll(List.of("-D", "taskmanager.resource-id=" + name));
    settings.metricsPort().ifPresent(port -> arguments.addAll(metricsArguments(port + number)));
    List<String> gpus = settings.gpus(number);
    Map<String, String> environment =
        gpus.isEmpty() ? Map.of() : Map.of(VISIBLE_GPUS, String.join(",", gpus));
    List<String> jvm = words(ProcessMemoryUtils.generateJvmParametersStr(memory));
    start(name, jvm, TASK_MANAGER_CLASS, arguments, environment);
  }

  private static List<String> metricsArguments(int port) {
    return List.of("-D", "metrics.reporter.prometheus.port=" + port);
  }

  private List<String> configurationArguments() {
    return List.of("--configDir", folder.configuration().toString());
  }

  private static List<String> words(String text) {
    return Arrays.stream(text.strip().split("\\s+")).filter(word -> !word.isEmpty()).toList();
  }

  private void start(
      String name,
      List<String> jvm,
      String mainClass,
      List<String> arguments,
      Map<String, String> environment)
      throws IOException {
    List<String> command = new ArrayList<>(WITHOUT_SIGNALS_OF_THE_TERMINAL);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvm);
    command.addAll(inheritedFlags());
    command.add("-Dlog.file=" + folder.log(name));
    command.add("-Dlog4j2.configurationFile=" + folder.logging().toUri());
    command.addAll(List.of("-cp", classPath(), mainClass));
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true).redirectOutput(folder.output(name).toFile());
    Process process = builder.start();
    process.getOutputStream().close();
    folder.remember(name, process.toHandle());
    String gpus = environment.getOrDefault(VISIBLE_GPUS, "");
    out.printf(
        "%s started, process %d%s%n", name, process.pid(), gpus.isEmpty() ? "" : ", GPU " + gpus);
  }

  // Access to the JDK's internals, and properties such as the device.
  private static List<String> inheritedFlags() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--add-") || flag.startsWith("-Dmillrace."))
        .toList();
  }

  private static String classPath() {
    Path jobs = jobsJar();
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> !Path.of(entry).toAbsolutePath().normalize().equals(jobs))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** The jar with the jobs of this project. */
  static Path jobsJar() {
    try {
      return Path.of(LocalCluster.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toAbsolutePath()
          .normalize();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitRegistered(Configuration configuration, ClusterSettings settings)
      throws IOException, ClusterException, InterruptedException {
    Deadline deadline = Deadline.fromNow(START_LIMIT);
    try (ClusterRest rest = new ClusterRest(configuration)) {
      while (registered(rest) < settings.taskManagers()) {
        requireAlive(settings.taskManagers() + 1);
        if (deadline.isOverdue()) {
          throw new ClusterException(
              "not all TaskManagers registered within "
                  + START_LIMIT.toMinutes()
                  + " minutes; "
                  + "the logs are in "
                  + folder.log(ClusterFolder.jobManager()).getParent());
        }
        Thread.sleep(POLL_INTERVAL.toMillis());
      }
    }
    out.println("web UI: http://localhost:" + configuration.get(RestOptions.PORT));
  }

  // A JobManager that starts does not answer yet.
  private static int registered(ClusterRest rest) throws InterruptedException {
    try {
      return rest.taskManagers().size();
    } catch (ClusterException e) {
      return 0;
    }
  }

  private void requireAlive(int expected) throws IOException, ClusterException {
    List<Member> alive = folder.alive();
    if (alive.size() == expected) {
      return;
    }
    for (int number = 0; number < expected; number++) {
      String name = number == 0 ? ClusterFolder.jobManager() : ClusterFolder.taskManager(number);
      if (alive.stream().noneMatch(member -> member.name().equals(name))) {
        throw new ClusterException(name + " ended while it started:\n" + endOfLog(name));
      }
    }
  }

  private String endOfLog(String name) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path file : List.of(folder.log(name), folder.output(name))) {
      if (Files.exists(file)) {
        lines.addAll(Files.readAllLines(file));
      }
    }
    return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
  }

  /**
   * Stops the processes, the JobManager last: politely, and by force those that have not ended
   * within 30 seconds.
   *
   * @return how many there were
   */
  int stop() throws IOException, InterruptedException {
    List<Member> members = folder.alive();
    List<Member> taskManagers = members.stream().filter(m -> !m.isJobManager()).toList();
    end(taskManagers);
    end(members.stream().filter(Member::isJobManager).toList());
    return members.size();
  }

  private void end(List<Member> members) throws IOException, InterruptedException {
    members.forEach(member -> member.process().destroy());
    CompletableFuture<?> ended =
        CompletableFuture.allOf(
            members.stream()
                .map(member -> member.process().onExit())
                .toArray(CompletableFuture[]::new));
    if (!endsWithin(ended, STOP_LIMIT)) {
      members.forEach(member -> member.process().destroyForcibly());
      endsWithin(ended, STOP_LIMIT);
    }
    for (Member member : members) {
      folder.forget(member.name());
      out.println(member.name() + " stopped");
    }
  }

  private static boolean endsWithin(CompletableFuture<?> ended, Duration limit)
      throws InterruptedException {
    try {
      ended.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The names and process ids of members, for a message. */
  static String names(List<Member> members) {
    return members.stream()
        .map(member -> member.name() + " (process " + member.process().pid() + ")")
        .collect(Collectors.joining(", "));
  }
}

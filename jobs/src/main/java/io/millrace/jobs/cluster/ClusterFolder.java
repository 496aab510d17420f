// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;

/**
 * The folder of a cluster's files: {@code conf/config.yaml} and {@code conf/log4j2.properties},
 * {@code log/}, {@code checkpoints/}, {@code savepoints/}, {@code tmp/}, and in {@code processes/}
 * a file for each process that was started, with its id and the time of its start, so that a number
 * that the system gave to another process since is not taken for it.
 */
record ClusterFolder(Path path) {
  private static final String JOB_MANAGER = "jobmanager";
  private static final String TASK_MANAGER = "taskmanager-";

  /** A process that was started. */
  record Member(String name, ProcessHandle process) {
    boolean isJobManager() {
      return name.equals(JOB_MANAGER);
    }
  }

  /** The folder of the user, which the option {@code --folder} replaces. */
  static Path defaultPath() {
    String state = System.getenv("XDG_STATE_HOME");
    Path base =
        state == null || state.isBlank()
            ? Path.of(System.getProperty("user.home"), ".local", "state")
            : Path.of(state);
    return base.resolve("millrace").resolve("cluster");
  }

  static String jobManager() {
    return JOB_MANAGER;
  }

  /**
   * @param number from 1
   */
  static String taskManager(int number) {
    return String.format(Locale.ROOT, "%s%d", TASK_MANAGER, number);
  }

  Path configuration() {
    return path.resolve("conf");
  }

  /** What the processes log, and where. */
  Path logging() {
    return configuration().resolve("log4j2.properties");
  }

  Path log(String name) {
    return path.resolve("log").resolve(name + ".log");
  }

  /** Where a process writes what does not go to its log, such as a JVM that cannot start. */
  Path output(String name) {
    return path.resolve("log").resolve(name + ".out");
  }

  Path checkpoints() {
    return path.resolve("checkpoints");
  }

  Path savepoints() {
    return path.resolve("savepoints");
  }

  Path temporary() {
    return path.resolve("tmp");
  }

  private Path processes() {
    return path.resolve("processes");
  }

  void create() throws IOException {
    for (Path folder :
        List.of(
            configuration(),
            path.resolve("log"),
            checkpoints(),
            savepoints(),
            temporary(),
            processes())) {
      Files.createDirectories(folder);
    }
  }

  /**
   * The options that the cluster was started with.
   *
   * @throws ClusterException if no cluster runs in the folder
   */
  Configuration readConfiguration() throws IOException, ClusterException {
    if (alive().stream().noneMatch(Member::isJobManager)) {
      throw new ClusterException(
          "no cluster runs in " + path + "; './millrace cluster up' starts one");
    }
    return GlobalConfiguration.loadConfiguration(configuration().toString());
  }

  void remember(String name, ProcessHandle process) throws IOException {
    Files.writeString(processes().resolve(name), process.pid() + " " + start(process));
  }

  void forget(String name) throws IOException {
    Files.deleteIfExists(processes().resolve(name));
  }

  /** The processes that were started and have not ended, by their names. */
  List<Member> alive() throws IOException {
    if (!Files.isDirectory(processes())) {
      return List.of();
    }
    List<Member> members = new ArrayList<>();
    try (Stream<Path> files = Files.list(processes())) {
      for (Path file : files.sorted().toList()) {
        process(Files.readString(file).strip())
            .ifPresent(process -> members.add(new Member(file.getFileName().toString(), process)));
      }
    }
    return members;
  }

  private static Optional<ProcessHandle> process(String text) {
    String[] idAndStart = text.split(" ", 2);
    return ProcessHandle.of(Long.parseLong(idAndStart[0]))
        .filter(ProcessHandle::isAlive)
        .filter(process -> idAndStart.length == 2 && start(process).equals(idAndStart[1]));
  }

  private static String start(ProcessHandle process) {
    return process.info().startInstant().map(Object::toString).orElse("unknown");
  }
}

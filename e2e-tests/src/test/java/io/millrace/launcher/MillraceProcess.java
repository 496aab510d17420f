// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A finished run of {@code millrace}: the command line that the launcher gives Java, without the
 * launcher's build.
 *
 * @param output what it wrote to standard output
 * @param error what it wrote to standard error
 */
record MillraceProcess(int exitCode, String output, String error) {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String ETL = "io.millrace.jobs.StreamingEtl";
  private static final String SQL = "io.millrace.jobs.sql.SqlCommand";
  private static final String CLUSTER = "io.millrace.jobs.cluster.ClusterCommand";

  /**
   * Runs {@code millrace etl} to its end.
   *
   * @param folder the working directory of the process; its output goes to files there
   * @throws AssertionError if it does not end within five minutes; the message has what it wrote
   */
  static MillraceProcess etl(Path folder, String... arguments) throws Exception {
    try (Running running = startEtl(folder, arguments)) {
      return running.await();
    }
  }

  /** As {@link #etl}, of a job that goes on. */
  static Running startEtl(Path folder, String... arguments) throws IOException {
    return start(folder, Map.of(), ETL, arguments);
  }

  /**
   * As {@link #etl}, of {@code millrace cluster}.
   *
   * @param environment variables besides those of this process
   */
  static MillraceProcess cluster(Path folder, Map<String, String> environment, String... arguments)
      throws Exception {
    try (Running running = start(folder, environment, CLUSTER, arguments)) {
      return running.await();
    }
  }

  /** As {@link #etl}, of {@code millrace sql}. */
  static MillraceProcess sql(Path folder, String... arguments) throws Exception {
    try (Running running = start(folder, Map.of(), SQL, arguments)) {
      return running.await();
    }
  }

  private static Running start(
      Path folder, Map<String, String> environment, String main, String... arguments)
      throws IOException {
    List<String> command = javaCommand(main);
    command.addAll(List.of(arguments));
    Path output = Files.createTempFile(folder, "stdout-", ".log");
    Path error = Files.createTempFile(folder, "stderr-", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(output.toFile())
            .redirectError(error.toFile());
    builder.environment().putAll(environment);
    return new Running(builder.start(), command, output, error);
  }

  /** A run that has not ended; closing it kills the process. */
  record Running(Process process, List<String> command, Path output, Path error)
      implements AutoCloseable {

    /**
     * Sends a signal.
     *
     * @param name such as {@code INT}
     */
    void signal(String name) throws Exception {
      String pid = Long.toString(process.pid());
      Process kill = new ProcessBuilder("kill", "-" + name, pid).start();
      if (kill.waitFor() != 0) {
        throw new AssertionError("kill -" + name + " " + pid + " failed");
      }
    }

    /** Waits for the end. */
    MillraceProcess await() throws Exception {
      boolean ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
      if (!ended) {
        throw new AssertionError("still running after " + LIMIT + ": " + describe());
      }
      return new MillraceProcess(process.exitValue(), text(output), text(error));
    }

    /** The command and the output so far. */
    String describe() {
      try {
        return "%s:%n%s%n%s".formatted(command, text(output), text(error));
      } catch (IOException e) {
        return command + ": " + e;
      }
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  private static List<String> javaCommand(String main) throws IOException {
    Path build = Path.of(System.getProperty("millrace.jobs.build"));
    List<String> command = new ArrayList<>();
    // A shell starts what it runs in the background with SIGINT ignored, and Java keeps that.
    command.addAll(List.of("env", "--default-signal=INT"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(Files.readString(build.resolve("jvm.flags")).trim().split("\\s+")));
    command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    for (String inherited : List.of("user.timezone", "user.language", "user.country")) {
      command.add("-D" + inherited + "=" + System.getProperty(inherited));
    }
    command.add(
        "-Dlog4j2.configurationFile=" + build.resolve("classes/millrace-log4j2.properties"));
    command.addAll(List.of("-cp", build.resolve("lib") + "/*", main));
    return command;
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, UTF_8);
  }
}

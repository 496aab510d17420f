// SPDX-License-Identifier: Apache-2.0
package io.millrace.process;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A process with its output in a log file. It is ended by its process id: politely by {@link
 * #close}, with SIGKILL by {@link #kill}, and with SIGKILL when this JVM exits first.
 */
public final class LoggedProcess implements AutoCloseable {
  private static final int TAIL_LINES = 40;
  private static final Duration TERMINATION_LIMIT = Duration.ofMinutes(1);

  private final String name;
  private final Path log;
  private final Process process;
  private final Thread killOnExit;

  private LoggedProcess(String name, Path log, Process process) {
    this.name = name;
    this.log = log;
    this.process = process;
    this.killOnExit = new Thread(this::sendKill, "kill " + name);
    Runtime.getRuntime().addShutdownHook(killOnExit);
  }

  /**
   * Starts the Java runtime that runs this test.
   *
   * @param name how messages call the process
   * @param log the file that gets standard output and standard error; replaced if it exists
   * @param arguments everything behind {@code java}
   * @throws IOException if the process cannot be started
   */
  public static LoggedProcess startJava(String name, Path log, List<String> arguments)
      throws IOException {
    return startJava(name, log, arguments, Map.of());
  }

  /**
   * As {@link #startJava(String, Path, List)}.
   *
   * @param environment variables besides those of this process
   */
  public static LoggedProcess startJava(
      String name, Path log, List<String> arguments, Map<String, String> environment)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    return start(name, log, builder);
  }

  /**
   * Starts any program.
   *
   * @param name how messages call the process
   * @param log the file that gets standard output and standard error; replaced if it exists
   * @param builder the command and its environment
   * @throws IOException if the process cannot be started
   */
  public static LoggedProcess start(String name, Path log, ProcessBuilder builder)
      throws IOException {
    Files.createDirectories(log.getParent());
    builder.redirectErrorStream(true).redirectOutput(log.toFile());
    return new LoggedProcess(name, log, builder.start());
  }

  public String name() {
    return name;
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Lets the process write no file beyond {@code bytes}: what a full disk does to it. Its writes
   * fail with "File too large".
   *
   * @param bytes as {@code prlimit} takes it: a number or {@code unlimited}
   */
  public void limitFileSize(String bytes) throws IOException, InterruptedException {
    Process limited =
        new ProcessBuilder("prlimit", "--pid", String.valueOf(pid()), "--fsize=" + bytes + ":")
            .inheritIO()
            .start();
    if (limited.waitFor() != 0) {
      throw new IOException("prlimit ended with " + limited.exitValue());
    }
  }

  /** The exit code of a process that has ended. */
  public int exitCode() {
    return process.exitValue();
  }

  /** Everything the process has written so far. */
  public String output() {
    try {
      return new String(Files.readAllBytes(log), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** State and last lines of output, for the message of an error. */
  public String diagnosis() {
    List<String> lines = output().lines().toList();
    String state = isAlive() ? "running" : "ended with " + process.exitValue();
    return "--- %s (pid %d, %s), tail of %s:%n%s%n"
        .formatted(
            name,
            pid(),
            state,
            log,
            String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size())));
  }

  /**
   * Waits until a line of the output contains {@code pattern} and returns the match.
   *
   * @throws AssertionError if the process ends first or {@code limit} passes
   */
  public Matcher awaitOutput(Pattern pattern, Duration limit) throws Exception {
    Matcher[] match = new Matcher[1];
    Await.until(
        name + " prints " + pattern,
        limit,
        () -> {
          boolean alive = isAlive();
          match[0] = pattern.matcher(output());
          boolean found = match[0].find();
          if (!found && !alive) {
            throw new AssertionError(name + " ended before it printed " + pattern + diagnosis());
          }
          return found;
        },
        this::diagnosis);
    return match[0];
  }

  /**
   * Stops the process and its descendants (SIGSTOP): they keep memory, files and connections, and
   * compute nothing.
   */
  public void pause() throws IOException, InterruptedException {
    // A process that is stopped starts no more of them.
    signal("STOP", Stream.of(process.toHandle()));
    signal("STOP", process.descendants());
  }

  /** Ends {@link #pause} (SIGCONT). */
  public void resume() throws IOException, InterruptedException {
    signal("CONT", Stream.concat(process.descendants(), Stream.of(process.toHandle())));
  }

  private void signal(String signal, Stream<ProcessHandle> processes)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("kill", "-" + signal));
    processes.forEach(handle -> command.add(String.valueOf(handle.pid())));
    if (command.size() > 2 && new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
      throw new IOException(command + " failed");
    }
  }

  /**
   * Ends the process and its descendants with SIGKILL and returns when it is gone: no hook or
   * finally block of it runs. Descendants that are started meanwhile live on, unless the process is
   * paused.
   */
  public void kill() throws InterruptedException {
    sendKill();
    if (!process.waitFor(TERMINATION_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException(name + " survived SIGKILL, pid " + pid());
    }
    forgetShutdownHook();
  }

  private void sendKill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  /** Ends the process with SIGTERM, after a minute with SIGKILL. Idempotent. */
  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(TERMINATION_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    forgetShutdownHook();
  }

  private void forgetShutdownHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(killOnExit);
    } catch (IllegalStateException e) {
      // This JVM is shutting down: the hook is about to run, on a process that has ended.
      return;
    }
  }
}

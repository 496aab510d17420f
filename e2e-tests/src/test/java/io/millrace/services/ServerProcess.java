// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import io.millrace.process.LoggedProcess;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.commons.io.FileUtils;

/** A server as a process that this JVM starts, with a folder for its log files and its data. */
final class ServerProcess implements Server {
  private final Product product;
  private final Path folder;
  private final List<String> command;
  private final Map<String, String> environment;
  private LoggedProcess process;
  private int starts;

  /**
   * Makes a server that is not started.
   *
   * @param folder of this server alone; the server keeps its data in {@link #data}
   * @param command must become the server, so that signals reach it
   * @param environment all variables of the command
   */
  ServerProcess(
      Product product, Path folder, List<String> command, Map<String, String> environment) {
    this.product = product;
    this.folder = folder;
    this.command = List.copyOf(command);
    this.environment = Map.copyOf(environment);
  }

  /** A new folder for a server. */
  static Path newFolder(Product product) throws IOException {
    return Files.createTempDirectory(
        Files.createDirectories(Product.folder()), product.key() + "-");
  }

  /** The folder of a server's data. */
  static Path data(Path folder) {
    return folder.resolve("data");
  }

  @Override
  public void start() throws IOException {
    if (isRunning()) {
      throw new IllegalStateException(process.name() + " runs already, pid " + process.pid());
    }
    ProcessBuilder builder = new ProcessBuilder(command);
    // Variables for the user's own Kafka or PostgreSQL would change this one.
    builder.environment().clear();
    builder.environment().putAll(environment);
    Path log = folder.resolve(product.key() + "-" + ++starts + ".log");
    process = LoggedProcess.start(product.key(), log, builder);
  }

  @Override
  public boolean isRunning() {
    return process != null && process.isAlive();
  }

  @Override
  public void pause() throws Exception {
    process.pause();
  }

  @Override
  public void resume() throws Exception {
    process.resume();
  }

  @Override
  public void kill() throws IOException, InterruptedException {
    if (isRunning()) {
      // It starts no process that would survive it.
      process.pause();
    }
    process.kill();
  }

  @Override
  public String diagnosis() {
    return process == null ? product.key() + " was not started" : process.diagnosis();
  }

  @Override
  public void close() throws IOException {
    try {
      if (isRunning()) {
        kill();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while " + product.key() + " was killed");
    }
    FileUtils.deleteDirectory(data(folder).toFile());
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import io.millrace.process.Await;
import java.io.IOException;
import java.time.Duration;

/**
 * A server that tests start, pause and kill. Its address and its data stay the same until it is
 * closed. Clients may be used by any thread; the server is started, paused and killed by one.
 */
public abstract class TestedServer implements AutoCloseable {
  static final Duration ANSWER_LIMIT = Duration.ofMinutes(2);

  private final String product;
  private final Server server;

  /**
   * @param product its name, for messages
   */
  TestedServer(String product, Server server) {
    this.product = product;
    this.server = server;
  }

  /**
   * Starts the server, for the first time or after {@link #kill}, and returns when it answers.
   *
   * @throws AssertionError if it ends, or does not answer within two minutes; the message has the
   *     tail of its log
   */
  public void start() throws Exception {
    server.start();
    Await.until(product + " answers", ANSWER_LIMIT, this::isAnswering, server::diagnosis);
  }

  private boolean isAnswering() throws InterruptedException {
    if (!server.isRunning()) {
      throw new AssertionError(product + " ended before it answered\n" + server.diagnosis());
    }
    return answers();
  }

  /** Whether a client gets an answer. */
  abstract boolean answers() throws InterruptedException;

  /** Stops all that the server does; connections to it stay open. */
  public void pause() throws Exception {
    server.pause();
  }

  /** Ends {@link #pause}. */
  public void resume() throws Exception {
    server.resume();
  }

  /** Ends the server with SIGKILL, paused or not; {@link #start} starts it again with its data. */
  public void kill() throws Exception {
    server.kill();
  }

  /** State and last lines of the log, for the message of an error. */
  public String diagnosis() {
    return server.diagnosis();
  }

  /** Ends the server, in whatever state it is, and removes its data. Idempotent. */
  @Override
  public void close() throws IOException {
    server.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.io.IOException;

/**
 * A server on 127.0.0.1, in a container or as a process. Port and data stay the same from {@link
 * #start} to {@link #close}, over any number of kills. For one thread.
 */
interface Server extends AutoCloseable {

  /** Starts the server, for the first time or after {@link #kill}; it need not answer yet. */
  void start() throws Exception;

  /** Whether the server was started and has not ended; a paused server runs. */
  boolean isRunning();

  /** Stops all that the server does; its connections stay open. */
  void pause() throws Exception;

  /** Ends {@link #pause}. */
  void resume() throws Exception;

  /** Ends the server with SIGKILL, paused or not, and returns when it is gone. */
  void kill() throws Exception;

  /** State and last lines of the log, for the message of an error. */
  String diagnosis();

  /** Ends the server, in whatever state it is, and removes its data. Idempotent. */
  @Override
  void close() throws IOException;
}

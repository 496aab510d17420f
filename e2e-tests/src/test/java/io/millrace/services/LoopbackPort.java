// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Free ports of 127.0.0.1. */
public final class LoopbackPort {
  // Below the ports of outgoing connections, so that a killed server finds its port free.
  private static final int FIRST = 20_000;
  private static final int LAST = 32_000;
  private static final int ATTEMPTS = 100;

  private LoopbackPort() {}

  /** A port that nothing listens on now. */
  public static int free() throws IOException {
    for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
      if (isFree(port)) {
        return port;
      }
    }
    throw new IOException("no free port among " + ATTEMPTS + " of " + FIRST + " to " + LAST);
  }

  private static boolean isFree(int port) throws IOException {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (BindException e) {
      return false;
    }
  }
}

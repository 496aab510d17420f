// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;

/** A port of this machine that a server listens on, or has listened on. */
record ListeningPort(int number) {
  private static final int CONNECT_MILLIS = 10_000;

  /** The port behind the last colon of a text. */
  static ListeningPort of(String hostAndPort) {
    return new ListeningPort(
        Integer.parseInt(hostAndPort.substring(hostAndPort.lastIndexOf(':') + 1)));
  }

  /** A server that listens on all addresses of the machine listens on 127.0.0.2, too. */
  void assertListensOnLoopbackOnly() {
    assertThatNoException().isThrownBy(() -> connect("127.0.0.1"));
    assertRefuses("127.0.0.2");
  }

  /** Nothing listens any more. */
  void assertClosed() {
    assertRefuses("127.0.0.1");
  }

  private void assertRefuses(String address) {
    assertThatThrownBy(() -> connect(address)).isInstanceOf(ConnectException.class);
  }

  private void connect(String address) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(address, number), CONNECT_MILLIS);
    }
  }
}

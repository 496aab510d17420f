// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.client.SqlClientException;
import org.apache.flink.table.client.cli.CliClient;
import org.apache.flink.table.client.gateway.Executor;
import org.apache.flink.table.client.gateway.SingleSessionManager;
import org.apache.flink.table.gateway.SqlGateway;
import org.apache.flink.table.gateway.api.endpoint.SqlGatewayEndpointFactoryUtils;
import org.apache.flink.table.gateway.rest.SqlGatewayRestEndpointFactory;
import org.apache.flink.table.gateway.rest.util.SqlGatewayRestOptions;
import org.apache.flink.table.gateway.service.context.DefaultContext;
import org.apache.flink.util.NetUtils;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/**
 * Flink's SQL client with a gateway of its own in this process. Flink's program for the two wants
 * its Python jar and a folder of configuration, so it is not called.
 *
 * @param configuration of the session: where the cluster is, and the options of statements
 * @param jars with functions and connectors of the user
 * @param history the file that keeps what was typed
 */
record SqlShell(Configuration configuration, List<Path> jars, Path history) {
  private static final String HOST = "localhost";
  private static final String SESSION = "default";

  /**
   * Runs scripts, or the statements that the user types until the end of the session.
   *
   * @param init definitions that are run first
   * @param script statements that are run in place of the user's
   * @return whether each statement of the scripts succeeded; true for those of the user
   * @throws SqlClientException if the client cannot be started, {@code init} fails, or a script
   *     cannot be read or ends within quotes or a comment
   */
  @SuppressWarnings("try") // closing a port may be interrupted
  boolean run(Optional<Path> init, Optional<Path> script) {
    init.ifPresent(SqlShell::checkEnd);
    script.ifPresent(SqlShell::checkEnd);
    DefaultContext context =
        new DefaultContext(configuration, jars.stream().map(SqlShell::uri).toList());
    try (NetUtils.Port port = NetUtils.getAvailablePort()) {
      SqlGateway gateway = startGateway(context, port.getPort());
      try (RecordingExecutor executor =
              new RecordingExecutor(
                  Executor.create(
                      context, InetSocketAddress.createUnresolved(HOST, port.getPort()), SESSION));
          CliClient client = new CliClient(SqlShell::terminal, executor, history)) {
        if (init.isPresent() && !client.executeInitialization(uri(init.get()))) {
          throw new SqlClientException("the statements of " + init.get() + " failed");
        }
        if (script.isEmpty()) {
          client.executeInInteractiveMode();
          return true;
        }
        client.executeInNonInteractiveMode(uri(script.get()));
        return !executor.hasFailed();
      } finally {
        gateway.stop();
      }
    } catch (SqlClientException e) {
      throw e;
    } catch (Exception e) {
      throw new SqlClientException("Flink's SQL client cannot be started: " + e.getMessage(), e);
    }
  }

  private static Terminal terminal() {
    try {
      // Without a warning where there is none, as in a pipe.
      return TerminalBuilder.builder().dumb(true).build();
    } catch (IOException e) {
      throw new SqlClientException("there is no terminal: " + e.getMessage(), e);
    }
  }

  // The client leaves out a statement without an end, and does not say so.
  private static void checkEnd(Path script) {
    try {
      if (SqlScript.endsWithinQuotes(Files.readString(script))) {
        throw new SqlClientException(
            script + " ends within quotes or a comment: its last statement has no end");
      }
    } catch (IOException e) {
      throw new SqlClientException("cannot read " + script + ": " + e.getMessage(), e);
    }
  }

  private static URI uri(Path file) {
    return file.toAbsolutePath().toUri();
  }

  private static SqlGateway startGateway(DefaultContext context, int port) throws Exception {
    Configuration rest = new Configuration();
    rest.set(SqlGatewayRestOptions.ADDRESS, HOST);
    rest.set(SqlGatewayRestOptions.BIND_ADDRESS, HOST);
    rest.set(SqlGatewayRestOptions.PORT, port);
    // The session has the options of the cluster, whose port is another.
    rest.set(SqlGatewayRestOptions.BIND_PORT, String.valueOf(port));
    context
        .getFlinkConfig()
        .addAll(
            rest,
            SqlGatewayEndpointFactoryUtils.getSqlGatewayOptionPrefix(
                SqlGatewayRestEndpointFactory.IDENTIFIER));
    SqlGateway gateway =
        new SqlGateway(context.getFlinkConfig(), new SingleSessionManager(context));
    gateway.start();
    return gateway;
  }
}

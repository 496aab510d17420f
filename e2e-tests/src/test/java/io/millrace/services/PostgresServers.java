// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.postgresql.PostgreSQLContainer;
import org.testcontainers.utility.DockerImageName;

/** Makes PostgreSQL servers that are not started. */
final class PostgresServers {
  private static final String[] COMMAND = {
    "postgres", "-c", "max_prepared_transactions=" + Database.MAX_PREPARED_TRANSACTIONS
  };

  private PostgresServers() {}

  /** A server as a process. */
  static Database process() throws IOException {
    int port = LoopbackPort.free();
    Path folder = ServerProcess.newFolder(Product.POSTGRES);
    Map<String, String> environment =
        Map.of(
            "PATH",
            PostgresPrograms.unpacked().resolve("bin") + ":" + System.getenv("PATH"),
            "PGDATA",
            ServerProcess.data(folder).toString(),
            "PGPORT",
            String.valueOf(port),
            "POSTGRES_USER",
            Database.NAME,
            "POSTGRES_PASSWORD",
            Database.NAME,
            "POSTGRES_DB",
            Database.NAME);
    List<String> command = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      // PostgreSQL refuses to run as root. In a user namespace without root it is nobody, and owns
      // root's files. A namespace of shared memory ends with it.
      command.addAll(List.of("unshare", "--user", "--ipc"));
    }
    command.addAll(List.of("sh", Product.POSTGRES.script().toString()));
    command.addAll(List.of(COMMAND));
    return new Database(new ServerProcess(Product.POSTGRES, folder, command, environment), port);
  }

  /** A server in a container. */
  static Database container() throws IOException {
    int port = LoopbackPort.free();
    return new Database(new ServerContainer(new LoopbackPostgresContainer(port)), port);
  }

  /** In the host's network, where no port is mapped, on 127.0.0.1 only. */
  private static final class LoopbackPostgresContainer extends PostgreSQLContainer {
    private final int port;

    LoopbackPostgresContainer(int port) {
      super(DockerImageName.parse(Product.POSTGRES.image()).asCompatibleSubstituteFor("postgres"));
      this.port = port;
      withNetworkMode("host");
      setExposedPorts(List.of());
      withEnv("PGPORT", String.valueOf(port));
      withDatabaseName(Database.NAME);
      withUsername(Database.NAME);
      withPassword(Database.NAME);
      setCommand(COMMAND);
      // The image makes its database without a server, so that one server says this, once.
      waitingFor(Wait.forLogMessage(".*database system is ready to accept connections.*\\s", 1));
    }

    @Override
    public Integer getMappedPort(int originalPort) {
      return port;
    }
  }
}

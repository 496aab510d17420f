// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import io.millrace.process.Await;
import io.millrace.process.LoggedProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A ZooKeeper server on 127.0.0.1, from Flink's own artifacts: with it, a new JobManager goes on
 * with the jobs of a killed one.
 */
public final class ZooKeeper implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final String SERVER =
      "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer";

  private final Path folder;
  private final int port;
  private final LoggedProcess process;

  private ZooKeeper(Path folder, int port, LoggedProcess process) {
    this.folder = folder;
    this.port = port;
    this.process = process;
  }

  /**
   * Starts the server, and returns when it takes connections.
   *
   * @param folder gets its data and its log
   */
  public static ZooKeeper start(Path folder) throws Exception {
    int port = LoopbackPort.free();
    Path configuration = Files.createDirectories(folder).resolve("zoo.cfg");
    Files.write(
        configuration,
        List.of(
            "dataDir=" + folder.resolve("data"),
            "clientPort=" + port,
            "clientPortAddress=127.0.0.1",
            // The sessions of a killed JobManager end after 2 to 20 ticks.
            "tickTime=500",
            "admin.enableServer=false",
            "server.1=localhost"));
    LoggedProcess process =
        LoggedProcess.startJava(
            "zookeeper",
            folder.resolve("zookeeper.log"),
            List.of(
                "-Xmx64m",
                "-cp",
                Path.of(System.getProperty("millrace.cluster.lib"), "*").toString(),
                SERVER,
                "--zkConfigFile",
                configuration.toString(),
                "--peerId",
                "1"));
    ZooKeeper server = new ZooKeeper(folder, port, process);
    try {
      Await.until("ZooKeeper answers", START_LIMIT, server::answers, process::diagnosis);
    } catch (Exception | Error e) {
      process.close();
      throw e;
    }
    return server;
  }

  private boolean answers() {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  /** The Flink options of a cluster that uses the server. */
  public Map<String, String> highAvailability() {
    return Map.of(
        "high-availability.type", "zookeeper",
        "high-availability.zookeeper.quorum", "127.0.0.1:" + port,
        "high-availability.storageDir", folder.resolve("storage").toUri().toString(),
        "high-availability.zookeeper.client.session-timeout", "4 s",
        "high-availability.zookeeper.client.tolerate-suspended-connections", "true");
  }

  @Override
  public void close() {
    process.close();
  }
}

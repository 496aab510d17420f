// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.DockerImageName;

/** Makes Kafka brokers that are not started. */
final class KafkaServers {
  private KafkaServers() {}

  /** A broker as a process. */
  static Broker process() throws IOException {
    int port = LoopbackPort.free();
    return process(port, port, Map.of());
  }

  /** A broker as a process whose clients use a secured listener; tests use the other one too. */
  static Broker securedProcess(BrokerSecurity security) throws IOException {
    int port = LoopbackPort.free();
    return process(LoopbackPort.free(), port, security.environment());
  }

  private static Broker process(int port, int securedPort, Map<String, String> security)
      throws IOException {
    int controllerPort = LoopbackPort.free();
    Path folder = ServerProcess.newFolder(Product.KAFKA);
    String listeners =
        "PLAINTEXT://127.0.0.1:"
            + port
            + (security.isEmpty()
                ? ""
                : "," + BrokerSecurity.LISTENER + "://127.0.0.1:" + securedPort);
    Map<String, String> environment = new HashMap<>(security);
    environment.put("PATH", System.getenv("PATH"));
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("BROKER_LIBRARIES", Product.KAFKA.libraries().toString());
    environment.put("BROKER_FOLDER", ServerProcess.data(folder).toString());
    environment.put("KAFKA_LISTENERS", listeners + ",CONTROLLER://127.0.0.1:" + controllerPort);
    environment.put("KAFKA_ADVERTISED_LISTENERS", listeners);
    environment.put("KAFKA_CONTROLLER_QUORUM_VOTERS", "1@127.0.0.1:" + controllerPort);
    List<String> command = List.of("sh", Product.KAFKA.script().toString());
    Server server = new ServerProcess(Product.KAFKA, folder, command, environment);
    return new Broker(server, port, securedPort);
  }

  /** A broker in a container. */
  static Broker container() throws IOException {
    int port = LoopbackPort.free();
    return new Broker(new ServerContainer(new LoopbackKafkaContainer(port)), port, port);
  }

  /** In the host's network, where no port is mapped, on 127.0.0.1 only. */
  private static final class LoopbackKafkaContainer extends KafkaContainer {
    private static final String STARTER_SCRIPT = "/tmp/testcontainers_start.sh";

    private final int port;

    LoopbackKafkaContainer(int port) throws IOException {
      super(DockerImageName.parse(Product.KAFKA.image()).asCompatibleSubstituteFor("apache/kafka"));
      this.port = port;
      int controllerPort = LoopbackPort.free();
      withNetworkMode("host");
      setExposedPorts(List.of());
      // The superclass runs the script as a program as soon as the file is there. Docker may still
      // have it open for writing then, and the container ends with 126, "Text file busy".
      withCommand(
          "sh",
          "-c",
          "until [ -s %1$s ]; do sleep 0.1; done; exec bash %1$s".formatted(STARTER_SCRIPT));
      // The superclass advertises BROKER with a port that several brokers would share.
      withEnv("KAFKA_INTER_BROKER_LISTENER_NAME", "PLAINTEXT");
      withEnv(
          "KAFKA_LISTENERS",
          "PLAINTEXT://127.0.0.1:%d,BROKER://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d"
              .formatted(port, LoopbackPort.free(), controllerPort));
      withEnv("KAFKA_CONTROLLER_QUORUM_VOTERS", "1@127.0.0.1:" + controllerPort);
    }

    @Override
    public Integer getMappedPort(int originalPort) {
      return port;
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.connectors.kafka.KafkaRecordSource;
import io.millrace.connectors.kafka.sink.JsonRecordEncoder;
import io.millrace.connectors.kafka.sink.KafkaEncodingOperator;
import io.millrace.connectors.kafka.sink.KafkaRecord;
import io.millrace.connectors.kafka.sink.KafkaSinks;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.services.Broker;
import io.millrace.services.BrokerSecurity;
import io.millrace.services.KafkaTopic;
import io.millrace.services.Services;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.logging.log4j.Level;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Jobs use a broker that wants TLS and a password, and tell the password to nobody else. */
@ExtendWith(NothingHeldExtension.class)
class KafkaSecurityTest {
  private static final String PASSWORD = "secret-of-this-test";
  private static final String WRONG_PASSWORD = "wrong-secret-of-this-test";
  private static final int BIDS = 1_000;

  private static BrokerSecurity security;
  private static Broker broker;

  @TempDir static Path folder;

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @BeforeAll
  static void start() throws Exception {
    security = BrokerSecurity.create(folder, "flink", PASSWORD);
    broker = Services.startSecuredBroker(security);
  }

  @AfterAll
  static void stop() throws Exception {
    if (broker != null) {
      broker.close();
    }
  }

  private static StreamExecutionEnvironment job(KafkaTopic in, KafkaTopic out, String password) {
    Properties properties = security.clientProperties(password);
    properties.setProperty("default.api.timeout.ms", "10000");
    properties.setProperty("request.timeout.ms", "5000");
    KafkaRecordSource source =
        Bids.source(in)
            .setBootstrapServers(broker.securedServers())
            .setProperties(properties)
            .setBounded(OffsetsInitializer.latest())
            .build();
    Properties ofSink = security.clientProperties(password);
    KafkaSink<KafkaRecord> sink =
        KafkaSinks.builder(out.name())
            .setBootstrapServers(broker.securedServers())
            .setKafkaProducerConfig(ofSink)
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(out.name())
            .build();
    StreamExecutionEnvironment environment = flink.environment(1);
    ColumnStream kept = Bids.filter(Bids.read(environment, source));
    KafkaEncodingOperator.encode(kept.toBatches(), JsonRecordEncoder.of(kept.schema()))
        .sinkTo(sink);
    return environment;
  }

  @Test
  void recordsGoThroughAndThePasswordStays() throws Exception {
    KafkaTopic in = KafkaTopic.create(broker, "secured-in", 1);
    KafkaTopic out = KafkaTopic.create(broker, "secured-out", 1);
    in.sendValues(Bids.json(0, BIDS));
    try (LogRecorder log = new LogRecorder(Level.INFO)) {
      StreamExecutionEnvironment environment = job(in, out, PASSWORD);
      assertThat(environment.getExecutionPlan())
          .contains("decode records")
          .doesNotContain("secret");
      flink.run(environment);
      assertThat(log.lines()).anyMatch(line -> line.contains("sasl.jaas.config = [hidden]"));
      assertThat(log.lines()).noneMatch(line -> line.contains(PASSWORD));
    }
    assertThat(out.read("read_committed")).containsExactlyElementsOf(Bids.expected(0, BIDS));
  }

  @Test
  void aWrongPasswordFailsTheJobAndStays() throws Exception {
    KafkaTopic in = KafkaTopic.create(broker, "refused-in", 1);
    KafkaTopic out = KafkaTopic.create(broker, "refused-out", 1);
    try (LogRecorder log = new LogRecorder(Level.INFO)) {
      assertThatThrownBy(() -> flink.run(job(in, out, WRONG_PASSWORD)))
          .hasMessageContaining("SaslAuthenticationException")
          .message()
          .doesNotContain(WRONG_PASSWORD);
      assertThat(log.lines()).isNotEmpty().noneMatch(line -> line.contains(WRONG_PASSWORD));
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.connectors.kafka.KafkaDecodingOptions;
import io.millrace.connectors.kafka.KafkaRecordSource;
import io.millrace.connectors.kafka.sink.JsonRecordEncoder;
import io.millrace.connectors.kafka.sink.KafkaEncodingOperator;
import io.millrace.connectors.kafka.sink.KafkaRecordSerializer;
import io.millrace.connectors.kafka.sink.KafkaSinks;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.process.Await;
import io.millrace.services.Broker;
import io.millrace.services.KafkaTopic;
import io.millrace.services.Services;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Each bid is written once, whatever fails: a reader of committed records finds no other. */
@ExtendWith(NothingHeldExtension.class)
class KafkaExactlyOnceTest {
  private static final Duration CHECKPOINT_INTERVAL = Duration.ofMillis(200);
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int BIDS = 30_000;
  private static final int PARTITIONS = 3;

  private static Broker broker;

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  @BeforeAll
  static void start() throws Exception {
    broker = Services.startBroker();
  }

  @AfterAll
  static void stop() throws Exception {
    if (broker != null) {
      broker.close();
    }
  }

  private static StreamExecutionEnvironment environment(int parallelism, String savepoint) {
    Configuration configuration = new Configuration();
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, CHECKPOINT_INTERVAL);
    if (savepoint != null) {
      configuration.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    }
    StreamExecutionEnvironment environment = flink.environment(parallelism, configuration);
    Configuration restarts = new Configuration();
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 100);
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(100));
    environment.configure(restarts);
    return environment;
  }

  private static void addJob(
      StreamExecutionEnvironment environment,
      KafkaRecordSource source,
      FaultyBids faults,
      KafkaTopic out) {
    KafkaDecodingOptions options =
        KafkaDecodingOptions.of(new JsonRecordFormat(Bids.SCHEMA)).withMaxRows(500);
    ColumnStream kept = Bids.filter(Bids.read(environment, source, options));
    KafkaEncodingOperator.encode(kept.toBatches(), JsonRecordEncoder.of(kept.schema()))
        .uid("encode")
        .map(faults)
        .returns(KafkaRecordSerializer.typeInformation())
        .uid("faults")
        .sinkTo(
            KafkaSinks.builder(out.name())
                .setBootstrapServers(out.bootstrapServers())
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix(out.name())
                .build())
        .uid("sink");
  }

  private static List<String> sorted(List<String> values) {
    List<String> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    return sorted;
  }

  private static void awaitOutput(KafkaTopic out, List<String> expected) throws Exception {
    Await.until(
        "all bids are written",
        LIMIT,
        () -> out.read("read_committed").size() >= expected.size(),
        () -> "expected " + expected.size());
    assertThat(sorted(out.read("read_committed"))).isEqualTo(sorted(expected));
  }

  @Test
  void subtasksMayFail() throws Exception {
    KafkaTopic in = KafkaTopic.create(broker, "faulty-in", PARTITIONS);
    KafkaTopic out = KafkaTopic.create(broker, "faulty-out", 2);
    in.sendValues(Bids.json(0, BIDS));
    FaultyBids faults = new FaultyBids(3);
    StreamExecutionEnvironment environment = environment(2, null);
    addJob(environment, Bids.source(in).setGroupId("faulty").build(), faults, out);
    FlinkJob job = flink.submit(environment);
    long sent = BIDS;
    while (faults.failures() < 3) {
      in.sendValues(Bids.json(sent, 1_000));
      sent += 1_000;
    }
    awaitOutput(out, Bids.expected(0, sent));
    job.cancel();
  }

  @Test
  void theBrokerMayBeKilled() throws Exception {
    KafkaTopic in = KafkaTopic.create(broker, "killed-in", PARTITIONS);
    KafkaTopic out = KafkaTopic.create(broker, "killed-out", 2);
    in.sendValues(Bids.json(0, BIDS));
    FaultyBids faults = new FaultyBids(0);
    StreamExecutionEnvironment environment = environment(2, null);
    addJob(environment, Bids.source(in).setGroupId("killed").build(), faults, out);
    FlinkJob job = flink.submit(environment);
    job.awaitUntil(() -> faults.checkpoints() > 2 && faults.records() > 0);
    broker.kill();
    broker.start();
    in.sendValues(Bids.json(BIDS, BIDS));
    awaitOutput(out, Bids.expected(0, 2L * BIDS));
    job.cancel();
  }

  @Test
  void aSavepointIsReadWithAnotherParallelism() throws Exception {
    KafkaTopic in = KafkaTopic.create(broker, "rescaled-in", PARTITIONS);
    KafkaTopic out = KafkaTopic.create(broker, "rescaled-out", 2);
    in.sendValues(Bids.json(0, BIDS));
    FaultyBids first = new FaultyBids(0);
    StreamExecutionEnvironment environment = environment(1, null);
    addJob(environment, Bids.source(in).setGroupId("rescaled").build(), first, out);
    FlinkJob job = flink.submit(environment);
    job.awaitUntil(() -> first.records() > 100);
    String savepoint = job.stopWithSavepoint(folder);
    in.sendValues(Bids.json(BIDS, BIDS));

    StreamExecutionEnvironment restored = environment(3, savepoint);
    addJob(restored, Bids.source(in).setGroupId("rescaled").build(), new FaultyBids(0), out);
    FlinkJob second = flink.submit(restored);
    awaitOutput(out, Bids.expected(0, 2L * BIDS));
    second.cancel();
  }
}

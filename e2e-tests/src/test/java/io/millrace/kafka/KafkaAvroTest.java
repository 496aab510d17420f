// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.avro.AvroRecordFormat;
import io.millrace.connectors.avro.ColumnSchemas;
import io.millrace.connectors.avro.SchemaRegistry;
import io.millrace.connectors.kafka.KafkaDecodingOptions;
import io.millrace.connectors.kafka.sink.AvroRecordEncoder;
import io.millrace.connectors.kafka.sink.JsonRecordEncoder;
import io.millrace.connectors.kafka.sink.KafkaEncodingOperator;
import io.millrace.connectors.kafka.sink.KafkaSinks;
import io.millrace.connectors.kafka.sink.RecordEncoder;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.services.KafkaTopic;
import io.millrace.services.SharedServices;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Topics of Avro, with and without a registry of schemas, are written and read by jobs. */
@ExtendWith(NothingHeldExtension.class)
class KafkaAvroTest {
  private static final int BIDS = 5_000;
  // What Bids.filter makes; the price has become another number.
  private static final Schema WRITTEN =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          Field.of("channel", DataType.STRING),
          new Field("double", DataType.INT64, false));

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static KafkaTopic topic(String name) throws Exception {
    return KafkaTopic.create(services.broker(), name, 2);
  }

  private static void write(ColumnStream stream, RecordEncoder encoder, KafkaTopic topic) {
    KafkaEncodingOperator.encode(stream.toBatches(), encoder)
        .sinkTo(
            KafkaSinks.builder(topic.name())
                .setBootstrapServers(topic.bootstrapServers())
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix(topic.name())
                .build());
  }

  /** From JSON to Avro by a job, and back by another one. */
  private static void assertRoundTrip(
      String name, AvroRecordEncoder encoder, AvroRecordFormat format) throws Exception {
    KafkaTopic in = topic(name + "-in");
    KafkaTopic avro = topic(name);
    KafkaTopic out = topic(name + "-out");
    in.sendValues(Bids.json(0, BIDS));
    StreamExecutionEnvironment writing = flink.environment(2);
    write(Bids.filter(Bids.read(writing, Bids.bounded(in))), encoder, avro);
    flink.run(writing);
    StreamExecutionEnvironment reading = flink.environment(2);
    KafkaDecodingOptions options = KafkaDecodingOptions.of(format);
    ColumnStream read = ColumnStream.fromBatches(Bids.read(reading, Bids.bounded(avro), options));
    write(read, JsonRecordEncoder.of(read.schema()), out);
    flink.run(reading);
    assertThat(out.read("read_committed"))
        .containsExactlyInAnyOrderElementsOf(Bids.expected(0, BIDS));
  }

  @Test
  void recordsNameTheirSchemasInARegistry() throws Exception {
    try (RegistryServer server = new RegistryServer()) {
      server.protect("millrace", "secret");
      SchemaRegistry registry =
          SchemaRegistry.at(server.address()).withCredentials("millrace", () -> "secret");
      String name = "avro-registry";
      assertRoundTrip(
          name,
          AvroRecordEncoder.of(WRITTEN).withRegistry(registry, name).withKey("auction"),
          AvroRecordFormat.of(WRITTEN, registry));
      assertThat(server.requests())
          .contains(
              "POST /subjects/avro-registry-value/versions",
              "POST /subjects/avro-registry-key/versions")
          .filteredOn(request -> request.startsWith("GET"))
          .as("once by each subtask at most")
          .hasSizeBetween(1, 2);
    }
  }

  @Test
  void recordsHaveOneSchema() throws Exception {
    assertRoundTrip(
        "avro-plain",
        AvroRecordEncoder.of(WRITTEN),
        AvroRecordFormat.of(WRITTEN, ColumnSchemas.text(WRITTEN)));
  }
}

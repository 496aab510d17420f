// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ipc.ArrowIpcStreamReader;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.kafka.KafkaDecodingOperator;
import io.millrace.connectors.kafka.KafkaDecodingOptions;
import io.millrace.connectors.kafka.MalformedRecordPolicy;
import io.millrace.connectors.kafka.MetadataColumn;
import io.millrace.connectors.kafka.TombstonePolicy;
import io.millrace.connectors.kafka.sink.ArrowRecordEncoder;
import io.millrace.connectors.kafka.sink.JsonRecordEncoder;
import io.millrace.connectors.kafka.sink.KafkaEncodingOperator;
import io.millrace.connectors.kafka.sink.KafkaRecord;
import io.millrace.connectors.kafka.sink.KafkaSinks;
import io.millrace.connectors.kafka.sink.RecordEncoder;
import io.millrace.connectors.records.ArrowRecordFormat;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.services.KafkaTopic;
import io.millrace.services.SharedServices;
import io.millrace.testing.TableRows;
import java.io.ByteArrayInputStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What jobs read of topics, and what they write to them, is what was written and is read. */
@ExtendWith(NothingHeldExtension.class)
class KafkaRoundTripTest {
  private static final int BIDS = 20_000;

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static KafkaTopic topic(String name, int partitions) throws Exception {
    return KafkaTopic.create(services.broker(), name, partitions);
  }

  private static KafkaSink<KafkaRecord> sink(KafkaTopic topic) {
    KafkaSinkBuilder<KafkaRecord> builder =
        KafkaSinks.builder(topic.name())
            .setBootstrapServers(topic.bootstrapServers())
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(topic.name());
    return builder.build();
  }

  @Test
  void theFilteredBidsAreWritten() throws Exception {
    KafkaTopic in = topic("round-trip-in", 3);
    KafkaTopic out = topic("round-trip-out", 2);
    in.sendValues(Bids.json(0, BIDS));
    StreamExecutionEnvironment environment = flink.environment(2);
    ColumnStream kept = Bids.filter(Bids.read(environment, Bids.bounded(in)));
    KafkaEncodingOperator.encode(kept.toBatches(), JsonRecordEncoder.of(kept.schema()))
        .sinkTo(sink(out));
    flink.run(environment);
    assertThat(out.read("read_committed"))
        .containsExactlyInAnyOrderElementsOf(Bids.expected(0, BIDS));
  }

  @Test
  void batchesAreWrittenAndReadAsArrowStreams() throws Exception {
    KafkaTopic in = topic("arrow-in", 1);
    KafkaTopic out = topic("arrow-out", 1);
    in.sendValues(Bids.json(0, BIDS));
    StreamExecutionEnvironment environment = flink.environment(1);
    RecordEncoder encoder = ArrowRecordEncoder.create().withMaximumBytes(100_000);
    KafkaEncodingOperator.encode(Bids.read(environment, Bids.bounded(in)), encoder)
        .sinkTo(sink(out));
    flink.run(environment);
    List<ConsumerRecord<byte[], byte[]>> records = out.records("read_committed");
    List<Long> auctions = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> record : records) {
      assertThat(record.value().length).isLessThanOrEqualTo(100_000);
      auctions.addAll(auctions(record.value()));
    }
    assertThat(auctions).containsExactlyElementsOf(LongStream.range(0, BIDS).boxed().toList());
    assertThat(records).hasSizeLessThan(BIDS / 100);

    KafkaTopic kept = topic("arrow-kept", 1);
    StreamExecutionEnvironment reading = flink.environment(1);
    ColumnStream bids =
        Bids.filter(
            Bids.read(
                reading,
                Bids.source(out)
                    .setProperty("isolation.level", "read_committed")
                    .setBounded(OffsetsInitializer.latest())
                    .build(),
                KafkaDecodingOptions.of(new ArrowRecordFormat(Bids.SCHEMA))));
    KafkaEncodingOperator.encode(bids.toBatches(), JsonRecordEncoder.of(bids.schema()))
        .sinkTo(sink(kept));
    flink.run(reading);
    assertThat(kept.read("read_committed")).isEqualTo(Bids.expected(0, BIDS));
  }

  private static List<Long> auctions(byte[] arrow) throws Exception {
    List<Long> auctions = new ArrayList<>();
    try (DeviceStream stream = HostDevice.INSTANCE.createStream();
        ArrowIpcStreamReader reader =
            new ArrowIpcStreamReader(
                Channels.newChannel(new ByteArrayInputStream(arrow)),
                stream,
                HostMemoryResource.INSTANCE)) {
      try (Table table = reader.read().orElseThrow()) {
        TableRows.ofHost(table, stream).forEach(row -> auctions.add((Long) row.get(0)));
      }
    }
    return auctions;
  }

  @Test
  void metadataAreColumns() throws Exception {
    KafkaTopic in = topic("metadata", 2);
    List<ProducerRecord<String, String>> sent = new ArrayList<>();
    List<List<Object>> expected = new ArrayList<>();
    for (long i = 0; i < 1000; i++) {
      int partition = (int) (i % 2);
      String key = i % 3 == 0 ? null : "key " + i;
      List<Header> headers = new ArrayList<>();
      if (i % 5 != 0) {
        headers.add(new RecordHeader("other", new byte[] {1}));
        headers.add(header("trace", "first"));
        headers.add(header("trace", "trace ä " + i));
      }
      // The first record of each ten is malformed, and others keep their own metadata.
      String value = i % 10 == 0 ? "malformed" : "{\"auction\":" + i + ",\"price\":1}";
      sent.add(new ProducerRecord<>(in.name(), partition, 1_000 + i, key, value, headers));
      if (i % 10 != 0) {
        expected.add(
            Arrays.asList(
                i,
                1L,
                null,
                in.name(),
                partition,
                i / 2,
                Instant.ofEpochMilli(1_000 + i),
                key,
                i % 5 == 0 ? null : "trace ä " + i));
      }
    }
    in.send(sent);
    KafkaDecodingOptions options =
        KafkaDecodingOptions.of(new JsonRecordFormat(Bids.SCHEMA))
            .withMalformedRecords(MalformedRecordPolicy.SIDE_OUTPUT)
            .withMaxRows(100)
            .withMetadata(
                MetadataColumn.topic("topic"),
                MetadataColumn.partition("partition"),
                MetadataColumn.offset("offset"),
                MetadataColumn.timestamp("written"),
                MetadataColumn.key("key", DataType.STRING),
                MetadataColumn.header("trace", "trace", DataType.STRING));
    StreamExecutionEnvironment environment = flink.environment(2);
    BatchCollector collector = new BatchCollector();
    collector.collect(Bids.read(environment, Bids.bounded(in), options));
    flink.run(environment);
    assertThat(collector.rows()).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(collector.batches())
        .allSatisfy(batch -> assertThat(batch.rows()).hasSizeLessThanOrEqualTo(100));
  }

  private static Header header(String name, String value) {
    return new RecordHeader(name, value.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void malformedRecordsAreDeadLettersWithTheirReason() throws Exception {
    KafkaTopic in = topic("poison", 1);
    KafkaTopic out = topic("poison-out", 1);
    KafkaTopic dead = topic("poison-dead", 1);
    in.send(
        List.of(
            new ProducerRecord<>(in.name(), "a", Bids.json(50)),
            new ProducerRecord<>(in.name(), "b", "{\"auction\":\"x\",\"price\":1}"),
            new ProducerRecord<>(in.name(), "c", null),
            new ProducerRecord<>(in.name(), "d", ""),
            new ProducerRecord<>(in.name(), "e", "{\"channel\":\"" + "x".repeat(300) + "\"}"),
            new ProducerRecord<>(in.name(), "f", Bids.json(51))));
    StreamExecutionEnvironment environment = flink.environment(1);
    SingleOutputStreamOperator<ColumnBatch> bids =
        Bids.read(
            environment,
            Bids.source(in)
                .setBounded(OffsetsInitializer.latest())
                .setMaximumRecordBytes(200)
                .setTombstones(TombstonePolicy.MALFORMED)
                .build(),
            KafkaDecodingOptions.of(new JsonRecordFormat(Bids.SCHEMA))
                .withMalformedRecords(MalformedRecordPolicy.SIDE_OUTPUT));
    Schema schema = Bids.SCHEMA;
    KafkaEncodingOperator.encode(bids, JsonRecordEncoder.of(schema).withKey("auction"))
        .sinkTo(sink(out));
    KafkaSinks.deadLetters(bids.getSideOutput(KafkaDecodingOperator.MALFORMED_RECORDS))
        .sinkTo(sink(dead));
    flink.run(environment);
    assertThat(out.records("read_committed"))
        .extracting(record -> text(record.key()))
        .containsExactly("{\"auction\":50}", "{\"auction\":51}");
    assertThat(dead.records("read_committed"))
        .extracting(KafkaRoundTripTest::deadLetter)
        .containsExactlyInAnyOrder(
            "b@1 column 'auction': expected BIGINT, got the JSON string \"x\""
                + " {\"auction\":\"x\",\"price\":1}",
            "c@2 the record has no value null",
            "e@4 the record has 314 bytes, 200 are allowed {\"channel\":\"" + "x".repeat(188));
  }

  private static String deadLetter(ConsumerRecord<byte[], byte[]> record) {
    assertThat(text(record.headers().lastHeader(KafkaSinks.TOPIC).value())).isEqualTo("poison");
    assertThat(text(record.headers().lastHeader(KafkaSinks.PARTITION).value())).isEqualTo("0");
    return text(record.key())
        + "@"
        + text(record.headers().lastHeader(KafkaSinks.OFFSET).value())
        + " "
        + text(record.headers().lastHeader(KafkaSinks.REASON).value())
        + " "
        + text(record.value());
  }

  private static String text(byte[] bytes) {
    return bytes == null ? "null" : new String(bytes, StandardCharsets.UTF_8);
  }

  @Test
  void underFailTheJobSaysWhichRecordItWas() throws Exception {
    KafkaTopic in = topic("fail", 1);
    in.sendValues(List.of(Bids.json(1), "{\"auction\":1,\"price\":\"x\"}"));
    StreamExecutionEnvironment environment = flink.environment(1);
    new BatchCollector().collect(Bids.read(environment, Bids.bounded(in)));
    assertThatThrownBy(() -> flink.run(environment))
        .hasMessageContaining(
            "fail-0@1: column 'price': expected BIGINT, got the JSON string \"x\":"
                + " {\"auction\":1,\"price\":\"x\"}");
  }

  @Test
  void topicsMayBeEmpty() throws Exception {
    KafkaTopic in = topic("empty", 3);
    StreamExecutionEnvironment environment = flink.environment(2);
    BatchCollector collector = new BatchCollector();
    collector.collect(Bids.read(environment, Bids.bounded(in)));
    flink.run(environment);
    assertThat(collector.batches()).isEmpty();
  }

  @Test
  void recordsMayBeEmptyOrTombstonesAlone() throws Exception {
    KafkaTopic in = topic("blank", 1);
    List<ProducerRecord<String, String>> records = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      records.add(new ProducerRecord<>(in.name(), "key", i % 2 == 0 ? null : ""));
    }
    in.send(records);
    StreamExecutionEnvironment environment = flink.environment(1);
    BatchCollector collector = new BatchCollector();
    collector.collect(Bids.read(environment, Bids.bounded(in)));
    flink.run(environment);
    assertThat(collector.rows()).isEmpty();
  }
}

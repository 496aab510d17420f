// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.records.CanalJsonRecordFormat;
import io.millrace.connectors.records.DebeziumJsonRecordFormat;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.testing.DeviceExtension;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Blocks become batches, with metadata and watermarks. */
@ExtendWith(NothingHeldExtension.class)
@SuppressWarnings("try") // close() of the harness
class KafkaDecodingOperatorTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("at", DataType.timestamp(3)));
  private static final KafkaDecodingOptions OPTIONS =
      KafkaDecodingOptions.of(new JsonRecordFormat(SCHEMA))
          .withMalformedRecords(MalformedRecordPolicy.SIDE_OUTPUT);
  private static final long INTERVAL = 200;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final RecordingOutput output =
      new RecordingOutput(element -> device.rows(element.getValue().table()));

  private OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> open(
      KafkaDecodingOptions options) throws Exception {
    OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(KafkaDecodingOperator.factory(options));
    harness.setOutputCreator(serializer -> output);
    harness.getExecutionConfig().setAutoWatermarkInterval(INTERVAL);
    harness.open();
    return harness;
  }

  private static String json(long id, long millis) {
    return "{\"id\":" + id + ",\"at\":\"" + time(millis) + "\"}";
  }

  private static String time(long millis) {
    return Instant.ofEpochMilli(millis).toString().replace("Z", "");
  }

  @OutOfMemoryTest
  void rowsHaveTheMetadataOfTheirRecords() throws Exception {
    KafkaDecodingOptions options =
        OPTIONS
            .withMetadata(
                MetadataColumn.topic("topic"),
                MetadataColumn.partition("partition"),
                MetadataColumn.offset("offset"),
                MetadataColumn.timestamp("written"),
                MetadataColumn.key("key", DataType.STRING),
                MetadataColumn.header("trace", "trace", DataType.BINARY))
            .withWatermarks(EventTimeWatermarks.of("written"));
    try (OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness = open(options)) {
      RecordBlock block = Blocks.of(3, 4, "{\"id\":1}", "malformed", "{\"id\":2}", "{\"id\":3}");
      harness.processElement(new StreamRecord<>(block, 5));
      harness.setProcessingTime(INTERVAL);
    }
    assertThat(output.elements())
        .containsExactly(
            List.of(
                row(1L, 4, "key 4", ByteBuffer.wrap(Blocks.bytes("trace 4"))),
                row(2L, 6, "key 6", ByteBuffer.wrap(Blocks.bytes("trace 6"))),
                row(3L, 7, null, null)),
            new Watermark(1_006));
    assertThat(output.sideElements())
        .singleElement()
        .satisfies(
            record ->
                assertThat(((MalformedKafkaRecord) record).message())
                    .startsWith("topic-3@5: ")
                    .endsWith(": malformed"));
  }

  @OutOfMemoryTest
  void elementsOfListsAreRead() throws Exception {
    Schema lists =
        Schema.of(
            Field.of("names", DataType.list(DataType.STRING)),
            Field.of("grid", DataType.list(DataType.list(DataType.INT32))));
    KafkaDecodingOptions options =
        KafkaDecodingOptions.of(new JsonRecordFormat(lists))
            .withMalformedRecords(MalformedRecordPolicy.SIDE_OUTPUT);
    try (OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness = open(options)) {
      String bad = "{\"grid\":[[1],[\"2\"]]}";
      String good = "{\"names\":[\"a\",null],\"grid\":[[1,2],[]]}";
      harness.processElement(new StreamRecord<>(Blocks.of(0, 0, "{}", bad, good)));
    }
    assertThat(output.elements())
        .containsExactly(
            List.of(
                Arrays.asList(null, null),
                List.of(Arrays.asList("a", null), List.of(List.of(1, 2), List.of()))));
    assertThat(output.sideElements())
        .singleElement()
        .satisfies(
            record ->
                assertThat(((MalformedKafkaRecord) record).message())
                    .contains("column 'grid.element.element': expected INT, got the JSON string"));
  }

  @OutOfMemoryTest
  void changesBecomeAChangelog() throws Exception {
    Schema columns = Schema.of(Field.of("id", DataType.INT64), Field.of("name", DataType.STRING));
    KafkaDecodingOptions options =
        KafkaDecodingOptions.of(new DebeziumJsonRecordFormat(columns))
            .withMetadata(MetadataColumn.offset("offset"))
            .withMalformedRecords(MalformedRecordPolicy.SIDE_OUTPUT);
    assertThat(options.schema().names())
        .containsExactly("id", "name", "offset", RowKindColumn.NAME);
    try (OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness = open(options)) {
      String insert = "{\"after\":{\"id\":1,\"name\":\"a\"},\"op\":\"c\"}";
      String update =
          "{\"before\":{\"id\":1,\"name\":\"a\"},\"after\":{\"id\":1,\"name\":\"b\"},\"op\":\"u\"}";
      String bad = "{\"before\":{\"id\":1},\"after\":{\"id\":true},\"op\":\"u\"}";
      harness.processElement(new StreamRecord<>(Blocks.of(0, 3, insert, bad, update)));
    }
    assertThat(output.elements())
        .containsExactly(
            List.of(
                List.of(1L, "a", 3L, RowKind.INSERT.toByteValue()),
                List.of(1L, "a", 5L, RowKind.UPDATE_BEFORE.toByteValue()),
                List.of(1L, "b", 5L, RowKind.UPDATE_AFTER.toByteValue())));
    assertThat(output.sideElements())
        .singleElement()
        .satisfies(
            record ->
                assertThat(((MalformedKafkaRecord) record).message())
                    .startsWith("topic-0@4: column 'id': expected BIGINT, got a JSON value"));
  }

  @OutOfMemoryTest
  void changesOfCanalBecomeAChangelog() throws Exception {
    Schema columns = Schema.of(Field.of("id", DataType.INT64));
    KafkaDecodingOptions options = KafkaDecodingOptions.of(new CanalJsonRecordFormat(columns));
    try (OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness = open(options)) {
      String update = "{\"data\":[{\"id\":\"2\"}],\"old\":[{\"id\":\"1\"}],\"type\":\"UPDATE\"}";
      harness.processElement(new StreamRecord<>(Blocks.of(0, 0, update)));
      String create = "{\"type\":\"CREATE\"}";
      harness.processElement(new StreamRecord<>(Blocks.of(0, 1, create)));
    }
    assertThat(output.elements())
        .containsExactly(
            List.of(
                List.of(1L, RowKind.UPDATE_BEFORE.toByteValue()),
                List.of(2L, RowKind.UPDATE_AFTER.toByteValue())));
  }

  private static List<Object> row(long id, long offset, String key, ByteBuffer trace) {
    Instant written = Instant.ofEpochMilli(1_000 + offset);
    return Arrays.asList(id, null, "topic", 3, offset, written, key, trace);
  }

  @Test
  void theWatermarkIsTheLeastOfThePartitions() throws Exception {
    EventTimeWatermarks watermarks = EventTimeWatermarks.of("at").withDelay(Duration.ofMillis(10));
    try (OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness =
        open(OPTIONS.withWatermarks(watermarks))) {
      send(harness, Blocks.begin(0), Blocks.begin(1));
      send(harness, Blocks.of(0, 0, json(1, 500), json(2, 900), "{\"id\":3}"));
      harness.setProcessingTime(INTERVAL);
      assertThat(output.elements()).hasSize(1);
      send(harness, Blocks.of(1, 0, json(4, 700)));
      harness.setProcessingTime(2 * INTERVAL);
      assertThat(last()).isEqualTo(new Watermark(689));
      harness.processWatermark(new Watermark(5_000));
      assertThat(last()).isEqualTo(new Watermark(689));
      send(harness, Blocks.end(1));
      harness.setProcessingTime(3 * INTERVAL);
      assertThat(last()).isEqualTo(new Watermark(889));
      harness.processWatermark(Watermark.MAX_WATERMARK);
      assertThat(last()).isEqualTo(Watermark.MAX_WATERMARK);
    }
  }

  @Test
  void idlePartitionsDoNotHoldTheWatermarkBack() throws Exception {
    EventTimeWatermarks watermarks =
        EventTimeWatermarks.of("at").withIdleTimeout(Duration.ofMillis(2 * INTERVAL));
    try (OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness =
        open(OPTIONS.withWatermarks(watermarks))) {
      send(harness, Blocks.begin(0), Blocks.begin(1));
      for (int i = 1; i <= 5; i++) {
        send(harness, Blocks.of(0, i, json(i, 100L * i)));
        harness.setProcessingTime(i * INTERVAL);
      }
      assertThat(last()).isEqualTo(new Watermark(499));
      // A late row is a row; the watermark stays.
      send(harness, Blocks.of(1, 0, json(9, 300)));
      harness.setProcessingTime(6 * INTERVAL);
      assertThat(output.elements())
          .doesNotContain(new Watermark(299))
          .last()
          .isInstanceOf(List.class);
      for (int i = 7; i <= 10; i++) {
        harness.setProcessingTime(i * INTERVAL);
      }
      assertThat(last()).isEqualTo(WatermarkStatus.IDLE);
      send(harness, Blocks.of(1, 1, json(10, 1_000)), Blocks.of(0, 9, json(11, 900)));
      harness.setProcessingTime(11 * INTERVAL);
      assertThat(output.elements()).endsWith(WatermarkStatus.ACTIVE, new Watermark(899));
    }
  }

  @Test
  void aSubtaskWithoutPartitionsIsIdleInTheEnd() throws Exception {
    EventTimeWatermarks watermarks =
        EventTimeWatermarks.of("at").withIdleTimeout(Duration.ofMillis(2 * INTERVAL));
    try (OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness =
        open(OPTIONS.withWatermarks(watermarks))) {
      harness.setProcessingTime(INTERVAL);
      assertThat(output.elements()).isEmpty();
      for (int i = 2; i < 6; i++) {
        harness.setProcessingTime(i * INTERVAL);
      }
      assertThat(output.elements()).containsExactly(WatermarkStatus.IDLE);
    }
  }

  private Object last() {
    return output.elements().get(output.elements().size() - 1);
  }

  private static void send(
      OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness, RecordBlock... blocks)
      throws Exception {
    for (RecordBlock block : blocks) {
      harness.processElement(new StreamRecord<>(block));
    }
  }

  @Test
  void watermarksNeedATimeColumn() {
    assertThatThrownBy(
            () ->
                OPTIONS
                    .withMetadata(MetadataColumn.topic("topic"))
                    .withWatermarks(EventTimeWatermarks.of("topic")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "expected BIGINT, TIMESTAMP or TIMESTAMP_LTZ for the time column 'topic', got STRING");
    assertThatThrownBy(() -> MetadataColumn.key("key", DataType.INT64))
        .hasMessage("expected STRING or BINARY for the metadata column 'key', got BIGINT");
  }
}

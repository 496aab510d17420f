// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.records.ArrowRecordFormat;
import io.millrace.connectors.records.DebeziumJsonRecordFormat;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.connectors.records.RecordFormat;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.format.RecordFilter;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows that a condition does not keep are not sent, and all else is as if they were. */
@ExtendWith(NothingHeldExtension.class)
@SuppressWarnings("try") // close() of the harness
class FilteredRecordsTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("at", DataType.timestamp(3)),
          Field.of("real", DataType.FLOAT64),
          Field.of("name", DataType.STRING),
          Field.of("names", DataType.list(DataType.STRING)));
  private static final KafkaDecodingOptions OPTIONS =
      KafkaDecodingOptions.of(new JsonRecordFormat(SCHEMA))
          .withMalformedRecords(MalformedRecordPolicy.SIDE_OUTPUT)
          .withMetadata(MetadataColumn.offset("offset"))
          .withWatermarks(EventTimeWatermarks.of("at"));
  private static final long INTERVAL = 200;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static RecordFilter filter(Expression condition) {
    return RecordFilter.of(condition, ExpressionSettings.DEFAULT);
  }

  private static String json(long id, long millis) {
    String time = Instant.ofEpochMilli(millis).toString().replace("Z", "");
    return "{\"id\":%d,\"at\":\"%s\",\"name\":\"n\\u00e4me %d\",\"names\":[\"%d\",null]}"
        .formatted(id, time, id, id);
  }

  private RecordingOutput decode(KafkaDecodingOptions options, List<RecordBlock> blocks)
      throws Exception {
    RecordingOutput output =
        new RecordingOutput(element -> device.rows(element.getValue().table()));
    try (OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(KafkaDecodingOperator.factory(options))) {
      harness.setOutputCreator(serializer -> output);
      harness.getExecutionConfig().setAutoWatermarkInterval(INTERVAL);
      harness.open();
      for (int i = 0; i < blocks.size(); i++) {
        harness.processElement(new StreamRecord<>(blocks.get(i)));
        harness.setProcessingTime((i + 1) * INTERVAL);
      }
    }
    return output;
  }

  @OutOfMemoryTest
  void droppedRowsMoveTheWatermark() throws Exception {
    KafkaDecodingOptions options = OPTIONS.withFilter(filter(col("id").gt(2)));
    RecordingOutput output =
        decode(
            options,
            List.of(
                Blocks.of(0, 0, json(3, 100), json(1, 900), "{\"id\":1,\"name\":2}", json(4, 200)),
                Blocks.of(0, 4, json(1, 1_500)),
                Blocks.of(0, 5, "{\"id\":5,\"real\":9007199254740993.00000000000001}")));
    assertThat(output.elements())
        .containsExactly(
            List.of(row(3, 100, 0), row(4, 200, 3)),
            new Watermark(899),
            new Watermark(1_499),
            List.of(Arrays.asList(5L, null, 9007199254740994.0, null, null, 5L)));
    assertThat(output.sideElements())
        .singleElement()
        .satisfies(
            record ->
                assertThat(((MalformedKafkaRecord) record).message()).startsWith("topic-0@2: "));
  }

  private static List<Object> row(long id, long millis, long offset) {
    return Arrays.asList(
        id,
        LocalDateTime.ofEpochSecond(0, (int) millis * 1_000_000, ZoneOffset.UTC),
        null,
        "näme " + id,
        Arrays.asList(Long.toString(id), null),
        offset);
  }

  @Test
  void watermarksAndMalformedRecordsAreThoseOfAllRows() throws Exception {
    Random numbers = random.random();
    List<RecordBlock> blocks = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      List<String> values = new ArrayList<>();
      for (int j = numbers.nextInt(20); j >= 0; j--) {
        String value = json(numbers.nextInt(10), numbers.nextInt(1_000_000));
        boolean isDamaged = numbers.nextInt(8) == 0;
        values.add(isDamaged ? value.substring(0, numbers.nextInt(value.length())) : value);
      }
      blocks.add(Blocks.of(numbers.nextInt(2), i * 100L, values.toArray(String[]::new)));
    }
    RecordingOutput all = decode(OPTIONS, blocks);
    RecordingOutput some =
        decode(OPTIONS.withFilter(filter(col("id").eq(4).or(col("id").eq(7).not().not()))), blocks);
    assertThat(rows(some))
        .isNotEmpty()
        .isEqualTo(rows(all).stream().filter(row -> List.of(4L, 7L).contains(row.get(0))).toList());
    assertThat(watermarks(some)).isNotEmpty().isEqualTo(watermarks(all));
    assertThat(messages(some)).isNotEmpty().isEqualTo(messages(all));
  }

  private static List<List<?>> rows(RecordingOutput output) {
    List<List<?>> rows = new ArrayList<>();
    for (Object element : output.elements()) {
      if (element instanceof List<?> batch) {
        batch.forEach(row -> rows.add((List<?>) row));
      }
    }
    return rows;
  }

  private static List<Object> watermarks(RecordingOutput output) {
    return output.elements().stream().filter(Watermark.class::isInstance).toList();
  }

  private static List<String> messages(RecordingOutput output) {
    return output.sideElements().stream()
        .map(record -> ((MalformedKafkaRecord) record).message())
        .toList();
  }

  @Test
  void whatCannotBeFilteredIsRefused() {
    RecordFilter filter = filter(col("id").gt(2));
    assertThatThrownBy(
            () ->
                OPTIONS
                    .withMetadata(MetadataColumn.timestamp("written"))
                    .withWatermarks(EventTimeWatermarks.of("written"))
                    .withFilter(filter))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "rows cannot be filtered: the watermarks are those of the metadata column 'written'");
    assertThatThrownBy(() -> OPTIONS.withFilter(filter(col("name").isNull())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "rows cannot be filtered: expected columns of fixed width in the condition, 'name' is"
                + " STRING");
    for (RecordFormat format :
        List.of(new DebeziumJsonRecordFormat(SCHEMA), new ArrowRecordFormat(SCHEMA))) {
      assertThatThrownBy(() -> KafkaDecodingOptions.of(format).withFilter(filter))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "rows cannot be filtered: records of this format are not filtered while they are"
                  + " read");
    }
  }
}

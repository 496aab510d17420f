// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.arrow.ipc.EncodedStream;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.records.ArrowRecordFormat;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RecordingOutput;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Records of Arrow IPC streams become batches. */
@ExtendWith(NothingHeldExtension.class)
@SuppressWarnings("try") // close() of the harness
class ArrowRecordsTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));
  private static final Schema NULLABLE =
      Schema.of(Field.of("id", DataType.INT64), Field.of("name", DataType.STRING));
  private static final RecordBlockOptions BLOCKS =
      new RecordBlockOptions(List.of(), 1 << 20, TombstonePolicy.MALFORMED);
  private static final KafkaDecodingOptions OPTIONS =
      KafkaDecodingOptions.of(new ArrowRecordFormat(SCHEMA))
          .withMalformedRecords(MalformedRecordPolicy.SIDE_OUTPUT);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final RecordingOutput output =
      new RecordingOutput(element -> device.rows(element.getValue().table()));

  private static List<List<Object>> rows(long first, int count) {
    return LongStream.range(first, first + count)
        .mapToObj(id -> Arrays.<Object>asList(id, id % 3 == 0 ? null : "name " + id))
        .toList();
  }

  private byte[] stream(Schema schema, List<List<List<Object>>> batches) throws IOException {
    return EncodedStream.of(device, schema, batches);
  }

  private void process(KafkaDecodingOptions options, List<byte[]> values) throws Exception {
    try (OneInputStreamOperatorTestHarness<RecordBlock, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(KafkaDecodingOperator.factory(options))) {
      harness.setOutputCreator(serializer -> output);
      harness.open();
      for (RecordBlock block : Blocks.ofBytes(0, 0, BLOCKS, values)) {
        harness.processElement(new StreamRecord<>(block));
      }
    }
  }

  private List<String> reasons() {
    return output.sideElements().stream()
        .map(record -> ((MalformedKafkaRecord) record).reason())
        .toList();
  }

  @OutOfMemoryTest
  void aRecordHasAnyNumberOfRows() throws Exception {
    process(
        OPTIONS.withMetadata(MetadataColumn.offset("offset")).withMaxRows(6),
        List.of(
            stream(SCHEMA, List.of(rows(0, 3), rows(3, 2))),
            stream(SCHEMA, List.of()),
            stream(NULLABLE, List.of(rows(5, 4)))));
    List<List<Object>> expected = new ArrayList<>();
    for (List<Object> row : rows(0, 9)) {
      List<Object> withOffset = new ArrayList<>(row);
      withOffset.add((long) row.get(0) < 5 ? 0L : 2L);
      expected.add(withOffset);
    }
    assertThat(output.elements()).containsExactly(expected.subList(0, 6), expected.subList(6, 9));
    assertThat(output.sideElements()).isEmpty();
  }

  @Test
  void aRecordOfOtherColumnsIsMalformed() throws Exception {
    Schema renamed = Schema.of(Field.of("id", DataType.INT64), Field.of("title", DataType.STRING));
    Schema retyped = Schema.of(Field.of("id", DataType.INT32), Field.of("name", DataType.STRING));
    process(
        OPTIONS,
        List.of(
            stream(renamed, List.of(rows(0, 1))),
            stream(retyped, List.of(List.of(Arrays.asList(1, "a")))),
            stream(NULLABLE, List.of(rows(0, 2), List.of(Arrays.asList(null, "a")))),
            stream(SCHEMA, List.of(rows(7, 1)))));
    assertThat(output.elements()).containsExactly(rows(7, 1));
    assertThat(reasons())
        .satisfiesExactly(
            reason ->
                assertThat(reason).isEqualTo("expected the columns [id, name], got [id, title]"),
            reason -> assertThat(reason).contains("'id'").contains("INT"),
            reason -> assertThat(reason).contains("'id'").contains("NOT NULL"));
  }

  @Test
  void damagedRecordsCostOnlyThemselves() throws Exception {
    Random numbers = random.random();
    byte[] whole = stream(SCHEMA, List.of(rows(0, 20), rows(20, 20)));
    List<byte[]> values = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      byte[] damaged =
          Arrays.copyOf(whole, i % 2 == 0 ? numbers.nextInt(whole.length) : whole.length);
      for (int flips = i % 2 == 0 ? 0 : 1 + numbers.nextInt(4); flips > 0; flips--) {
        damaged[numbers.nextInt(damaged.length)] ^= (byte) (1 << numbers.nextInt(8));
      }
      values.add(damaged);
      values.add(whole);
    }
    process(OPTIONS.withMetadata(MetadataColumn.offset("offset")), values);
    List<Object> fromWhole =
        output.elements().stream()
            .flatMap(batch -> ((List<?>) batch).stream())
            .map(row -> (List<?>) row)
            .filter(row -> (long) row.get(2) % 2 == 1)
            .<Object>map(row -> row.subList(0, 2))
            .toList();
    List<Object> expected = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      expected.addAll(rows(0, 40));
    }
    assertThat(fromWhole).isEqualTo(expected);
    assertThat(output.sideElements()).hasSizeGreaterThan(200);
  }
}

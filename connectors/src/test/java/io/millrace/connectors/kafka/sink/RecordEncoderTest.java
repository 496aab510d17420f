// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RowCollector;
import io.millrace.operators.testing.TableSourceOperator;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Batches become records with values and keys. */
@ExtendWith(NothingHeldExtension.class)
class RecordEncoderTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("name", DataType.STRING),
          Field.of("x", DataType.FLOAT64));
  // The number of a batch without rows.
  private static final long EMPTY = -1;

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static List<String> encode(RecordEncoder encoder) throws Exception {
    return encode(encoder, StandardCharsets.UTF_8.name());
  }

  private static List<String> encode(RecordEncoder encoder, String charset) throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    RowCollector<String> collector = new RowCollector<>();
    collector.collect(
        KafkaEncodingOperator.encode(
            TableSourceOperator.batches(
                environment.fromData(0L, EMPTY, 1L), SCHEMA, RecordEncoderTest::rows),
            encoder),
        record -> text(record.key(), charset) + " " + text(record.value(), charset));
    flink.run(environment);
    return collector.rows();
  }

  private static List<List<Object>> rows(long batch) {
    if (batch == EMPTY) {
      return List.of();
    }
    return List.of(
        Arrays.asList(2 * batch, "a\n" + batch, 0.5), Arrays.asList(2 * batch + 1, null, null));
  }

  private static String text(byte[] bytes, String charset) {
    return bytes == null ? "none" : new String(bytes, Charset.forName(charset));
  }

  @OutOfMemoryTest(onCluster = true)
  void eachRowIsARecord() throws Exception {
    assertThat(encode(JsonRecordEncoder.of(SCHEMA)))
        .containsExactly(
            "none {\"id\":0,\"name\":\"a\\n0\",\"x\":0.5}",
            "none {\"id\":1,\"name\":null,\"x\":null}",
            "none {\"id\":2,\"name\":\"a\\n1\",\"x\":0.5}",
            "none {\"id\":3,\"name\":null,\"x\":null}");
  }

  @Test
  void aColumnOfTextIsAKeyAsItIs() throws Exception {
    assertThat(encode(JsonRecordEncoder.of(SCHEMA).withKey("name").withoutKeyInValue()))
        .containsExactly(
            "a\n0 {\"id\":0,\"x\":0.5}",
            "none {\"id\":1,\"x\":null}",
            "a\n1 {\"id\":2,\"x\":0.5}",
            "none {\"id\":3,\"x\":null}");
  }

  @Test
  void otherColumnsAreAKeyAsJson() throws Exception {
    assertThat(encode(JsonRecordEncoder.of(SCHEMA).withKey("id", "name").withoutKeyInValue()))
        .startsWith("{\"id\":0,\"name\":\"a\\n0\"} {\"x\":0.5}");
    assertThat(encode(JsonRecordEncoder.of(SCHEMA).withKey("id")))
        .endsWith("{\"id\":3} {\"id\":3,\"name\":null,\"x\":null}");
  }

  @Test
  void eachRowIsALineOfCsvWithoutItsEnd() throws Exception {
    CsvRecordEncoder encoder = CsvRecordEncoder.of(SCHEMA, ';');
    assertThat(encode(encoder))
        .containsExactly("none 0;\"a\n0\";0.5", "none 1;;", "none 2;\"a\n1\";0.5", "none 3;;");
    assertThat(encode(encoder.withKey("id", "x").withoutKeyInValue()))
        .containsExactly("0;0.5 \"a\n0\"", "1; ", "2;0.5 \"a\n1\"", "3; ");
  }

  @OutOfMemoryTest(onCluster = true)
  void eachRowIsADatumOfAvro() throws Exception {
    String x = "\2\0\0\0\0\0\0\u00e0\77";
    AvroRecordEncoder encoder = AvroRecordEncoder.of(SCHEMA);
    assertThat(encode(encoder, StandardCharsets.ISO_8859_1.name()))
        .containsExactly(
            "none \0\2\6a\n0" + x, "none \2\0\0", "none \4\2\6a\n1" + x, "none \6\0\0");
    assertThat(
            encode(
                encoder.withSchemaId(1).withKey("id", "name").withoutKeyInValue(),
                StandardCharsets.ISO_8859_1.name()))
        .startsWith("\0\2\6a\n0 \0\0\0\0\1" + x, "\2\0 \0\0\0\0\1\0");
  }

  @OutOfMemoryTest(onCluster = true, onGpuOnly = true)
  void eachBatchIsAnArrowStreamUnlessItIsTooLarge() throws Exception {
    assertThat(encode(ArrowRecordEncoder.create())).hasSize(2);
    assertThat(encode(ArrowRecordEncoder.create().withMaximumBytes(1))).hasSize(4);
  }

  @Test
  void recordsToWriteAreSerialized() throws IOException {
    DataOutputSerializer target = new DataOutputSerializer(16);
    KafkaRecordSerializer.INSTANCE.serialize(
        new KafkaRecord(null, bytes("value"), 5).withHeader("name", "text"), target);
    KafkaRecord copy =
        KafkaRecordSerializer.INSTANCE.deserialize(
            new DataInputDeserializer(target.getCopyOfBuffer()));
    assertThat(copy.key()).isNull();
    assertThat(copy.value()).isEqualTo(bytes("value"));
    assertThat(copy.timestamp()).isEqualTo(5);
    assertThat(copy.headers())
        .singleElement()
        .satisfies(header -> assertThat(header.key()).isEqualTo("name"))
        .satisfies(header -> assertThat(header.value()).isEqualTo(bytes("text")));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void aKeyNeedsItsColumns() {
    assertThatThrownBy(() -> JsonRecordEncoder.of(SCHEMA).withKey("other"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("other");
  }
}

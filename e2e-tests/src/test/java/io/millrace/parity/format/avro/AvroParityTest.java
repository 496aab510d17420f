// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format.avro;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.connectors.avro.WriterSchemas;
import io.millrace.format.avro.AvroReader;
import io.millrace.format.avro.AvroType;
import io.millrace.parity.format.MillraceRecords;
import io.millrace.parity.format.RecordResult;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * {@link AvroReader} and Flink's format read the same rows from records of random schemas, which
 * Avro's library wrote, also from those that were damaged.
 */
class AvroParityTest {
  /** The system property with the seconds that records are read for. */
  private static final int RECORDS = 20;

  private static final EncoderFactory PLAIN = EncoderFactory.get();
  // Arrays have several blocks, which tell how many bytes they have.
  private static final EncoderFactory BLOCKS = new EncoderFactory().configureBlockSize(64);

  /** What Flink's format reads otherwise. */
  private static final List<String> DIFFERENCES =
      List.of(
          "expected the end of the record behind the datum",
          "invalid UTF-8",
          "a length is below zero",
          ": the value is not a valid ");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void rowsAreThoseOfFlink() throws Exception {
    Random numbers = random.random();
    RandomAvro avro = new RandomAvro(numbers);
    random.fuzz(
        () -> {
          RandomAvro.Records drawn = avro.records();
          Schema columns = new Schema(drawn.columns());
          FlinkAvro flink = new FlinkAvro(columns, drawn.schema());
          List<byte[]> records = new ArrayList<>();
          for (int i = 0; i < RECORDS; i++) {
            EncoderFactory encoders = numbers.nextBoolean() ? PLAIN : BLOCKS;
            records.add(record(drawn.schema(), avro.value(drawn.schema()), encoders));
          }
          for (RecordResult result : assertAlike(columns, drawn.schema(), records, flink)) {
            assertThat(result.fault()).matches("|column .*, got another branch of a union");
          }
          assertAlike(columns, drawn.schema(), damaged(records, numbers), flink);
        });
  }

  private List<RecordResult> read(
      Schema columns, org.apache.avro.Schema writer, List<byte[]> records) {
    AvroType type = WriterSchemas.parse(writer.toString());
    return MillraceRecords.read(
        (stream, memory) -> new AvroReader(columns, type, stream, memory), records, device);
  }

  private static byte[] record(org.apache.avro.Schema schema, Object value, EncoderFactory encoders)
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder =
        encoders.equals(BLOCKS)
            ? encoders.blockingBinaryEncoder(bytes, null)
            : encoders.binaryEncoder(bytes, null);
    new GenericDatumWriter<>(schema).write(value, encoder);
    encoder.flush();
    return bytes.toByteArray();
  }

  private static List<byte[]> damaged(List<byte[]> records, Random numbers) {
    List<byte[]> damaged = new ArrayList<>();
    for (byte[] record : records) {
      damaged.add(Arrays.copyOf(record, numbers.nextInt(record.length + 1)));
      byte[] changed = record.clone();
      for (int i = numbers.nextInt(4); i >= 0 && changed.length > 0; i--) {
        int at = numbers.nextInt(changed.length);
        changed[at] =
            numbers.nextBoolean()
                ? (byte) numbers.nextInt()
                : (byte) (changed[at] ^ 1 << numbers.nextInt(Byte.SIZE));
      }
      damaged.add(changed);
      byte[] noise = new byte[numbers.nextInt(40)];
      numbers.nextBytes(noise);
      damaged.add(noise);
    }
    return damaged;
  }

  private List<RecordResult> assertAlike(
      Schema columns, org.apache.avro.Schema writer, List<byte[]> records, FlinkAvro flink)
      throws Exception {
    List<RecordResult> results = read(columns, writer, records);
    for (int i = 0; i < records.size(); i++) {
      RecordResult result = results.get(i);
      if (DIFFERENCES.stream().noneMatch(result.fault()::contains)) {
        RecordResult expected = flink.read(records.get(i));
        String what =
            "record %s of %s into %s: %s and %s"
                .formatted(Arrays.toString(records.get(i)), writer, columns, result, expected);
        assertThat(result.fault().isEmpty()).as(what).isEqualTo(expected.fault().isEmpty());
        assertThat(result.rows()).as(what).isEqualTo(expected.rows());
      }
    }
    return results;
  }
}

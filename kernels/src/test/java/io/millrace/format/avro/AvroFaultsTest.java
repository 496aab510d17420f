// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import static io.millrace.format.avro.AvroRecords.BYTES;
import static io.millrace.format.avro.AvroRecords.DOUBLE;
import static io.millrace.format.avro.AvroRecords.INT;
import static io.millrace.format.avro.AvroRecords.LONG;
import static io.millrace.format.avro.AvroRecords.NULL;
import static io.millrace.format.avro.AvroRecords.STRING;
import static io.millrace.format.avro.AvroRecords.column;
import static io.millrace.format.avro.AvroRecords.datum;
import static io.millrace.format.avro.AvroRecords.record;
import static io.millrace.format.avro.AvroRecords.required;
import static io.millrace.format.avro.AvroRecords.union;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.testing.DeviceExtension;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Unions, values that are skipped, and records that are not rows. */
class AvroFaultsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final AvroRecords avro = new AvroRecords(device);

  @Test
  void unionsHaveBranchesThatAreRead() {
    AvroType union = union(INT, NULL, STRING, LONG, AvroType.fixed(1));
    assertThat(
            avro.values(
                DataType.INT64,
                union,
                datum().number(0).number(1),
                datum().number(1),
                datum().number(3).number(1L << 40)))
        .containsExactly(1L, null, 1L << 40);
    assertThat(
            avro.faults(
                column(DataType.INT64),
                record(union),
                datum().number(2).text("x"),
                datum().number(5),
                datum().number(-1),
                datum().number(4).raw(1)))
        .containsExactly(
            "0@1 column 'f0': expected BIGINT, got another branch of a union",
            "1@1 the index of a union or an enum is out of range",
            "2@1 the index of a union or an enum is out of range",
            "3@1 column 'f0': expected BIGINT, got another branch of a union");
    assertThat(
            avro.faults(
                required(DataType.INT32),
                record(union(NULL, INT)),
                datum().number(0),
                datum().number(1).number(4)))
        .containsExactly("0@1 column 'f0' is NOT NULL, got null");
  }

  @Test
  void aDatumThatIsNullIsSkipped() {
    AvroType writer = union(NULL, record(INT), INT);
    List<byte[]> records =
        List.of(
            datum().number(0).bytes(),
            datum().number(1).number(5).bytes(),
            datum().number(2).number(5).bytes());
    try (ParsedRecords parsed = avro.read(column(DataType.INT32), writer, records)) {
      assertThat(device.rows(parsed.table())).containsExactly(List.of(5));
      assertThat(parsed.recordOf(0)).isEqualTo(1);
      assertThat(parsed.malformed())
          .containsExactly(
              new MalformedRecord(2, 3, 2, 1, "expected a record, got another branch of a union"));
    }
  }

  @Test
  void arraysAndMapsAreSkipped() {
    AvroType writer =
        record(
            AvroType.array(AvroType.map(union(NULL, LONG))),
            INT,
            AvroType.array(NULL),
            AvroType.array(record()),
            LONG);
    Schema schema = Schema.of(Field.of("f1", DataType.INT32), Field.of("f4", DataType.INT64));
    AvroDatum maps =
        datum()
            .number(2)
            .number(1)
            .text("key")
            .number(1)
            .number(77)
            .number(0)
            .number(0)
            .number(-1)
            .number(3)
            .raw(9, 9, 9)
            .number(-7)
            .number(0)
            .number(1)
            .number(2)
            .text("")
            .number(0)
            .text("b")
            .number(0)
            .number(-5)
            .number(1)
            .raw(9)
            .number(0)
            .number(0);
    assertThat(
            avro.rows(
                schema,
                writer,
                datum().number(0).number(3).number(0).number(0).number(4),
                datum()
                    .raw(maps.bytes())
                    .number(5)
                    .number(Long.MAX_VALUE)
                    .number(1)
                    .number(0)
                    .number(Long.MAX_VALUE)
                    .number(0)
                    .number(6)))
        .containsExactly(List.of(3, 4L), List.of(5, 6L));
    assertThat(
            avro.faults(
                schema,
                writer,
                datum().number(Long.MAX_VALUE).number(0),
                datum().number(-1).number(-1),
                datum().number(Long.MIN_VALUE).number(100)))
        .containsExactly(
            "0@11 the record ends within a value",
            "1@2 a length is below zero",
            "2@12 the record ends within a value");
  }

  @Test
  void aBranchThatIsTooDeepLeavesTheOtherBranchesAsTheyAre() {
    AvroType deep = INT;
    for (int i = 0; i < 9; i++) {
      deep = AvroType.array(deep);
    }
    AvroType writer = union(record(INT, deep), record(INT, AvroType.array(INT)));
    List<byte[]> records =
        List.of(
            datum().number(1).number(5).number(1).number(6).number(0).bytes(),
            datum().number(0).number(5).number(0).bytes());
    try (ParsedRecords parsed = avro.read(column(DataType.INT32), writer, records)) {
      assertThat(device.rows(parsed.table())).containsExactly(List.of(5));
      assertThat(parsed.malformed())
          .containsExactly(
              new MalformedRecord(1, 5, 3, 1, "expected a record, got another branch of a union"));
    }
  }

  @Test
  void eachTruncationIsFound() {
    AvroType writer =
        record(
            STRING,
            union(NULL, INT),
            AvroType.fixed(4),
            DOUBLE,
            AvroType.array(LONG),
            BYTES.decimal(2),
            AvroType.enumOf(List.of("A", "B")));
    Schema schema =
        Schema.of(
            Field.of("f0", DataType.STRING),
            Field.of("f1", DataType.INT64),
            Field.of("f3", DataType.FLOAT64),
            Field.of("f5", DataType.decimal(20, 2)),
            Field.of("f6", DataType.STRING));
    byte[] whole =
        datum()
            .text("abcdefghij€")
            .number(1)
            .number(1 << 30)
            .raw(1, 2, 3, 4)
            .real(1e300)
            .number(2)
            .number(Long.MIN_VALUE)
            .number(1)
            .number(0)
            .sized(BigInteger.TEN.pow(18).toByteArray())
            .number(1)
            .bytes();
    List<byte[]> records = new ArrayList<>();
    for (int length = 0; length <= whole.length; length++) {
      records.add(Arrays.copyOf(whole, length));
    }
    records.add(Arrays.copyOf(whole, whole.length + 1));
    try (ParsedRecords parsed = avro.read(schema, writer, records)) {
      assertThat(device.rows(parsed.table()))
          .containsExactly(
              List.of("abcdefghij€", 1L << 30, 1e300, new BigDecimal("1e16").setScale(2), "B"));
      assertThat(parsed.malformed()).hasSize(whole.length + 1);
      for (MalformedRecord fault : parsed.malformed()) {
        boolean isLonger = fault.length() > whole.length;
        assertThat(fault.reason())
            .isEqualTo(
                isLonger
                    ? "expected the end of the record behind the datum"
                    : "the record ends within a value");
        assertThat(fault.position()).isBetween(0, fault.length());
      }
    }
  }

  @Test
  void numbersHaveAtMostTheBytesOfTheirType() {
    Schema schema = Schema.of(Field.of("f0", DataType.INT32), Field.of("f1", DataType.INT64));
    int[] ones = new int[11];
    Arrays.fill(ones, 0xff);
    int[] ofInt = Arrays.copyOf(ones, 5);
    int[] ofLong = Arrays.copyOf(ones, 10);
    ofInt[4] = 0x0f;
    ofLong[9] = 1;
    assertThat(avro.rows(schema, record(INT, LONG), datum().raw(ofInt).raw(ofLong)))
        .containsExactly(List.of(Integer.MIN_VALUE, Long.MIN_VALUE));
    assertThat(
            avro.faults(
                schema,
                record(INT, LONG),
                datum().raw(Arrays.copyOf(ones, 6)),
                datum().number(0).raw(ones),
                datum().number(0).raw(Arrays.copyOf(ones, 9))))
        .containsExactly(
            "0@5 a variable-length number has too many bytes",
            "1@11 a variable-length number has too many bytes",
            "2@10 the record ends within a value");
  }

  @Test
  void stringsAreUtf8() {
    AvroDatum valid = datum().text("x".repeat(20) + "é").number(5);
    AvroDatum cut = datum().number(3).raw('a', 'b', 0xc3).number(5);
    AvroDatum overlong = datum().sized(new byte[] {(byte) 0xc0, (byte) 0xaf}).number(5);
    Schema schema = Schema.of(Field.of("f0", DataType.STRING), Field.of("f1", DataType.INT32));
    assertThat(avro.faults(schema, record(STRING, INT), valid, cut, overlong))
        .containsExactly("1@3 invalid UTF-8", "2@1 invalid UTF-8");
    assertThat(avro.rows(Schema.of(Field.of("f1", DataType.INT32)), record(STRING, INT), cut))
        .containsExactly(List.of(5));
  }

  @Test
  void lengthsThatAreNotThere() {
    assertThat(
            avro.faults(
                column(DataType.STRING),
                record(STRING),
                datum().number(-1),
                datum().number(1L << 32),
                datum().number(Integer.MAX_VALUE),
                datum().number(Long.MAX_VALUE)))
        .containsExactly(
            "0@1 a length is below zero",
            "1@5 the record ends within a value",
            "2@5 the record ends within a value",
            "3@10 the record ends within a value");
  }

  @Test
  void schemasThatDoNotMatchAreRefused() {
    avro.assertMismatch(
        column(DataType.INT32),
        record(LONG),
        "expected INT for column 'f0', the writer's schema has long");
    avro.assertMismatch(
        column(DataType.INT32), LONG, "expected a record, the writer's schema has long");
    avro.assertMismatch(
        column(DataType.STRING),
        record(union(NULL, INT)),
        "expected STRING for column 'f0', the writer's schema has int");
    avro.assertMismatch(
        column(DataType.decimal(5, 2)),
        record(BYTES.decimal(3)),
        "expected DECIMAL(5, 2) for column 'f0', the writer's schema has bytes (decimal of scale 3)");
    avro.assertMismatch(
        required(DataType.INT32),
        record(),
        "column 'f0' is NOT NULL, but the writer's schema lacks the field");
    avro.assertMismatch(
        required(DataType.INT32),
        record(NULL),
        "expected INT for column 'f0', the writer's schema has null");
    AvroType deep = INT;
    for (int i = 0; i < 9; i++) {
      deep = AvroType.array(deep);
    }
    avro.assertMismatch(
        column(DataType.INT32),
        record(INT, deep),
        "the writer's schema has more than 8 arrays and maps in each other");
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.format.avro.AvroType.Kind;
import io.millrace.format.avro.AvroType.LogicalType;
import io.millrace.testing.DeviceExtension;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class AvroReaderTest {
  static final AvroType NULL = AvroType.of(Kind.NULL);
  static final AvroType INT = AvroType.of(Kind.INT);
  static final AvroType LONG = AvroType.of(Kind.LONG);
  static final AvroType FLOAT = AvroType.of(Kind.FLOAT);
  static final AvroType DOUBLE = AvroType.of(Kind.DOUBLE);
  static final AvroType BYTES = AvroType.of(Kind.BYTES);
  static final AvroType STRING = AvroType.of(Kind.STRING);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static AvroType record(AvroType... types) {
    return AvroType.record(
        IntStream.range(0, types.length)
            .mapToObj(i -> new AvroType.Field("f" + i, types[i]))
            .toList());
  }

  private static AvroType union(AvroType... branches) {
    return AvroType.union(List.of(branches));
  }

  private static Schema column(DataType type) {
    return Schema.of(Field.of("f0", type));
  }

  private static Schema required(DataType type) {
    return Schema.of(new Field("f0", type, false));
  }

  private static AvroDatum datum() {
    return new AvroDatum();
  }

  private ParsedRecords read(Schema schema, AvroType writer, List<byte[]> records) {
    try (RecordBytes bytes = RecordLines.records(records, device);
        AvroReader reader = new AvroReader(schema, writer, device.stream(), device.memory())) {
      return reader.read(bytes);
    }
  }

  private List<List<Object>> rows(Schema schema, AvroType writer, AvroDatum... datums) {
    List<byte[]> records = Arrays.stream(datums).map(AvroDatum::bytes).toList();
    try (ParsedRecords parsed = read(schema, writer, records)) {
      assertThat(parsed.malformed()).isEmpty();
      return device.rows(parsed.table());
    }
  }

  /** The only values of each record, which has one field. */
  private List<Object> values(DataType type, AvroType writer, AvroDatum... datums) {
    return rows(column(type), record(writer), datums).stream().map(row -> row.get(0)).toList();
  }

  private List<String> faults(Schema schema, AvroType writer, AvroDatum... datums) {
    List<byte[]> records = Arrays.stream(datums).map(AvroDatum::bytes).toList();
    try (ParsedRecords parsed = read(schema, writer, records)) {
      assertThat(parsed.table().rowCount() + parsed.malformed().size()).isEqualTo(records.size());
      return parsed.malformed().stream()
          .map(fault -> fault.record() + "@" + fault.position() + " " + fault.reason())
          .toList();
    }
  }

  private void assertMismatch(Schema schema, AvroType writer, String message) {
    assertThat(AvroReader.unsupported(schema, writer)).contains(message);
    assertThatThrownBy(() -> new AvroReader(schema, writer, device.stream(), device.memory()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void fieldsBelongToColumnsOfTheirNames() {
    Schema schema =
        Schema.of(
            Field.of("f3", DataType.INT64),
            Field.of("missing", DataType.STRING),
            new Field("f1", DataType.BOOL, false),
            Field.of("f6", DataType.FLOAT64));
    AvroType writer =
        record(STRING, AvroType.of(Kind.BOOLEAN), AvroType.fixed(3), LONG, BYTES, FLOAT, DOUBLE);
    assertThat(
            rows(
                schema,
                writer,
                datum()
                    .text("é")
                    .raw(1)
                    .raw(1, 2, 3)
                    .number(-5)
                    .sized(new byte[9])
                    .real(1f)
                    .real(0.5),
                datum()
                    .text("")
                    .raw(0)
                    .raw(1, 2, 3)
                    .number(7)
                    .sized(new byte[0])
                    .real(1f)
                    .real(-0.0)))
        .containsExactly(Arrays.asList(-5L, null, true, 0.5), Arrays.asList(7L, null, false, -0.0));
  }

  @Test
  void numbersBecomeWider() {
    AvroDatum number = datum().number(Integer.MIN_VALUE);
    assertThat(values(DataType.INT64, INT, number)).containsExactly((long) Integer.MIN_VALUE);
    assertThat(values(DataType.FLOAT32, INT, number)).containsExactly(-0x1p31f);
    assertThat(values(DataType.FLOAT64, INT, number)).containsExactly(-0x1p31);
    long odd = (1L << 62) + (1L << 38) + 1;
    assertThat(values(DataType.FLOAT32, LONG, datum().number(odd))).containsExactly((float) odd);
    assertThat(values(DataType.FLOAT64, LONG, datum().number(odd))).containsExactly((double) odd);
    assertThat(values(DataType.FLOAT64, FLOAT, datum().real(0.1f), datum().real(Float.NaN)))
        .containsExactly((double) 0.1f, Double.NaN);
    assertThat(values(DataType.INT8, INT, datum().number(-128))).containsExactly((byte) -128);
  }

  @Test
  void textAndBytesBecomeEachOther() {
    AvroDatum text = datum().text("größer 😀");
    assertThat(values(DataType.STRING, BYTES, text)).containsExactly("größer 😀");
    assertThat(values(DataType.BINARY, STRING, datum().sized(new byte[] {-1})))
        .containsExactly(ByteBuffer.wrap(new byte[] {-1}));
    assertThat(values(DataType.BINARY, AvroType.fixed(2), datum().raw(1, 255)))
        .containsExactly(ByteBuffer.wrap(new byte[] {1, -1}));
  }

  @Test
  void anEnumIsAString() {
    AvroType enums = AvroType.enumOf(List.of("RED", "", "a rather long symbol"));
    AvroType other = AvroType.enumOf(List.of("BLUE"));
    Schema schema = Schema.of(Field.of("f1", DataType.STRING), Field.of("f3", DataType.STRING));
    assertThat(
            rows(
                schema,
                record(other, enums, enums, union(NULL, other)),
                datum().number(0).number(2).number(0).number(1).number(0),
                datum().number(0).number(1).number(2).number(0),
                datum().number(0).number(0).number(1).number(1).number(0)))
        .containsExactly(
            List.of("a rather long symbol", "BLUE"),
            Arrays.asList("", null),
            List.of("RED", "BLUE"));
    assertThat(faults(schema, record(other, enums), datum().number(0).number(3)))
        .containsExactly("0@2 the index of a union or an enum is out of range");
  }

  @Test
  void timesHaveTheirLogicalTypes() {
    AvroType date = INT.withLogicalType(LogicalType.DATE);
    assertThat(values(DataType.DATE, date, datum().number(-1)))
        .containsExactly(LocalDate.of(1969, 12, 31));
    AvroType millis = INT.withLogicalType(LogicalType.TIME_MILLIS);
    assertThat(values(DataType.TIME, millis, datum().number(86_399_999)))
        .containsExactly(LocalTime.of(23, 59, 59, 999_000_000));
    AvroType micros = LONG.withLogicalType(LogicalType.TIME_MICROS);
    assertThat(values(DataType.TIME, micros, datum().number(1_999)))
        .containsExactly(LocalTime.of(0, 0, 0, 1_000_000));
    for (AvroDatum time : List.of(datum().number(-1), datum().number(86_400_000_000L))) {
      assertThat(faults(column(DataType.TIME), record(micros), time).get(0))
          .endsWith("column 'f0': the value is not a valid TIME");
    }
  }

  @Test
  void timestampsAreConvertedToTheUnitsOfTheirColumns() {
    AvroType millis = LONG.withLogicalType(LogicalType.TIMESTAMP_MILLIS);
    AvroType micros = LONG.withLogicalType(LogicalType.TIMESTAMP_MICROS);
    AvroType nanos = LONG.withLogicalType(LogicalType.TIMESTAMP_NANOS);
    LocalDateTime before = LocalDateTime.of(1969, 12, 31, 23, 59, 59);
    AvroDatum least = datum().number(-1);
    assertThat(values(DataType.timestamp(3), millis, least))
        .containsExactly(before.withNano(999_000_000));
    assertThat(values(DataType.timestamp(1), millis, least))
        .containsExactly(before.withNano(900_000_000));
    assertThat(values(DataType.timestamp(0), micros, least)).containsExactly(before);
    assertThat(values(DataType.timestamp(3), micros, least))
        .containsExactly(before.withNano(999_000_000));
    assertThat(values(DataType.timestamp(5), micros, least))
        .containsExactly(before.withNano(999_990_000));
    assertThat(values(DataType.timestamp(6), millis, least))
        .containsExactly(before.withNano(999_000_000));
    assertThat(values(DataType.timestamp(9), nanos, least))
        .containsExactly(before.withNano(999_999_999));
    assertThat(values(DataType.timestamp(7), nanos, least))
        .containsExactly(before.withNano(999_999_900));
    assertThat(values(DataType.timestamp(9), micros, least))
        .containsExactly(before.withNano(999_999_000));
    assertThat(values(DataType.timestamp(9), millis, least))
        .containsExactly(before.withNano(999_000_000));
    assertThat(values(DataType.timestamp(3, true), nanos, least))
        .containsExactly(Instant.ofEpochMilli(-1));
    assertThat(values(DataType.timestamp(6), LONG, least))
        .containsExactly(before.withNano(999_999_000));
    assertThat(
            faults(
                column(DataType.timestamp(6)),
                record(millis),
                datum().number(Long.MAX_VALUE / 1000 + 1)))
        .containsExactly("0@8 column 'f0': the value is not a valid TIMESTAMP(6)");
    assertThat(
            faults(column(DataType.timestamp(0)), record(millis), datum().number(Long.MIN_VALUE)))
        .containsExactly("0@10 column 'f0': the value is not a valid TIMESTAMP(0)");
  }

  @Test
  void decimalsAreBytesOfAnyLength() {
    for (DataType type :
        List.of(DataType.decimal(3, 1), DataType.decimal(18, 1), DataType.decimal(38, 1))) {
      BigInteger bound = BigInteger.TEN.pow(type.precision());
      AvroType bytes = BYTES.decimal(1);
      AvroType fixed = AvroType.fixed(20).decimal(1);
      for (BigInteger value :
          List.of(
              bound.subtract(BigInteger.ONE),
              BigInteger.ONE.subtract(bound),
              BigInteger.ZERO,
              BigInteger.valueOf(-1))) {
        byte[] padded = new byte[20];
        Arrays.fill(padded, (byte) value.signum() < 0 ? (byte) -1 : 0);
        byte[] shortest = value.toByteArray();
        System.arraycopy(shortest, 0, padded, padded.length - shortest.length, shortest.length);
        Object expected = new BigDecimal(value, 1);
        assertThat(values(type, bytes, datum().sized(shortest), datum().sized(padded)))
            .containsExactly(expected, expected);
        assertThat(values(type, fixed, datum().raw(padded))).containsExactly(expected);
      }
      byte[] tooMany = new byte[17];
      tooMany[0] = 1;
      byte[] otherSign = new byte[17];
      otherSign[1] = -1;
      String reason = "column 'f0': the value is not a valid " + type;
      assertThat(
              faults(
                  column(type),
                  record(bytes),
                  datum().sized(bound.toByteArray()),
                  datum().sized(bound.negate().toByteArray()),
                  datum().sized(new byte[0]),
                  datum().sized(tooMany),
                  datum().sized(otherSign)))
          .hasSize(5)
          .allMatch(fault -> fault.endsWith("@1 " + reason));
    }
  }

  @Test
  void rowsAreRecords() {
    Schema schema =
        Schema.of(
            Field.of(
                "f1",
                DataType.struct(
                    Field.of("f1", DataType.STRING), new Field("f0", DataType.INT32, false))));
    AvroType inner = record(INT, union(STRING, NULL));
    assertThat(
            rows(
                schema,
                record(inner, union(NULL, inner)),
                datum().number(1).number(1).number(1).number(2).number(0).text("x"),
                datum().number(1).number(0).text("y").number(0),
                datum().number(1).number(1).number(1).number(3).number(1)))
        .containsExactly(
            List.of(List.of("x", 2)),
            Arrays.asList((Object) null),
            List.of(Arrays.asList(null, 3)));
  }

  @Test
  void unionsHaveBranchesThatAreRead() {
    AvroType union = union(INT, NULL, STRING, LONG, AvroType.fixed(1));
    assertThat(
            values(
                DataType.INT64,
                union,
                datum().number(0).number(1),
                datum().number(1),
                datum().number(3).number(1L << 40)))
        .containsExactly(1L, null, 1L << 40);
    assertThat(
            faults(
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
            faults(
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
    try (ParsedRecords parsed = read(column(DataType.INT32), writer, records)) {
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
            rows(
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
            faults(
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
    try (ParsedRecords parsed = read(schema, writer, records)) {
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
    assertThat(rows(schema, record(INT, LONG), datum().raw(ofInt).raw(ofLong)))
        .containsExactly(List.of(Integer.MIN_VALUE, Long.MIN_VALUE));
    assertThat(
            faults(
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
    assertThat(faults(schema, record(STRING, INT), valid, cut, overlong))
        .containsExactly("1@3 invalid UTF-8", "2@1 invalid UTF-8");
    assertThat(rows(Schema.of(Field.of("f1", DataType.INT32)), record(STRING, INT), cut))
        .containsExactly(List.of(5));
  }

  @Test
  void lengthsThatAreNotThere() {
    assertThat(
            faults(
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
    assertMismatch(
        column(DataType.INT32),
        record(LONG),
        "expected INT for column 'f0', the writer's schema has long");
    assertMismatch(column(DataType.INT32), LONG, "expected a record, the writer's schema has long");
    assertMismatch(
        column(DataType.STRING),
        record(union(NULL, INT)),
        "expected STRING for column 'f0', the writer's schema has int");
    assertMismatch(
        column(DataType.decimal(5, 2)),
        record(BYTES.decimal(3)),
        "expected DECIMAL(5, 2) for column 'f0', the writer's schema has bytes (decimal of scale 3)");
    assertMismatch(
        required(DataType.INT32),
        record(),
        "column 'f0' is NOT NULL, but the writer's schema lacks the field");
    assertMismatch(
        required(DataType.INT32),
        record(NULL),
        "expected INT for column 'f0', the writer's schema has null");
    AvroType deep = INT;
    for (int i = 0; i < 9; i++) {
      deep = AvroType.array(deep);
    }
    assertMismatch(
        column(DataType.INT32),
        record(INT, deep),
        "the writer's schema has more than 8 arrays and maps in each other");
    assertThat(AvroReader.unsupported(column(DataType.list(DataType.INT32))))
        .contains("field 'f0' has the type ARRAY<INT>");
  }
}

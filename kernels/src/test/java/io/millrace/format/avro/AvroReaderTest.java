// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import static io.millrace.format.avro.AvroRecords.BYTES;
import static io.millrace.format.avro.AvroRecords.DOUBLE;
import static io.millrace.format.avro.AvroRecords.FLOAT;
import static io.millrace.format.avro.AvroRecords.INT;
import static io.millrace.format.avro.AvroRecords.LONG;
import static io.millrace.format.avro.AvroRecords.NULL;
import static io.millrace.format.avro.AvroRecords.STRING;
import static io.millrace.format.avro.AvroRecords.column;
import static io.millrace.format.avro.AvroRecords.datum;
import static io.millrace.format.avro.AvroRecords.record;
import static io.millrace.format.avro.AvroRecords.union;
import static java.util.Collections.nCopies;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.GpuOutOfMemoryException;
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
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class AvroReaderTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final AvroRecords avro = new AvroRecords(device);

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
            avro.rows(
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
    assertThat(avro.values(DataType.INT64, INT, number)).containsExactly((long) Integer.MIN_VALUE);
    assertThat(avro.values(DataType.FLOAT32, INT, number)).containsExactly(-0x1p31f);
    assertThat(avro.values(DataType.FLOAT64, INT, number)).containsExactly(-0x1p31);
    long odd = (1L << 62) + (1L << 38) + 1;
    assertThat(avro.values(DataType.FLOAT32, LONG, datum().number(odd)))
        .containsExactly((float) odd);
    assertThat(avro.values(DataType.FLOAT64, LONG, datum().number(odd)))
        .containsExactly((double) odd);
    assertThat(avro.values(DataType.FLOAT64, FLOAT, datum().real(0.1f), datum().real(Float.NaN)))
        .containsExactly((double) 0.1f, Double.NaN);
    assertThat(avro.values(DataType.INT8, INT, datum().number(-128))).containsExactly((byte) -128);
  }

  @Test
  void textAndBytesBecomeEachOther() {
    AvroDatum text = datum().text("größer 😀");
    assertThat(avro.values(DataType.STRING, BYTES, text)).containsExactly("größer 😀");
    assertThat(avro.values(DataType.BINARY, STRING, datum().sized(new byte[] {-1})))
        .containsExactly(ByteBuffer.wrap(new byte[] {-1}));
    assertThat(avro.values(DataType.BINARY, AvroType.fixed(2), datum().raw(1, 255)))
        .containsExactly(ByteBuffer.wrap(new byte[] {1, -1}));
  }

  @Test
  void anEnumIsAString() {
    AvroType enums = AvroType.enumOf(List.of("RED", "", "a rather long symbol"));
    AvroType other = AvroType.enumOf(List.of("BLUE"));
    Schema schema = Schema.of(Field.of("f1", DataType.STRING), Field.of("f3", DataType.STRING));
    assertThat(
            avro.rows(
                schema,
                record(other, enums, enums, union(NULL, other)),
                datum().number(0).number(2).number(0).number(1).number(0),
                datum().number(0).number(1).number(2).number(0),
                datum().number(0).number(0).number(1).number(1).number(0)))
        .containsExactly(
            List.of("a rather long symbol", "BLUE"),
            Arrays.asList("", null),
            List.of("RED", "BLUE"));
    assertThat(avro.faults(schema, record(other, enums), datum().number(0).number(3)))
        .containsExactly("0@2 the index of a union or an enum is out of range");
  }

  @Test
  void symbolsOfAColumnHaveFewerThanTwoGibibytes() {
    AvroType writer = record(AvroType.enumOf(List.of("x".repeat(1 << 20))));
    List<byte[]> records = nCopies((1 << 11) + 1, datum().number(0).bytes());
    assertThatThrownBy(() -> avro.read(column(DataType.STRING), writer, records))
        .isInstanceOf(GpuOutOfMemoryException.class)
        .hasMessage(
            "expected fewer than 2 Gi bytes of strings in column 'f0', got " + (2049L << 20));
  }

  @Test
  void timesHaveTheirLogicalTypes() {
    AvroType date = INT.withLogicalType(LogicalType.DATE);
    assertThat(avro.values(DataType.DATE, date, datum().number(-1)))
        .containsExactly(LocalDate.of(1969, 12, 31));
    AvroType millis = INT.withLogicalType(LogicalType.TIME_MILLIS);
    assertThat(avro.values(DataType.TIME, millis, datum().number(86_399_999)))
        .containsExactly(LocalTime.of(23, 59, 59, 999_000_000));
    AvroType micros = LONG.withLogicalType(LogicalType.TIME_MICROS);
    assertThat(avro.values(DataType.TIME, micros, datum().number(1_999)))
        .containsExactly(LocalTime.of(0, 0, 0, 1_000_000));
    for (AvroDatum time : List.of(datum().number(-1), datum().number(86_400_000_000L))) {
      assertThat(avro.faults(column(DataType.TIME), record(micros), time).get(0))
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
    assertThat(avro.values(DataType.timestamp(3), millis, least))
        .containsExactly(before.withNano(999_000_000));
    assertThat(avro.values(DataType.timestamp(1), millis, least))
        .containsExactly(before.withNano(900_000_000));
    assertThat(avro.values(DataType.timestamp(0), micros, least)).containsExactly(before);
    assertThat(avro.values(DataType.timestamp(3), micros, least))
        .containsExactly(before.withNano(999_000_000));
    assertThat(avro.values(DataType.timestamp(5), micros, least))
        .containsExactly(before.withNano(999_990_000));
    assertThat(avro.values(DataType.timestamp(6), millis, least))
        .containsExactly(before.withNano(999_000_000));
    assertThat(avro.values(DataType.timestamp(9), nanos, least))
        .containsExactly(before.withNano(999_999_999));
    assertThat(avro.values(DataType.timestamp(7), nanos, least))
        .containsExactly(before.withNano(999_999_900));
    assertThat(avro.values(DataType.timestamp(9), micros, least))
        .containsExactly(before.withNano(999_999_000));
    assertThat(avro.values(DataType.timestamp(9), millis, least))
        .containsExactly(before.withNano(999_000_000));
    assertThat(avro.values(DataType.timestamp(3, true), nanos, least))
        .containsExactly(Instant.ofEpochMilli(-1));
    assertThat(avro.values(DataType.timestamp(6), LONG, least))
        .containsExactly(before.withNano(999_999_000));
    assertThat(
            avro.faults(
                column(DataType.timestamp(6)),
                record(millis),
                datum().number(Long.MAX_VALUE / 1000 + 1)))
        .containsExactly("0@8 column 'f0': the value is not a valid TIMESTAMP(6)");
    assertThat(
            avro.faults(
                column(DataType.timestamp(0)), record(millis), datum().number(Long.MIN_VALUE)))
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
        assertThat(avro.values(type, bytes, datum().sized(shortest), datum().sized(padded)))
            .containsExactly(expected, expected);
        assertThat(avro.values(type, fixed, datum().raw(padded))).containsExactly(expected);
      }
      byte[] tooMany = new byte[17];
      tooMany[0] = 1;
      byte[] otherSign = new byte[17];
      otherSign[1] = -1;
      String reason = "column 'f0': the value is not a valid " + type;
      assertThat(
              avro.faults(
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
            avro.rows(
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
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import static io.millrace.format.avro.AvroRecords.INT;
import static io.millrace.format.avro.AvroRecords.LONG;
import static io.millrace.format.avro.AvroRecords.NULL;
import static io.millrace.format.avro.AvroRecords.STRING;
import static io.millrace.format.avro.AvroRecords.column;
import static io.millrace.format.avro.AvroRecords.datum;
import static io.millrace.format.avro.AvroRecords.record;
import static io.millrace.format.avro.AvroRecords.union;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.testing.DeviceExtension;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Arrays and maps that are read into columns of ARRAY. */
class AvroListTest {
  private static final DataType INTS = DataType.list(DataType.INT32);
  private static final DataType ENTRIES =
      DataType.list(
          DataType.struct(Field.of("key", DataType.STRING), Field.of("value", DataType.INT64)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final AvroRecords avro = new AvroRecords(device);

  @Test
  void elementsComeInBlocks() {
    AvroDatum none = datum().number(0);
    AvroDatum one = datum().number(1).number(7).number(0);
    AvroDatum several =
        datum()
            .number(2)
            .number(1)
            .number(2)
            .number(-1)
            .number(1)
            .number(3)
            .number(1)
            .number(-4)
            .number(0);
    AvroDatum sizeIsWrong = datum().number(-2).number(-9).number(5).number(6).number(0);
    assertThat(avro.values(INTS, AvroType.array(INT), none, one, several, none, sizeIsWrong))
        .containsExactly(List.of(), List.of(7), List.of(1, 2, 3, -4), List.of(), List.of(5, 6));
  }

  @Test
  void elementsAndListsMayBeNull() {
    AvroType writer = union(NULL, AvroType.array(union(INT, NULL)));
    assertThat(
            avro.values(
                INTS,
                writer,
                datum().number(0),
                datum().number(1).number(2).number(1).number(0).number(-1).number(0),
                datum().number(0)))
        .containsExactly(null, Arrays.asList(null, -1), null);
    Schema schema = Schema.of(Field.of("missing", INTS), Field.of("f0", DataType.INT32));
    assertThat(avro.rows(schema, record(INT), datum().number(5)))
        .containsExactly(Arrays.asList(null, 5));
  }

  @Test
  void elementsAreRecordsWithListsInThem() {
    DataType part =
        DataType.struct(
            Field.of("f2", DataType.list(DataType.STRING)), Field.of("f0", DataType.INT32));
    AvroType skipped = AvroType.array(LONG);
    AvroType element = record(INT, skipped, AvroType.array(STRING));
    Schema schema = Schema.of(Field.of("f1", DataType.list(part)), Field.of("f2", DataType.STRING));
    AvroDatum first =
        datum()
            .number(9)
            .number(2)
            .number(1)
            .number(-3)
            .number(2)
            .raw(0xff, 0xff)
            .number(0)
            .number(2)
            .text("a")
            .text("größer")
            .number(0)
            .number(2)
            .number(0)
            .number(0)
            .number(0)
            .text("end");
    AvroDatum second = datum().number(9).number(0).text("");
    assertThat(avro.rows(schema, record(INT, AvroType.array(element), STRING), first, second))
        .containsExactly(
            List.of(List.of(List.of(List.of("a", "größer"), 1), List.of(List.of(), 2)), "end"),
            List.of(List.of(), ""));
  }

  @Test
  void mapsAreListsOfKeysAndValues() {
    AvroDatum entries =
        datum().number(-1).number(3).text("a").number(1).number(1).text("").number(2).number(0);
    assertThat(avro.values(ENTRIES, AvroType.map(LONG), entries, datum().number(0)))
        .containsExactly(List.of(List.of("a", 1L), List.of("", 2L)), List.of());
    avro.assertMismatch(
        column(INTS),
        record(AvroType.map(INT)),
        "expected ARRAY<INT> for column 'f0', the writer's schema has map<int>");
  }

  @Test
  void aUnionMayHaveAnArrayAndAMap() {
    AvroType entry =
        AvroType.record(
            List.of(new AvroType.Field("value", INT), new AvroType.Field("key", STRING)));
    AvroType writer = union(AvroType.array(entry), INT, AvroType.map(LONG));
    assertThat(
            avro.values(
                ENTRIES,
                writer,
                datum().number(0).number(1).number(5).text("a").number(0),
                datum().number(2).number(1).text("b").number(6).number(0)))
        .containsExactly(List.of(List.of("a", 5L)), List.of(List.of("b", 6L)));
    assertThat(avro.faults(column(ENTRIES), record(writer), datum().number(1).number(1)).get(0))
        .endsWith("got another branch of a union");
  }

  @Test
  void eachSchemaHasItsElements() {
    AvroType names = record(AvroType.array(AvroType.enumOf(List.of("A", "B"))), INT);
    AvroType texts = record(union(NULL, AvroType.array(union(NULL, STRING))));
    AvroType others = record(AvroType.array(AvroType.enumOf(List.of("C"))));
    List<byte[]> records =
        List.of(
            datum().id(2).number(1).number(2).number(1).text("x").number(0).number(0).bytes(),
            datum().id(1).number(2).number(1).number(0).number(0).number(4).bytes(),
            datum().id(3).number(1).number(0).number(0).bytes(),
            datum().id(2).number(0).bytes(),
            datum().id(1).number(1).number(1).number(0).number(4).bytes());
    AvroSchemas schemas = id -> Optional.of(id == 1 ? names : id == 2 ? texts : others);
    Schema schema = column(DataType.list(DataType.STRING));
    try (RecordBytes bytes = RecordLines.records(records, device);
        AvroReader reader = new AvroReader(schema, schemas, device.stream(), device.memory());
        ParsedRecords parsed = reader.read(bytes)) {
      assertThat(parsed.malformed()).isEmpty();
      assertThat(device.rows(parsed.table()))
          .containsExactly(
              List.of(Arrays.asList("x", null)),
              List.of(List.of("B", "A")),
              List.of(List.of("C")),
              Arrays.asList((Object) null),
              List.of(List.of("B")));
    }
  }

  @Test
  void aFaultOfAnElementIsOneOfItsRecord() {
    Schema schema =
        Schema.of(
            Field.of("f0", DataType.list(DataType.list(DataType.INT8))),
            Field.of("f1", DataType.INT32));
    AvroType writer = record(AvroType.array(AvroType.array(INT)), INT);
    assertThat(
            avro.faults(
                schema,
                writer,
                datum().number(1).number(1).number(128).number(0).number(0).number(7),
                datum().number(1).number(1).number(-128).number(0).number(0).number(7)))
        .containsExactly("0@4 column 'f0.element.element': the value is not a valid TINYINT");
  }

  @Test
  void damagedCountsCostTheirRecordAlone() {
    AvroType writer = record(AvroType.array(INT));
    String ends = "the record ends within a value";
    assertThat(
            avro.faults(
                column(INTS),
                writer,
                datum().number(1L << 62).number(1).number(2),
                datum().number(Long.MAX_VALUE),
                datum().number(-(1L << 62)).number(3).number(1),
                datum().number(Long.MIN_VALUE).number(3).number(1).number(0),
                datum().number(2).number(1),
                datum().number(-1),
                datum()))
        .containsExactly(
            "0@12 " + ends,
            "1@10 " + ends,
            "2@11 " + ends,
            "3@11 a length is below zero",
            "4@2 " + ends,
            "5@1 " + ends,
            "6@0 " + ends);
  }

  @Test
  void elementsWithoutBytesAreRefused() {
    String message =
        "the writer's schema has no bytes for the elements of column '%s'".formatted("f0");
    DataType rows = DataType.list(DataType.struct(Field.of("f0", DataType.INT32)));
    for (AvroType element : List.of(record(), record(NULL, AvroType.fixed(0)))) {
      avro.assertMismatch(column(rows), record(AvroType.array(element)), message);
    }
    avro.assertMismatch(column(INTS), record(AvroType.array(NULL)), message);
    AvroDatum counted = datum().number(1).number(1L << 62).number(0).number(3).number(0);
    DataType parts = DataType.list(DataType.struct(Field.of("f1", DataType.INT32)));
    AvroType part = record(AvroType.array(record()), INT);
    assertThat(avro.values(parts, AvroType.array(part), counted))
        .containsExactly(List.of(List.of(3)));
  }
}

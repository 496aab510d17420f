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
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Records that name their schemas, several of them in one block. */
class AvroSchemasTest {
  private static final Schema SCHEMA =
      Schema.of(Field.of("id", DataType.INT64), Field.of("name", DataType.STRING));
  private static final AvroType FIRST =
      AvroType.record(List.of(new AvroType.Field("id", AvroRecords.INT)));
  private static final AvroType SECOND =
      AvroType.record(
          List.of(
              new AvroType.Field("name", AvroType.enumOf(List.of("A", "B"))),
              new AvroType.Field("id", AvroRecords.LONG)));
  private static final AvroType THIRD =
      AvroType.record(List.of(new AvroType.Field("name", AvroType.enumOf(List.of("C")))));
  private static final AvroType OTHER =
      AvroType.record(List.of(new AvroType.Field("id", AvroRecords.STRING)));
  private static final int LARGE = 0x80ff_0102;
  private static final Map<Integer, AvroType> TYPES =
      Map.of(1, FIRST, 2, SECOND, LARGE, THIRD, 4, OTHER);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final List<Integer> asked = new ArrayList<>();

  private Optional<AvroType> find(int id) {
    asked.add(id);
    return Optional.ofNullable(TYPES.get(id));
  }

  private AvroReader reader(AvroSchemas schemas) {
    return new AvroReader(SCHEMA, schemas, device.stream(), device.memory());
  }

  private static AvroDatum datum(int id) {
    return new AvroDatum().id(id);
  }

  @Test
  void recordsOfSeveralSchemasKeepTheirOrder() {
    List<byte[]> records = new ArrayList<>();
    List<List<Object>> expected = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      switch (i % 3) {
        case 0 -> records.add(datum(1).number(i).bytes());
        case 1 -> records.add(datum(2).number(i % 2).number(i).bytes());
        default -> records.add(datum(LARGE).number(0).bytes());
      }
      expected.add(
          switch (i % 3) {
            case 0 -> Arrays.asList((long) i, null);
            case 1 -> List.of((long) i, i % 2 == 0 ? "A" : "B");
            default -> Arrays.asList(null, "C");
          });
    }
    try (RecordBytes bytes = RecordLines.records(records, device);
        AvroReader reader = reader(this::find)) {
      for (int i = 0; i < 2; i++) {
        try (ParsedRecords parsed = reader.read(bytes)) {
          assertThat(parsed.malformed()).isEmpty();
          assertThat(device.rows(parsed.table())).isEqualTo(expected);
        }
      }
    }
    assertThat(asked).containsExactlyInAnyOrder(1, 2, LARGE);
  }

  @Test
  void aRecordWithoutASchemaCostsItself() {
    List<byte[]> records =
        List.of(
            datum(1).number(5).bytes(),
            datum(3).number(5).bytes(),
            new byte[] {0, 0, 0, 0},
            new byte[] {1, 0, 0, 0, 1, 10},
            new byte[0],
            datum(4).text("x").bytes(),
            datum(-1).number(5).bytes(),
            datum(1).bytes(),
            datum(2).number(0).number(6).bytes());
    try (RecordBytes bytes = RecordLines.records(records, device);
        AvroReader reader = reader(this::find);
        ParsedRecords parsed = reader.read(bytes);
        ParsedRecords again = reader.read(bytes)) {
      assertThat(device.rows(parsed.table()))
          .containsExactly(Arrays.asList(5L, null), List.of(6L, "A"));
      assertThat(parsed.recordOf(1)).isEqualTo(8);
      String noId = "expected a zero and the id of a schema of 4 bytes";
      assertThat(parsed.malformed())
          .containsExactly(
              new MalformedRecord(1, 6, 6, 0, "schema 3: there is no schema with this id"),
              new MalformedRecord(2, 12, 4, 0, noId),
              new MalformedRecord(3, 16, 6, 0, noId),
              new MalformedRecord(4, 22, 0, 0, noId),
              new MalformedRecord(
                  5,
                  22,
                  7,
                  0,
                  "schema 4: expected BIGINT for column 'id', the writer's schema has string"),
              new MalformedRecord(6, 29, 6, 0, "schema -1: there is no schema with this id"),
              new MalformedRecord(7, 35, 5, 5, "the record ends within a value"));
      assertThat(again.malformed()).isEqualTo(parsed.malformed());
    }
    assertThat(asked).doesNotHaveDuplicates().contains(1, 2, 3, 4, -1);
  }

  @Test
  void aLongReasonIsNotRepeatedWhole() {
    AvroSchemas schemas =
        id -> {
          throw new IllegalArgumentException(id == 1 ? "long ".repeat(1000) : null);
        };
    List<byte[]> records = List.of(datum(1).bytes(), datum(2).bytes());
    try (RecordBytes bytes = RecordLines.records(records, device);
        AvroReader reader = reader(schemas);
        ParsedRecords parsed = reader.read(bytes)) {
      assertThat(parsed.malformed().stream().map(MalformedRecord::reason))
          .containsExactly(
              "schema 1: " + "long ".repeat(100) + "...", "schema 2: its records cannot be read");
    }
  }

  @Test
  void aFailureToFindASchemaFailsTheAttempt() {
    List<Boolean> isUp = new ArrayList<>();
    AvroSchemas schemas =
        id -> {
          if (isUp.isEmpty()) {
            throw new IllegalStateException("not reachable");
          }
          return find(id);
        };
    try (RecordBytes bytes = RecordLines.records(List.of(datum(1).number(5).bytes()), device);
        AvroReader reader = reader(schemas)) {
      assertThatThrownBy(() -> reader.read(bytes))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("not reachable");
      isUp.add(true);
      try (ParsedRecords parsed = reader.read(bytes)) {
        assertThat(device.rows(parsed.table())).containsExactly(Arrays.asList(5L, null));
      }
    }
  }

  @Test
  void noRecords() {
    try (RecordBytes bytes = RecordLines.records(List.of(), device);
        AvroReader reader = reader(this::find);
        ParsedRecords parsed = reader.read(bytes)) {
      assertThat(parsed.table().rowCount()).isZero();
      assertThat(asked).isEmpty();
    }
  }
}

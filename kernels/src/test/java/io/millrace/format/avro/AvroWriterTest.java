// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.WrittenRecords;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class AvroWriterTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  // A nullable column of each type, and one of each type that is not.
  private static Schema schema(boolean isRead) {
    List<Field> fields =
        DataTypes.schema(DataTypes.all()).fields().stream()
            .filter(field -> AvroWriter.unsupported(Schema.of(field)).isEmpty())
            .filter(field -> !isRead || AvroReader.unsupported(Schema.of(field)).isEmpty())
            .toList();
    return new Schema(
        Stream.concat(
                fields.stream(),
                fields.stream().map(field -> new Field("n" + field.name(), field.type(), false)))
            .toList());
  }

  private void assertAsExpected(Table table) {
    try (AvroWriter writer = new AvroWriter(table.schema(), device.stream(), device.memory())) {
      List<byte[]> records = WrittenRecords.of(writer, table, device);
      List<List<Object>> rows = device.rows(table);
      assertThat(records).hasSameSizeAs(rows);
      for (int i = 0; i < records.size(); i++) {
        assertThat(records.get(i))
            .as("%s", rows.get(i))
            .isEqualTo(ReferenceAvro.datum(table.schema().fields(), rows.get(i)));
      }
    }
  }

  @Test
  void rowsOfAllTypes() {
    for (double nulls : new double[] {0, 0.3, 1}) {
      RandomTables tables = new RandomTables(random.random(), nulls);
      try (Table table = tables.generate(schema(false), 129, device);
          Table slice = tables.generateSliced(schema(false), 65, device)) {
        assertAsExpected(table);
        assertAsExpected(slice);
      }
    }
  }

  @RowCountTest
  void rowsAreReadBack(int rowCount) {
    Schema schema = schema(true);
    AvroType type = ReferenceAvro.type(schema.fields());
    try (Table table =
            new RandomTables(random.random(), 0.2).generateSliced(schema, rowCount, device);
        AvroWriter writer = new AvroWriter(schema, device.stream(), device.memory());
        RecordBytes records = writer.write(table);
        AvroReader reader = new AvroReader(schema, type, device.stream(), device.memory());
        ParsedRecords parsed = reader.read(records)) {
      assertThat(parsed.malformed()).isEmpty();
      assertThat(device.rows(parsed.table())).isEqualTo(device.rows(table));
    }
  }

  @Test
  void numbersHaveTheFewestBytes() {
    Schema schema =
        Schema.of(
            new Field("number", DataType.INT64, false),
            new Field("amount", DataType.decimal(38, 0), false));
    List<Long> longs =
        Stream.iterate(1L, bit -> bit << 1)
            .limit(Long.SIZE)
            .flatMap(bit -> Stream.of(bit, bit - 1, -bit, ~bit))
            .toList();
    List<BigDecimal> squares =
        longs.stream().map(BigDecimal::valueOf).map(value -> value.multiply(value)).toList();
    List<BigDecimal> negated = squares.stream().map(BigDecimal::negate).toList();
    for (List<BigDecimal> amounts : List.of(squares, negated)) {
      try (Table table =
          new TableBuilder()
              .column(schema.field(0), longs)
              .column(schema.field(1), amounts)
              .build(device)) {
        assertAsExpected(table);
      }
    }
  }

  @Test
  void theIdOfTheSchemaIsInFront() {
    try (Table table = new TableBuilder().column("a", DataType.INT32, 1, null).build(device);
        AvroWriter writer =
            new AvroWriter(table.schema(), 0x01020304, device.stream(), device.memory())) {
      assertThat(WrittenRecords.of(writer, table, device))
          .containsExactly(
              new AvroDatum().id(0x01020304).number(1).number(1).bytes(),
              new AvroDatum().id(0x01020304).number(0).bytes());
    }
  }

  @Test
  void timestampsOfNanosecondsAreNotWritten() {
    Schema schema =
        Schema.of(
            Field.of("a", DataType.list(DataType.struct(Field.of("b", DataType.timestamp(7))))));
    assertThatThrownBy(() -> new AvroWriter(schema, device.stream(), device.memory()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "rows cannot be written as Avro: column 'a' has timestamps of a precision above 6");
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format.avro;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.connectors.avro.ColumnSchemas;
import io.millrace.format.WrittenRecords;
import io.millrace.format.avro.AvroWriter;
import io.millrace.memory.AccessScope;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.List;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.flink.formats.avro.AvroFormatOptions.AvroEncoding;
import org.apache.flink.formats.avro.AvroRowDataSerializationSchema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@link AvroWriter} and Flink's format {@code avro} write the same bytes. */
class AvroWriterParityTest {
  private static final int ROWS = 200;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  // Flink has no dictionaries.
  private static Schema schema() {
    List<DataType> types =
        DataTypes.all().stream()
            .filter(type -> AvroWriter.unsupported(Schema.of(Field.of("v", type))).isEmpty())
            .filter(type -> !type.isTimestamp() && type.id() != TypeId.DICTIONARY)
            .toList();
    Schema nullable = DataTypes.schema(types);
    return nullable.with(
        nullable.fields().stream()
            .map(field -> new Field("n" + field.name(), field.type(), false))
            .toArray(Field[]::new));
  }

  @Test
  void bytesAreThoseOfFlink() throws Exception {
    RandomTables tables = new RandomTables(random.random(), 0.3);
    try (Table table = tables.generate(schema(), ROWS, device)) {
      assertAsFlink(table);
    }
  }

  @Test
  void timestampsOfMillisecondsAreThoseOfFlink() throws Exception {
    LocalDateTime last = LocalDateTime.of(9999, 12, 31, 23, 59, 59, 999_000_000);
    LocalDateTime first = LocalDateTime.of(1, 1, 1, 0, 0);
    Instant before = Instant.ofEpochMilli(-1);
    try (Table table =
        new TableBuilder()
            .column("local", DataType.timestamp(3), first, null, last)
            .column("instant", DataType.timestamp(3, true), null, before, Instant.EPOCH)
            .build(device)) {
      assertAsFlink(table);
    }
  }

  private void assertAsFlink(Table table) throws Exception {
    Schema schema = table.schema();
    AvroRowDataSerializationSchema flink =
        new AvroRowDataSerializationSchema(
            SchemaConverter.toRowType(schema), AvroEncoding.BINARY, false);
    // The format does not use the context.
    flink.open(null);
    org.apache.avro.Schema written =
        new org.apache.avro.Schema.Parser().parse(ColumnSchemas.text(schema));
    GenericDatumReader<Object> library = new GenericDatumReader<>(written);
    try (Table host = device.copyToHost(table);
        AccessScope scope = AccessScope.on(device.hostStream());
        AvroWriter writer = new AvroWriter(schema, device.stream(), device.memory())) {
      List<byte[]> records = WrittenRecords.of(writer, table, device);
      RowDataDecoder rows = new RowDataDecoder(host, scope);
      for (int row = 0; row < table.rowCount(); row++) {
        assertThat(records.get(row)).isEqualTo(flink.serialize(rows.decode(row)));
        BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(records.get(row), null);
        library.read(null, decoder);
        assertThat(decoder.isEnd()).isTrue();
      }
    }
  }
}

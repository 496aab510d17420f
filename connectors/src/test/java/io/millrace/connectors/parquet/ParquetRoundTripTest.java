// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.column.impl.ColumnWriteStoreV1;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Type;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables of all types are the same after they were written and read. */
class ParquetRoundTripTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @ParameterizedTest
  @CsvSource({
    "ZSTD, true, PARQUET_1_0, 1048576, 0.2",
    "SNAPPY, false, PARQUET_1_0, 100, 0.5",
    "NONE, true, PARQUET_1_0, 500, 0",
    "ZSTD, true, PARQUET_2_0, 100, 0.9",
    "NONE, false, PARQUET_2_0, 2000, 0.3",
    "SNAPPY, true, PARQUET_2_0, 1048576, 1"
  })
  void randomTablesOfAllTypes(
      ParquetCompression compression,
      boolean dictionary,
      WriterVersion version,
      int pageBytes,
      double nullProbability)
      throws Exception {
    Schema schema = DataTypes.schema(DataTypes.all());
    ParquetWriterOptions options =
        ParquetWriterOptions.DEFAULT
            .withCompression(compression)
            .withDictionary(dictionary)
            .withVersion(version)
            .withPageBytes(pageBytes);
    RandomTables tables = new RandomTables(random.random(), nullProbability);
    List<List<Object>> rows = new ArrayList<>();
    List<Table> written = new ArrayList<>();
    try {
      for (int size : List.of(1, 0, 2500, 700)) {
        List<List<Object>> part =
            tables.rows(schema, size).stream()
                .map(row -> ParquetFiles.inRange(row, schema))
                .toList();
        // A slice, whose masks and offsets do not begin at 0.
        int cut = Math.min(part.size(), 1 + random.random().nextInt(70));
        try (Table whole = TableBuilder.ofRows(schema, part).build(device)) {
          written.add(whole.slice(cut, part.size() - cut));
        }
        rows.addAll(part.subList(cut, part.size()));
      }
      byte[] file = ParquetFiles.encode(device, schema, options, written);
      assertThat(ParquetFiles.decode(device, valuesOfDictionaries(schema), file)).isEqualTo(rows);
    } finally {
      written.forEach(Table::close);
    }
  }

  private static Schema valuesOfDictionaries(Schema schema) {
    return ParquetSchema.of(schema).tableSchema();
  }

  @Test
  void schemasAreTheSameAfterwards() {
    List<DataType> types = new ArrayList<>(DataTypes.flat());
    types.addAll(DataTypes.nested());
    List<Field> fields = new ArrayList<>(DataTypes.schema(types).fields());
    fields.add(new Field("required", DataType.INT64, false));
    fields.add(new Field("inner", DataType.struct(new Field("x", DataType.STRING, false)), false));
    Schema schema = new Schema(fields);
    ParquetSchema written = ParquetSchema.of(schema);
    assertThat(ParquetSchema.of(written.elements()).tableSchema()).isEqualTo(schema);
  }

  @Test
  void dictionariesAndStatisticsAreWritten() throws Exception {
    Schema schema =
        Schema.of(
            new Field("id", DataType.INT64, false),
            Field.of("name", DataType.STRING),
            Field.of("x", DataType.FLOAT64));
    List<List<Object>> rows =
        IntStream.range(0, 3000)
            .mapToObj(
                i -> row((long) i, i % 10 == 0 ? null : "name " + i % 7, i == 5 ? Double.NaN : 0.0))
            .toList();
    byte[] file = ParquetFiles.encodeRows(device, schema, ParquetWriterOptions.DEFAULT, rows);
    FileMetaData footer = ParquetFooter.read("test", file);
    List<ColumnMetaData> chunks =
        footer.getRow_groups().get(0).getColumns().stream()
            .map(chunk -> chunk.getMeta_data())
            .toList();
    assertThat(footer.getNum_rows()).isEqualTo(3000);
    assertThat(chunks.get(1).getEncodings()).contains(Encoding.PLAIN_DICTIONARY);
    assertThat(new String(chunks.get(1).getStatistics().getMin_value(), StandardCharsets.UTF_8))
        .isEqualTo("name 0");
    assertThat(new String(chunks.get(1).getStatistics().getMax_value(), StandardCharsets.UTF_8))
        .isEqualTo("name 6");
    assertThat(chunks.get(1).getStatistics().getNull_count()).isEqualTo(300);
    assertThat(chunks.get(0).getStatistics().getMax_value()).startsWith(2999 & 0xff, 2999 >> 8);
    assertThat(chunks.get(2).getStatistics().isSetMin_value()).isFalse();
    assertThat(file).hasSizeLessThan(12_000);
    assertThat(ParquetFiles.decode(device, schema, file)).isEqualTo(rows);
  }

  private static List<Object> row(Object... values) {
    return java.util.Arrays.asList(values);
  }

  @Test
  void timesOfAll64BitNanosecondsAreWritten() throws Exception {
    Schema schema = Schema.of(Field.of("at", DataType.timestamp(9)));
    List<List<Object>> rows =
        LongStream.of(Long.MIN_VALUE, Long.MIN_VALUE + 1, -1, 0, Long.MAX_VALUE)
            .mapToObj(nanos -> LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC).plusNanos(nanos))
            .map(time -> row(time))
            .toList();
    byte[] file = ParquetFiles.encodeRows(device, schema, ParquetWriterOptions.DEFAULT, rows);
    assertThat(ParquetFiles.decode(device, schema, file)).isEqualTo(rows);
  }

  @Test
  void aChunkWithoutADictionaryMovesAlsoIfItsOffsetIs0() {
    ColumnMetaData chunk = new ColumnMetaData().setData_page_offset(4).setDictionary_page_offset(0);
    ParquetFooter.move(chunk, 100);
    assertThat(ParquetFooter.offset(chunk)).isEqualTo(104);
  }

  @Test
  void mapsAreNotWritten() {
    DataType map = DataType.map(Field.of("k", DataType.STRING), Field.of("v", DataType.INT32));
    assertThatThrownBy(() -> ParquetSchema.of(Schema.of(Field.of("m", DataType.list(map)))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has the type MAP<STRING, INT>");
  }

  @Test
  void aTimeThatHasNo64BitNanosecondsFails() {
    Schema schema = Schema.of(Field.of("at", DataType.timestamp(9)));
    List<List<Object>> rows = List.of(List.of(LocalDateTime.of(2300, 1, 1, 0, 0)));
    assertThatThrownBy(
            () -> ParquetFiles.encodeRows(device, schema, ParquetWriterOptions.DEFAULT, rows))
        .hasMessageContaining("column 'at' has a time of 10413792000000 ms since 1970");
  }

  @Test
  void aChangedByteIsFoundByThePagesChecksum() throws Exception {
    Schema schema = Schema.of(Field.of("name", DataType.STRING));
    byte[] file =
        ParquetFiles.encodeRows(
            device,
            schema,
            ParquetWriterOptions.DEFAULT.withDictionary(false),
            List.of(List.of("a"), List.of("b")));
    int page =
        (int)
            ParquetFooter.read("test", file)
                .getRow_groups()
                .get(0)
                .getColumns()
                .get(0)
                .getMeta_data()
                .getTotal_compressed_size();
    file[ParquetFooter.MAGIC_BYTES + page - 1] ^= 1;
    assertThatThrownBy(() -> ParquetFiles.decode(device, schema, file))
        .hasMessageContaining("column 'name' cannot be read: a page does not have the checksum");
  }

  @Test
  void timesOf96BitsAreReadAsNanoseconds() throws Exception {
    MessageType message =
        new MessageType("schema", Types.required(PrimitiveTypeName.INT96).named("at"));
    ColumnChunkBuffer chunk =
        new ColumnChunkBuffer(message.getColumns().get(0), ParquetCompression.NONE);
    ColumnWriteStoreV1 columns =
        new ColumnWriteStoreV1(message, column -> chunk, ParquetProperties.builder().build());
    // The day 2440588 is 1970-01-01.
    ByteBuffer time =
        ByteBuffer.allocate(12)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(3_000_000_007L)
            .putInt(2440589);
    columns
        .getColumnWriter(message.getColumns().get(0))
        .write(Binary.fromConstantByteArray(time.array()), 0, 0);
    columns.endRecord();
    columns.flush();
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.write(ParquetFooter.magic());
    RowGroup rowGroup = new RowGroup(List.of(chunk.writeTo(file, file.size())), 0, 1);
    ParquetFooter.write(
        file,
        List.of(
            new SchemaElement("schema").setNum_children(1),
            new SchemaElement("at")
                .setType(Type.INT96)
                .setRepetition_type(FieldRepetitionType.REQUIRED)),
        List.of(rowGroup));
    Schema schema = Schema.of(Field.of("at", DataType.timestamp(9)));
    assertThat(ParquetFiles.decode(device, schema, file.toByteArray()))
        .isEqualTo(List.of(List.of(LocalDateTime.of(1970, 1, 2, 0, 0, 3, 7))));
  }
}

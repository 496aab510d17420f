// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import static java.util.stream.Collectors.toList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.memory.AccessScope;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableRows;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.bitmap.Bitmap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RowDataRoundTripTest {
  private static final Schema ALL_TYPES =
      DataTypes.schema(
          Stream.of(DataTypes.flat(), DataTypes.nested(), maps()).flatMap(List::stream).toList());

  private static final int SEGMENT_BYTES = 1 << 16;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension randomness = new RandomExtension();

  private static List<DataType> maps() {
    Field text = Field.of("key", DataType.STRING);
    DataType counts = DataType.map(text, Field.of("value", DataType.INT32));
    return List.of(
        counts,
        DataType.map(
            new Field("key", DataType.decimal(30, 2), false),
            new Field("value", DataType.list(counts), false)));
  }

  /** The forms in which an operator can get the same row. */
  enum Form {
    GENERIC,
    HEAP,
    HEAP_WITH_OFFSET,
    OFF_HEAP,
    SEVERAL_SEGMENTS;

    RowData of(RowData generic, RowDataSerializer serializer) {
      return switch (this) {
        case GENERIC -> generic;
        case HEAP -> serializer.toBinaryRow(generic);
        case HEAP_WITH_OFFSET ->
            moveTo(heapSegment(SEGMENT_BYTES), 24, serializer.toBinaryRow(generic));
        case OFF_HEAP ->
            moveTo(
                MemorySegmentFactory.allocateUnpooledOffHeapMemory(SEGMENT_BYTES),
                8,
                serializer.toBinaryRow(generic));
        case SEVERAL_SEGMENTS -> split(serializer.toBinaryRow(generic));
      };
    }
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void rowsInEveryFormBecomeTheSameColumnsAndTheSameBytes(Form form) {
    RandomTables tables = new RandomTables(randomness.random(), 0.3);
    List<List<Object>> rows = tables.rows(ALL_TYPES, 200);
    try (Table table = table(ALL_TYPES, rows, form)) {
      assertThat(TableRows.of(table, device)).isEqualTo(rows);
      assertDecodes(table, rows);
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 1})
  void columnsWithoutAndOfNulls(double nullProbability) {
    List<List<Object>> rows =
        new RandomTables(randomness.random(), nullProbability).rows(ALL_TYPES, 100);
    for (Form form : Form.values()) {
      try (Table table = table(ALL_TYPES, rows, form)) {
        assertThat(TableRows.of(table, device)).isEqualTo(rows);
        assertDecodes(table, rows);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {55, 56, 57, 119, 120, 121})
  void nullsInEveryWordOfTheNullBits(int columns) {
    Schema schema = DataTypes.schema(Collections.nCopies(columns, DataType.INT32));
    List<List<Object>> rows = new RandomTables(randomness.random(), 0.02).rows(schema, 100);
    for (Form form : Form.values()) {
      try (Table table = table(schema, rows, form)) {
        assertThat(TableRows.of(table, device)).isEqualTo(rows);
        assertDecodes(table, rows);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.3, 1})
  void rowsWithoutNestedValuesAreDecodedInAnyOrder(double nullProbability) {
    Schema schema =
        DataTypes.schema(DataTypes.flat().stream().filter(RowBlockEncoder::supports).toList());
    assertThat(schema.size()).isGreaterThan(15);
    List<List<Object>> rows =
        new RandomTables(randomness.random(), nullProbability).rows(schema, 1_000);
    try (Table table = table(schema, rows, Form.GENERIC);
        Table slice = table.slice(37, 900);
        AccessScope scope = AccessScope.on(device.hostStream())) {
      assertDecodes(slice, rows.subList(37, 937));
      RowDataSerializer serializer = new RowDataSerializer(SchemaConverter.toRowType(schema));
      RowDataDecoder decoder = new RowDataDecoder(slice, scope);
      for (int row : new int[] {899, 0, 500, 499, 898, 1}) {
        assertThat(bytes(decoder.decode(row)))
            .isEqualTo(
                bytes(
                    serializer.toBinaryRow(
                        InternalValues.row(schema.fields(), rows.get(37 + row)))));
      }
    }
  }

  @Test
  void slicesAreDecodedFromTheirFirstRow() {
    List<List<Object>> rows = new RandomTables(randomness.random(), 0.3).rows(ALL_TYPES, 100);
    try (Table table = table(ALL_TYPES, rows, Form.GENERIC);
        Table slice = table.slice(37, 50)) {
      assertDecodes(slice, rows.subList(37, 87));
    }
  }

  @Test
  void oneBuilderMakesTableAfterTable() {
    RandomTables tables = new RandomTables(randomness.random(), 0.2);
    try (RowTableBuilder builder =
        new RowTableBuilder(ALL_TYPES, device.hostStream(), device.hostMemory())) {
      RowDataAppender appender = new RowDataAppender(builder);
      for (int size : new int[] {0, 1, 500, 0, 7}) {
        List<List<Object>> rows = tables.rows(ALL_TYPES, size);
        rows.forEach(row -> appender.append(InternalValues.row(ALL_TYPES.fields(), row)));
        try (Table table = builder.finish(size)) {
          assertThat(TableRows.of(table, device)).isEqualTo(rows);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void bitmapsAreBytes(Form form) {
    DataType named = DataType.struct(Field.of("bitmap", DataType.BITMAP));
    Schema schema =
        DataTypes.schema(List.of(DataType.BITMAP, named, DataType.list(DataType.BITMAP)));
    List<List<Object>> rows = new ArrayList<>();
    for (int size : new int[] {0, 1, 3, 5_000}) {
      Bitmap bitmap = Bitmap.fromArray(randomness.random().ints(size, -9, 1 << 20).toArray());
      ByteBuffer bytes = ByteBuffer.wrap(bitmap.toBytes());
      rows.add(List.of(bytes, List.of(bytes), Arrays.asList(bytes, null, bytes)));
    }
    rows.add(Arrays.asList(null, null, null));
    try (Table table = table(schema, rows, form)) {
      assertThat(TableRows.of(table, device)).isEqualTo(rows);
      assertDecodes(table, rows);
    }
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void someFieldsAreAppendedInAnyOrder(Form form) {
    List<List<Object>> rows = new RandomTables(randomness.random(), 0.3).rows(ALL_TYPES, 100);
    List<Integer> positions = IntStream.range(0, ALL_TYPES.size()).boxed().collect(toList());
    Collections.shuffle(positions, randomness.random());
    List<Integer> chosen = positions.subList(0, ALL_TYPES.size() / 2);
    RowType type = SchemaConverter.toRowType(ALL_TYPES);
    RowDataSerializer serializer = new RowDataSerializer(type);
    Schema schema = new Schema(chosen.stream().map(ALL_TYPES::field).toList());
    try (RowTableBuilder builder =
        new RowTableBuilder(schema, device.hostStream(), device.hostMemory())) {
      RowAppender<RowData> appender =
          RowDataAppender.factory(type, chosen.stream().map(List::of).toList()).create(builder);
      rows.forEach(
          row -> appender.append(form.of(InternalValues.row(ALL_TYPES.fields(), row), serializer)));
      try (Table table = builder.finish(rows.size())) {
        assertThat(TableRows.of(table, device))
            .isEqualTo(
                rows.stream()
                    .map(row -> chosen.stream().<Object>map(row::get).collect(toList()))
                    .toList());
      }
    }
  }

  @Test
  void longRowsAreDecodedInBlocksOfTheirOwn() {
    Schema schema = Schema.of(Field.of("id", DataType.INT64), Field.of("text", DataType.STRING));
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      rows.add(List.of((long) i, "x".repeat(i % 1000 == 500 ? 100_000 : i % 12)));
    }
    try (Table table = table(schema, rows, Form.GENERIC)) {
      assertDecodes(table, rows);
    }
  }

  @Test
  void rowsAreAppendedWhereNumbersHaveOtherDigits() {
    Schema schema = Schema.of(Field.of("id", DataType.INT64), Field.of("size", DataType.INT32));
    Locale locale = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-EG"));
    try (RowTableBuilder builder =
        new RowTableBuilder(schema, device.hostStream(), device.hostMemory())) {
      new RowDataAppender(builder).append(GenericRowData.of(1L, 2));
      try (Table table = builder.finish(1)) {
        assertThat(TableRows.of(table, device)).isEqualTo(List.of(List.of(1L, 2)));
      }
    } finally {
      Locale.setDefault(locale);
    }
  }

  @Test
  void rowKindsAreKeptInTheirColumn() {
    Schema schema = RowKindColumn.addTo(Schema.of(Field.of("id", DataType.INT64)));
    try (RowTableBuilder builder =
        new RowTableBuilder(schema, device.hostStream(), device.hostMemory())) {
      RowDataAppender appender = new RowDataAppender(builder);
      for (RowKind kind : RowKind.values()) {
        appender.append(GenericRowData.ofKind(kind, 1L));
      }
      try (Table table = builder.finish(4);
          AccessScope scope = AccessScope.on(device.hostStream())) {
        RowDataDecoder decoder = new RowDataDecoder(table, scope);
        for (RowKind kind : RowKind.values()) {
          assertThat(decoder.decode(kind.toByteValue()).getRowKind()).isEqualTo(kind);
        }
      }
    }
  }

  @Test
  void rowsThatDoNotFitAreRefused() {
    Schema schema = Schema.of(new Field("id", DataType.INT64, false));
    try (RowTableBuilder builder =
        new RowTableBuilder(schema, device.hostStream(), device.hostMemory())) {
      RowDataAppender appender = new RowDataAppender(builder);
      assertThatThrownBy(() -> appender.append(GenericRowData.ofKind(RowKind.DELETE, 1L)))
          .hasMessageContaining("DELETE")
          .hasMessageContaining("RowKindColumn");
      assertThatThrownBy(() -> appender.append(GenericRowData.of((Object) null)))
          .hasMessageContaining("column 'id' is NOT NULL and the row has a null in it");
      assertThatThrownBy(() -> appender.append(GenericRowData.of(1L, 2L)))
          .hasMessageContaining("2 fields");
      assertThatThrownBy(() -> appender.append(GenericRowData.of("one")))
          .hasMessageContaining("does not have the type of column 'id BIGINT NOT NULL'");
    }
  }

  @ParameterizedTest
  @EnumSource(Form.class)
  void nullsOfNotNullFieldsWithinOthersAreRefused(Form form) {
    Field member = new Field("member", DataType.INT64, false);
    DataType row = DataType.struct(Field.of("other", DataType.STRING), member);
    Field element = new Field("element", row, false);
    DataType list = new DataType(TypeId.LIST, 0, 0, false, List.of(element));
    List<Object> complete = Arrays.asList("x", 1L);
    List<Object> lacking = Arrays.asList("x", null);
    assertNullIsRefused(row, complete, lacking, "member", form);
    assertNullIsRefused(list, List.of(complete), List.of(complete, lacking), "member", form);
    assertNullIsRefused(list, List.of(), Arrays.asList(complete, null), "element", form);
  }

  private void assertNullIsRefused(
      DataType type, Object accepted, Object refused, String field, Form form) {
    Schema schema = Schema.of(Field.of("column", type));
    List<List<Object>> rows = List.of(List.of(accepted), Arrays.asList((Object) null));
    try (Table table = table(schema, rows, form)) {
      assertThat(TableRows.of(table, device)).isEqualTo(rows);
    }
    // Flink's serializers write the null of a field that they are told is NOT NULL as another
    // value.
    Schema nullable = Schema.of(Field.of("column", nullable(type)));
    RowData row =
        form.of(
            InternalValues.row(nullable.fields(), List.of(refused)),
            new RowDataSerializer(SchemaConverter.toRowType(nullable)));
    try (RowTableBuilder builder =
        new RowTableBuilder(schema, device.hostStream(), device.hostMemory())) {
      assertThatThrownBy(() -> new RowDataAppender(builder).append(row))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("column '" + field + "' is NOT NULL and the row has a null in it");
    }
  }

  private static DataType nullable(DataType type) {
    return new DataType(
        type.id(),
        type.precision(),
        type.scale(),
        type.withTimeZone(),
        type.fields().stream()
            .map(field -> Field.of(field.name(), nullable(field.type())))
            .toList());
  }

  private Table table(Schema schema, List<List<Object>> rows, Form form) {
    RowDataSerializer serializer = new RowDataSerializer(SchemaConverter.toRowType(schema));
    try (RowTableBuilder builder =
        new RowTableBuilder(schema, device.hostStream(), device.hostMemory())) {
      RowDataAppender appender = new RowDataAppender(builder);
      for (List<Object> row : rows) {
        appender.append(form.of(InternalValues.row(schema.fields(), row), serializer));
      }
      return builder.finish(rows.size());
    }
  }

  private void assertDecodes(Table table, List<List<Object>> rows) {
    Schema schema = table.schema();
    RowDataSerializer serializer = new RowDataSerializer(SchemaConverter.toRowType(schema));
    try (AccessScope scope = AccessScope.on(device.hostStream())) {
      RowDataDecoder decoder = new RowDataDecoder(table, scope);
      for (int i = 0; i < rows.size(); i++) {
        BinaryRowData expected =
            serializer.toBinaryRow(InternalValues.row(schema.fields(), rows.get(i)));
        assertThat(bytes(decoder.decode(i))).isEqualTo(bytes(expected));
      }
    }
  }

  private static byte[] bytes(BinaryRowData row) {
    byte[] bytes = new byte[row.getSizeInBytes()];
    row.getSegments()[0].get(row.getOffset(), bytes);
    return bytes;
  }

  private static MemorySegment heapSegment(int bytes) {
    return MemorySegmentFactory.allocateUnpooledSegment(bytes);
  }

  private static BinaryRowData moveTo(MemorySegment segment, int offset, BinaryRowData row) {
    segment.put(offset, bytes(row));
    BinaryRowData moved = new BinaryRowData(row.getArity());
    moved.pointTo(segment, offset, row.getSizeInBytes());
    return moved;
  }

  // The format keeps the slots in the first segment; all segments have one size.
  private static BinaryRowData split(BinaryRowData row) {
    int segmentBytes = Integer.highestOneBit(row.getFixedLengthPartSize()) * 2;
    ByteBuffer bytes = ByteBuffer.wrap(bytes(row));
    MemorySegment[] segments =
        new MemorySegment[(bytes.remaining() + segmentBytes - 1) / segmentBytes];
    for (int i = 0; i < segments.length; i++) {
      segments[i] = heapSegment(segmentBytes);
      segments[i].put(0, bytes, Math.min(segmentBytes, bytes.remaining()));
    }
    BinaryRowData split = new BinaryRowData(row.getArity());
    split.pointTo(segments, 0, row.getSizeInBytes());
    return split;
  }
}

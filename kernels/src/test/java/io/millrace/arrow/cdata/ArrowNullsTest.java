// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowImporter;
import io.millrace.arrow.ArrowSchemaConverter;
import io.millrace.arrow.Borders;
import io.millrace.arrow.Borders.Border;
import io.millrace.arrow.ipc.ArrowIpcStreamReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.testing.DataTypes;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.Data;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.Test;

/** Nulls in columns of which another producer says that they are NOT NULL, at each border. */
class ArrowNullsTest extends ArrowCDeviceTestCase {
  private static final Object NULL_STRUCT = null;

  private Map<String, Border> borders() {
    return new Borders(device, allocator).all();
  }

  private static Object struct(Object value) {
    return Collections.singletonList(value);
  }

  private static DataType structOf(boolean nullable, DataType type) {
    return DataType.struct(new Field("a", type, nullable));
  }

  private static DataType listOf(boolean nullable, DataType type) {
    return new DataType(TypeId.LIST, 0, 0, false, List.of(new Field("element", type, nullable)));
  }

  private void assertRefused(DataType type, Field claimed, String message, Object... values) {
    try (Table table = new TableBuilder().column("x", type, values).build(device)) {
      borders()
          .forEach(
              (name, border) ->
                  assertThatThrownBy(() -> border.cross(table, Schema.of(claimed)).close())
                      .as(name)
                      .isInstanceOf(ArrowFormatException.class)
                      .hasMessage(message));
    }
  }

  private void assertTaken(DataType type, Field claimed, Object... values) throws IOException {
    try (Table table = new TableBuilder().column("x", type, values).build(device)) {
      for (Border border : borders().values()) {
        try (Table taken = border.cross(table, Schema.of(claimed))) {
          assertThat(taken.schema().field(0)).isEqualTo(claimed);
          assertThat(device.rows(taken)).isEqualTo(device.rows(table));
        }
      }
    }
  }

  @Test
  void nullsOfANotNullColumnAreRefused() {
    for (DataType type : DataTypes.flat()) {
      Object value = new RandomTables(random.random(), 0).value(type);
      assertRefused(
          type,
          new Field("x", type, false),
          "column 'x' is NOT NULL and has 2 nulls",
          value,
          null,
          value,
          null);
    }
  }

  @Test
  void aNotNullColumnWithoutNullsIsTaken() throws IOException {
    assertTaken(DataType.INT64, new Field("x", DataType.INT64, false), 1, 2, 3);
    assertTaken(DataType.STRING, new Field("x", DataType.STRING, false), "a", "");
  }

  @Test
  void nullsOfNotNullMembersOfStructsThatAreNotNullAreRefused() {
    assertRefused(
        structOf(true, DataType.INT64),
        Field.of("x", structOf(false, DataType.INT64)),
        "column 'x.a' is NOT NULL and has 1 nulls",
        struct(1),
        struct(null),
        NULL_STRUCT);
    assertRefused(
        structOf(true, structOf(true, DataType.STRING)),
        Field.of("x", structOf(true, structOf(false, DataType.STRING))),
        "column 'x.a.a' is NOT NULL and has 1 nulls",
        struct(struct("s")),
        struct(struct(null)),
        struct(null));
  }

  @Test
  void nullsOfNotNullElementsAreRefused() {
    assertRefused(
        listOf(true, DataType.INT64),
        Field.of("x", listOf(false, DataType.INT64)),
        "column 'x.element' is NOT NULL and has 2 nulls",
        List.of(1),
        null,
        Arrays.asList(2, null),
        Arrays.asList(null, 3));
    assertRefused(
        listOf(true, structOf(true, DataType.INT32)),
        Field.of("x", listOf(true, structOf(false, DataType.INT32))),
        "column 'x.element.a' is NOT NULL and has 1 nulls",
        List.of(struct(1)),
        Arrays.asList(struct(null), null));
  }

  @Test
  void nullMembersOfNullStructsAreTaken() throws IOException {
    Schema schema = Schema.of(Field.of("x", structOf(false, DataType.INT64)));
    try (VectorSchemaRoot root =
        VectorSchemaRoot.create(ArrowSchemaConverter.toArrow(schema), allocator)) {
      StructVector structs = (StructVector) root.getVector(0);
      BigIntVector members = (BigIntVector) structs.getChild("a");
      members.setSafe(1, 7L);
      structs.setIndexDefined(1);
      root.setRowCount(3);
      assertThat(members.getNullCount()).isEqualTo(2);
      try (Table ofVectors = new Borders(device, allocator).vectors(root);
          Table table = device.copyToDevice(ofVectors)) {
        assertThat(device.rows(table))
            .isEqualTo(List.of(struct(NULL_STRUCT), struct(struct(7L)), struct(NULL_STRUCT)));
        borders()
            .forEach(
                (name, border) -> {
                  try (Table taken = border.cross(table, schema)) {
                    assertThat(device.rows(taken)).as(name).isEqualTo(device.rows(table));
                  } catch (IOException e) {
                    throw new AssertionError(e);
                  }
                });
        structs.setIndexDefined(0);
        assertThatThrownBy(() -> new Borders(device, allocator).vectors(root).close())
            .hasMessage("column 'x.a' is NOT NULL and has 1 nulls");
      }
    }
  }

  /** A way in for vectors with dictionaries. */
  private interface DictionaryBorder {
    Table cross(VectorSchemaRoot root, MapDictionaryProvider dictionaries) throws IOException;
  }

  private Map<String, DictionaryBorder> dictionaryBorders() {
    return Map.of(
        "vectors",
        (root, dictionaries) ->
            new ArrowImporter(device.hostStream(), device.hostMemory())
                .importTable(root, dictionaries),
        "IPC stream",
        this::throughStream,
        "C data",
        this::throughCData,
        "C device",
        this::throughCDevice);
  }

  private Table throughStream(VectorSchemaRoot root, MapDictionaryProvider dictionaries)
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ArrowStreamWriter writer =
        new ArrowStreamWriter(root, dictionaries, Channels.newChannel(bytes))) {
      writer.writeBatch();
    }
    try (ArrowIpcStreamReader reader =
        new ArrowIpcStreamReader(
            Channels.newChannel(new ByteArrayInputStream(bytes.toByteArray())),
            device.hostStream(),
            device.hostMemory())) {
      return reader.read().orElseThrow();
    }
  }

  private Table throughCData(VectorSchemaRoot root, MapDictionaryProvider dictionaries)
      throws IOException {
    try (ArrowArray array = ArrowArray.allocateNew(allocator);
        ArrowSchema schema = ArrowSchema.allocateNew(allocator)) {
      Data.exportVectorSchemaRoot(allocator, root, dictionaries, array, schema);
      return new ArrowCDataInterface(allocator, device.hostStream(), device.hostMemory())
          .importTable(array, schema);
    }
  }

  /** The table is a copy, since the array that it is imported from is released. */
  private Table throughCDevice(VectorSchemaRoot root, MapDictionaryProvider dictionaries)
      throws IOException {
    ArrowSchema schema = closedAfterwards(ArrowSchema.allocateNew(allocator));
    Data.exportSchema(allocator, root.getSchema(), dictionaries, schema);
    try (ArrowDeviceArray array = UploadedVectors.of(root, dictionaries, device);
        Table imported =
            importer().fromArrowDevice(schema, array, device.stream(), device.memory())) {
      Table copy = device.copyToDevice(imported);
      device.stream().synchronize();
      return copy;
    }
  }

  @Test
  void codesOfNullValuesAreNullsOfNotNullColumns() throws IOException {
    ArrowType.Int index = new ArrowType.Int(32, true);
    DictionaryEncoding encoding = new DictionaryEncoding(3, false, index);
    for (boolean nullable : new boolean[] {true, false}) {
      try (VarCharVector words = new VarCharVector("words", allocator);
          IntVector codes =
              new IntVector(
                  new org.apache.arrow.vector.types.pojo.Field(
                      "word", new FieldType(nullable, index, encoding), null),
                  allocator)) {
        words.setSafe(0, "a".getBytes(StandardCharsets.UTF_8));
        words.setSafe(2, "c".getBytes(StandardCharsets.UTF_8));
        words.setValueCount(3);
        MapDictionaryProvider provider = new MapDictionaryProvider(new Dictionary(words, encoding));
        codes.setSafe(0, 0);
        codes.setSafe(1, 2);
        codes.setValueCount(2);
        VectorSchemaRoot root = VectorSchemaRoot.of(codes);
        for (Map.Entry<String, DictionaryBorder> border : dictionaryBorders().entrySet()) {
          try (Table table = border.getValue().cross(root, provider)) {
            assertThat(device.rows(table))
                .as(border.getKey())
                .isEqualTo(List.of(List.of("a"), List.of("c")));
          }
        }
        codes.setSafe(1, 1);
        for (Map.Entry<String, DictionaryBorder> border : dictionaryBorders().entrySet()) {
          if (nullable) {
            try (Table table = border.getValue().cross(root, provider)) {
              assertThat(device.rows(table))
                  .as(border.getKey())
                  .isEqualTo(List.of(List.of("a"), Arrays.asList((Object) null)));
            }
          } else {
            assertThatThrownBy(() -> border.getValue().cross(root, provider).close())
                .as(border.getKey())
                .isInstanceOf(ArrowFormatException.class)
                .hasMessage("column 'word' is NOT NULL and has 1 nulls");
          }
        }
      }
    }
  }
}

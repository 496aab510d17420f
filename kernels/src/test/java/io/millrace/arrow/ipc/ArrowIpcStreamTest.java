// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.ipc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ArrowExporter;
import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.SuspectTables;
import io.millrace.arrow.VectorRows;
import io.millrace.arrow.cdata.NestedDictionaries;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ArrowIpcStreamTest {
  private static final Schema SCHEMA = DataTypes.schema(DataTypes.all());
  private static final int[] ROW_COUNTS = {0, 1, 33, 1000, 0};

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<List<List<Object>>> randomBatches() {
    RandomTables tables = new RandomTables(random.random(), 0.3);
    List<List<List<Object>>> batches = new ArrayList<>();
    for (int rowCount : ROW_COUNTS) {
      batches.add(tables.rows(SCHEMA, rowCount));
    }
    return batches;
  }

  private ArrowIpcStreamReader open(byte[] bytes) throws IOException {
    return new ArrowIpcStreamReader(
        Channels.newChannel(new ByteArrayInputStream(bytes)),
        device.hostStream(),
        device.hostMemory());
  }

  private List<List<List<Object>>> read(byte[] bytes, Schema schema) throws IOException {
    List<List<List<Object>>> batches = new ArrayList<>();
    try (ArrowIpcStreamReader reader = open(bytes)) {
      assertThat(reader.schema()).isEqualTo(schema);
      for (Optional<Table> next = reader.read(); next.isPresent(); next = reader.read()) {
        try (Table table = next.get()) {
          batches.add(device.rows(table));
        }
      }
    }
    return batches;
  }

  @Test
  void tablesAreReadBack() throws IOException {
    List<List<List<Object>>> batches = randomBatches();
    assertThat(read(EncodedStream.of(device, SCHEMA, batches), SCHEMA)).isEqualTo(batches);
  }

  @Test
  void dictionariesWithinOthersAreReadBack() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Schema schema;
    try (Table table = NestedDictionaries.table(device);
        ArrowIpcStreamWriter writer =
            new ArrowIpcStreamWriter(
                table.schema(),
                Channels.newChannel(bytes),
                device.hostStream(),
                device.hostMemory())) {
      schema = table.schema();
      writer.write(table);
    }
    assertThat(read(bytes.toByteArray(), schema)).containsExactly(NestedDictionaries.ROWS);
  }

  @Test
  void arrowReadsWhatIsWritten() throws IOException {
    List<List<List<Object>>> batches = randomBatches();
    List<List<List<Object>>> read = new ArrayList<>();
    try (BufferAllocator allocator = new RootAllocator();
        ArrowStreamReader reader =
            new ArrowStreamReader(
                new ByteArrayInputStream(EncodedStream.of(device, SCHEMA, batches)), allocator)) {
      VectorSchemaRoot root = reader.getVectorSchemaRoot();
      while (reader.loadNextBatch()) {
        read.add(VectorRows.of(root, SCHEMA, provider(reader)));
      }
    }
    assertThat(read).isEqualTo(batches);
  }

  private static DictionaryProvider provider(ArrowStreamReader reader) throws IOException {
    MapDictionaryProvider provider = new MapDictionaryProvider();
    reader.getDictionaryVectors().values().forEach(provider::put);
    return provider;
  }

  @Test
  void whatArrowWritesIsRead() throws IOException {
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(SCHEMA, 77);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (BufferAllocator allocator = new RootAllocator();
        MapDictionaryProvider dictionaries = new MapDictionaryProvider();
        Table table = TableBuilder.ofRows(SCHEMA, rows).buildOnHost(device);
        VectorSchemaRoot root =
            new ArrowExporter(allocator, device.hostStream(), device.hostMemory())
                .export(table, dictionaries, device.hostStream());
        ArrowStreamWriter writer = new ArrowStreamWriter(root, dictionaries, bytes)) {
      writer.writeBatch();
      writer.writeBatch();
    }
    assertThat(read(bytes.toByteArray(), SCHEMA)).containsExactly(rows, rows);
  }

  @Test
  void aStreamMayEndWithoutMarker() throws IOException {
    List<List<List<Object>>> batches = randomBatches();
    byte[] bytes = EncodedStream.of(device, SCHEMA, batches);
    byte[] unmarked = Arrays.copyOf(bytes, bytes.length - 8);
    assertThat(read(unmarked, SCHEMA)).isEqualTo(batches);
  }

  @Test
  void cutStreamsAreRefused() throws IOException {
    List<List<List<Object>>> batches =
        List.of(new RandomTables(random.random(), 0.3).rows(SCHEMA, 10));
    byte[] bytes = EncodedStream.of(device, SCHEMA, batches);
    Random cuts = random.random();
    int refused = 0;
    for (int size = 1; size < bytes.length - 8; size += 1 + cuts.nextInt(50)) {
      byte[] cut = Arrays.copyOf(bytes, size);
      try {
        assertThat(read(cut, SCHEMA)).isEmpty();
      } catch (ArrowFormatException e) {
        assertThat(e).hasMessageContaining("cut short");
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(10);
  }

  @Test
  void corruptStreamsAreRefusedOrReadable() throws IOException {
    Random faults = random.random();
    byte[] bytes =
        EncodedStream.of(
            device, SCHEMA, List.of(new RandomTables(random.random(), 0.3).rows(SCHEMA, 10)));
    LimitingResourceAdaptor limited = new LimitingResourceAdaptor(device.hostMemory(), 1 << 24);
    int refused = 0;
    for (int i = 0; i < 1_000; i++) {
      byte[] corrupt = bytes.clone();
      for (int flips = faults.nextInt(4); flips >= 0; flips--) {
        corrupt[faults.nextInt(bytes.length)] = (byte) faults.nextInt(256);
      }
      try (ArrowIpcStreamReader reader =
          new ArrowIpcStreamReader(
              Channels.newChannel(new ByteArrayInputStream(corrupt)),
              device.hostStream(),
              limited)) {
        for (Optional<Table> next = reader.read(); next.isPresent(); next = reader.read()) {
          SuspectTables.readStart(next.get(), device);
        }
      } catch (ArrowFormatException | IllegalArgumentException | GpuOutOfMemoryException e) {
        assertThat(e.getMessage()).isNotEmpty();
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(100);
    assertThat(limited.heldBytes()).isZero();
  }

  // Two batches of the same rows, the second without the first row, written by pyarrow 25.0.1.
  @Test
  void whatPyArrowWroteIsRead() throws IOException {
    List<Object> nulls = new ArrayList<>(Collections.nCopies(20, null));
    nulls.set(18, "a");
    List<List<Object>> rows =
        List.of(
            List.of(
                true,
                (byte) 1,
                1L,
                1.5,
                new BigDecimal("-999.99"),
                new BigDecimal("-1234567890123456789012345678.0123456789"),
                LocalDate.of(1969, 12, 31),
                LocalTime.of(1, 2, 3),
                LocalTime.of(1, 2, 3, 4_000_000),
                LocalDateTime.of(1969, 12, 31, 23, 59, 59),
                Instant.parse("1969-12-31T23:59:59.999999Z"),
                LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999_999_999),
                "",
                "",
                ByteBuffer.wrap(new byte[1]),
                Arrays.asList(1, null),
                Arrays.asList("a", null),
                List.of((short) 1, Arrays.asList(List.of("q"), null)),
                "b",
                "q"),
            nulls,
            Arrays.asList(
                false,
                (byte) -128,
                Long.MIN_VALUE,
                -0.0,
                new BigDecimal("0.01"),
                new BigDecimal("1.0000000000"),
                LocalDate.of(2026, 11, 21),
                LocalTime.MIDNIGHT,
                LocalTime.MIDNIGHT,
                LocalDateTime.of(1970, 1, 1, 0, 0),
                Instant.EPOCH,
                LocalDateTime.of(2001, 9, 9, 1, 46, 40),
                "€😀",
                "€😀",
                ByteBuffer.allocate(0),
                List.of(),
                List.of(),
                Arrays.asList(null, List.of()),
                null,
                "p"));
    try (InputStream stream = getClass().getResourceAsStream("pyarrow.arrows")) {
      byte[] bytes = stream.readAllBytes();
      Schema schema;
      try (ArrowIpcStreamReader reader = open(bytes)) {
        schema = reader.schema();
      }
      assertThat(read(bytes, schema)).containsExactly(rows, rows.subList(1, 3));
    }
  }

  private static byte[] withNames(String... names) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (BufferAllocator allocator = new RootAllocator()) {
      List<FieldVector> vectors = new ArrayList<>();
      for (String name : names) {
        Field field = new Field(name, FieldType.nullable(new ArrowType.Int(32, true)), null);
        IntVector vector = new IntVector(field, allocator);
        vector.setSafe(0, vectors.size());
        vector.setValueCount(1);
        vectors.add(vector);
      }
      try (VectorSchemaRoot root = new VectorSchemaRoot(vectors);
          ArrowStreamWriter writer = new ArrowStreamWriter(root, null, bytes)) {
        writer.writeBatch();
      }
    }
    return bytes.toByteArray();
  }

  @Test
  void aFieldWithoutANameHasTheEmptyName() throws IOException {
    Schema schema =
        Schema.of(DataType.Field.of("a", DataType.INT32), DataType.Field.of("", DataType.INT32));
    assertThat(read(withNames("a", null), schema)).containsExactly(List.of(List.of(0, 1)));
    assertThatThrownBy(() -> open(withNames(null, null)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("''");
  }

  @Test
  void anEmptyStreamIsRefused() {
    assertThatThrownBy(() -> open(new byte[0]))
        .isInstanceOf(ArrowFormatException.class)
        .hasMessage("the stream is empty");
  }

  @Test
  void tablesOfAnotherSchemaAreRefused() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ArrowIpcStreamWriter writer =
            new ArrowIpcStreamWriter(
                SCHEMA, Channels.newChannel(bytes), device.hostStream(), device.hostMemory());
        Table table = new TableBuilder().column("x", DataType.INT8, 1).buildOnHost(device)) {
      assertThatThrownBy(() -> writer.write(table))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("(x TINYINT)");
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.cdata.NestedDictionaries;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.TimeMicroVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeSecVector;
import org.apache.arrow.vector.TimeStampNanoVector;
import org.apache.arrow.vector.TimeStampSecTZVector;
import org.apache.arrow.vector.UInt2Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArrowVectorsTest {
  private static final Schema SCHEMA = DataTypes.schema(DataTypes.all());
  private static final double[] NULL_PROBABILITIES = {0, 0.3, 1};

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final BufferAllocator allocator = new RootAllocator();
  private final MapDictionaryProvider dictionaries = new MapDictionaryProvider();

  // Fails if memory is still counted.
  @AfterEach
  void closeAllocator() {
    dictionaries.close();
    allocator.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 1000})
  void everyTypeComesBack(int rowCount) throws ArrowFormatException {
    Random values = random.random();
    for (double nullProbability : NULL_PROBABILITIES) {
      List<List<Object>> rows = new RandomTables(values, nullProbability).rows(SCHEMA, rowCount);
      try (Table table = TableBuilder.ofRows(SCHEMA, rows).build(device)) {
        assertComesBack(table, rows);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 1000})
  void slicesComeBack(int rowCount) throws ArrowFormatException {
    Random values = random.random();
    for (int before : new int[] {1, 7, 8, 64, 77}) {
      int whole = before + rowCount + values.nextInt(10);
      List<List<Object>> rows = new RandomTables(values, 0.3).rows(SCHEMA, whole);
      try (Table table = TableBuilder.ofRows(SCHEMA, rows).build(device);
          Table slice = table.slice(before, rowCount)) {
        assertComesBack(slice, rows.subList(before, before + rowCount));
      }
    }
  }

  private void assertComesBack(Table table, List<List<Object>> rows) throws ArrowFormatException {
    try (MapDictionaryProvider own = new MapDictionaryProvider();
        VectorSchemaRoot root = exporter().export(table, own, device.stream())) {
      assertThat(VectorRows.of(root, table.schema(), own)).isEqualTo(rows);
      try (Table imported = importer().importTable(root, own)) {
        assertThat(imported.schema()).isEqualTo(table.schema());
        assertThat(device.rows(imported)).isEqualTo(rows);
        for (int i = 0; i < table.columnCount(); i++) {
          assertThat(imported.column(i).isNullCountKnown()).isTrue();
          assertThat(imported.column(i).nullCount(device.hostStream()))
              .isEqualTo(table.column(i).nullCount(device.stream()));
        }
      }
    }
  }

  private ArrowExporter exporter() {
    return new ArrowExporter(allocator, device.hostStream(), device.hostMemory());
  }

  private ArrowImporter importer() {
    return new ArrowImporter(device.hostStream(), device.hostMemory());
  }

  @Test
  void fixedWidthDataAndStringsAreSharedBothWays() throws ArrowFormatException {
    try (Table table =
        new TableBuilder()
            .column("id", DataType.INT64, 1, 2, 3)
            .column("name", DataType.STRING, "x", "", "z")
            .buildOnHost(device)) {
      long held = device.hostMemory().heldBytes();
      VectorSchemaRoot root = exporter().export(table, dictionaries, device.hostStream());
      Table imported = importer().importTable(root, dictionaries);
      assertThat(device.hostMemory().heldBytes()).isEqualTo(held);
      for (int i = 0; i < 2; i++) {
        assertThat(address(imported, i)).isEqualTo(address(table, i));
      }
      assertThat(root.getVector("id").getDataBufferAddress()).isEqualTo(address(table, 0));
      root.close();
      imported.close();
    }
  }

  private long address(Table table, int column) {
    try (AccessScope scope = AccessScope.on(device.hostStream())) {
      return table.column(column).data().orElseThrow().access(AccessMode.READ, scope);
    }
  }

  @Test
  void eachSideMayBeClosedFirst() throws ArrowFormatException {
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(SCHEMA, 50);
    Table table = TableBuilder.ofRows(SCHEMA, rows).buildOnHost(device);
    VectorSchemaRoot root = exporter().export(table, dictionaries, device.hostStream());
    table.close();
    assertThat(VectorRows.of(root, SCHEMA, dictionaries)).isEqualTo(rows);
    Table imported = importer().importTable(root, dictionaries);
    root.close();
    dictionaries.close();
    assertThat(device.rows(imported)).isEqualTo(rows);
    imported.close();
  }

  @Test
  void pinnedVectorsGoToTheDevice() throws ArrowFormatException {
    long stagingBefore = device.device().stagingPool().heldBytes();
    try (BufferAllocator pinned =
            PinnedAllocationManagerFactory.allocator(device.device(), 1 << 20);
        BigIntVector vector = new BigIntVector("id", pinned)) {
      vector.allocateNew(100);
      for (int i = 0; i < 100; i++) {
        vector.set(i, i * 10L);
      }
      vector.setNull(7);
      vector.setValueCount(100);
      assertThat(device.device().stagingPool().heldBytes()).isGreaterThan(stagingBefore);
      try (Table host = importer().importTable(VectorSchemaRoot.of(vector), dictionaries);
          Table onDevice = device.copyToDevice(host)) {
        assertThat(address(host, 0)).isEqualTo(vector.getDataBufferAddress());
        List<List<Object>> rows = device.rows(onDevice);
        assertThat(rows.get(99).get(0)).isEqualTo(990L);
        assertThat(rows.get(7).get(0)).isNull();
      }
    }
    assertThat(device.device().stagingPool().heldBytes()).isEqualTo(stagingBefore);
  }

  @Test
  void theAllocatorsLimitHoldsForSharedMemory() {
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(SCHEMA, 1000);
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).buildOnHost(device);
        BufferAllocator small = allocator.newChildAllocator("small", 0, 100_000)) {
      ArrowExporter exporter = new ArrowExporter(small, device.hostStream(), device.hostMemory());
      assertThatThrownBy(() -> exporter.export(table, dictionaries, device.hostStream()).close())
          .isInstanceOf(OutOfMemoryException.class);
    }
  }

  @Test
  void importsThatFailLeaveNothingOpen() throws ArrowFormatException {
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(SCHEMA, 1000);
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).buildOnHost(device);
        VectorSchemaRoot root = exporter().export(table, dictionaries, device.hostStream())) {
      LimitingResourceAdaptor limited = new LimitingResourceAdaptor(device.hostMemory(), 20_000);
      ArrowImporter importer = new ArrowImporter(device.hostStream(), limited);
      assertThatThrownBy(() -> importer.importTable(root, dictionaries).close())
          .hasMessageContaining("20000");
      assertThat(limited.heldBytes()).isZero();
    }
  }

  @Test
  void otherUnitsAreConverted() throws ArrowFormatException {
    try (TimeStampSecTZVector seconds = new TimeStampSecTZVector("s", allocator, "UTC");
        TimeStampNanoVector nanos = new TimeStampNanoVector("ns", allocator);
        TimeSecVector timeSeconds = new TimeSecVector("ts", allocator);
        TimeMicroVector timeMicros = new TimeMicroVector("tus", allocator);
        TimeNanoVector timeNanos = new TimeNanoVector("tns", allocator)) {
      seconds.setSafe(0, -1);
      nanos.setSafe(0, -1);
      timeSeconds.setSafe(0, 3);
      timeMicros.setSafe(0, 3_000_999);
      timeNanos.setSafe(0, 3_000_999_999L);
      LocalTime time = LocalTime.ofSecondOfDay(3);
      assertThat(importColumns(seconds, nanos, timeSeconds, timeMicros, timeNanos))
          .containsExactly(
              Arrays.asList(
                  Instant.ofEpochSecond(-1),
                  LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999_999_999),
                  time,
                  time,
                  time),
              Arrays.asList(null, null, null, null, null));
    }
  }

  /** The rows of vectors that have a value in row 0 and a null in row 1. */
  private List<List<Object>> importColumns(FieldVector... vectors) throws ArrowFormatException {
    for (FieldVector vector : vectors) {
      vector.setValueCount(2);
    }
    try (Table table = importer().importTable(VectorSchemaRoot.of(vectors), dictionaries)) {
      return device.rows(table);
    }
  }

  @Test
  void aTimestampOutOfRangeIsRefused() {
    try (TimeStampSecTZVector seconds = new TimeStampSecTZVector("at", allocator, "UTC")) {
      seconds.setSafe(0, Long.MAX_VALUE);
      assertThatThrownBy(() -> importColumns(seconds))
          .isInstanceOf(ArrowFormatException.class)
          .hasMessageContaining("column 'at'")
          .hasMessageContaining("the value " + Long.MAX_VALUE + " in row 0");
    }
  }

  @Test
  void largeStringsAndListsAreNarrowed() throws ArrowFormatException {
    try (LargeVarCharVector strings = new LargeVarCharVector("s", allocator);
        LargeListVector lists = LargeListVector.empty("l", allocator)) {
      strings.setSafe(0, "text".getBytes(StandardCharsets.UTF_8));
      lists.addOrGetVector(FieldType.nullable(new ArrowType.Int(64, true)));
      lists.startNewValue(0);
      ((BigIntVector) lists.getDataVector()).setSafe(0, 5);
      ((BigIntVector) lists.getDataVector()).setSafe(1, 6);
      lists.endValue(0, 2);
      lists.getDataVector().setValueCount(2);
      assertThat(importColumns(strings, lists))
          .containsExactly(List.of("text", List.of(5L, 6L)), Arrays.asList(null, null));
    }
  }

  @Test
  void booleansAndDecimalsAreExact() throws ArrowFormatException {
    try (BitVector bits = new BitVector("b", allocator);
        DecimalVector decimals = new DecimalVector("d", allocator, 5, 2)) {
      for (int i = 0; i < 100; i++) {
        bits.setSafe(i, i % 3 == 0 ? 1 : 0);
        decimals.setSafe(i, new BigDecimal(i % 2 == 0 ? "-999.99" : "0.01"));
      }
      bits.setValueCount(100);
      decimals.setValueCount(100);
      try (Table table =
          importer().importTable(VectorSchemaRoot.of(bits, decimals), dictionaries)) {
        List<List<Object>> rows = device.rows(table);
        for (int i = 0; i < 100; i++) {
          assertThat(rows.get(i).get(0)).isEqualTo(i % 3 == 0);
          assertThat(rows.get(i).get(1)).isEqualTo(new BigDecimal(i % 2 == 0 ? "-999.99" : "0.01"));
        }
      }
    }
  }

  @Test
  void dictionaryCodesOfAnyWidthAreWidened() throws ArrowFormatException {
    DictionaryEncoding encoding = new DictionaryEncoding(9, false, new ArrowType.Int(16, false));
    FieldType type = new FieldType(true, new ArrowType.Int(16, false), encoding);
    try (VarCharVector words = new VarCharVector("words", allocator);
        UInt2Vector codes = new UInt2Vector(new Field("word", type, null), allocator)) {
      words.setSafe(0, "a".getBytes(StandardCharsets.UTF_8));
      words.setSafe(1, "b".getBytes(StandardCharsets.UTF_8));
      words.setValueCount(2);
      codes.setSafe(0, 1);
      MapDictionaryProvider provider = new MapDictionaryProvider(new Dictionary(words, encoding));
      codes.setValueCount(2);
      try (Table table = importer().importTable(VectorSchemaRoot.of(codes), provider)) {
        assertThat(table.schema().type(0)).isEqualTo(DataType.dictionary(DataType.STRING));
        assertThat(device.rows(table)).containsExactly(List.of("b"), Arrays.asList((Object) null));
      }
      codes.setSafe(0, 2);
      assertThatThrownBy(() -> importer().importTable(VectorSchemaRoot.of(codes), provider))
          .isInstanceOf(ArrowFormatException.class)
          .hasMessageContaining("the code 2 for a dictionary of 2");
    }
  }

  @Test
  void anUnknownDictionaryIsNamed() {
    DictionaryEncoding encoding = new DictionaryEncoding(9, false, null);
    FieldType type = new FieldType(true, new ArrowType.Int(32, true), encoding);
    try (IntVector codes = new IntVector(new Field("word", type, null), allocator)) {
      assertThatThrownBy(() -> importer().importTable(VectorSchemaRoot.of(codes), dictionaries))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("dictionary with ID 9");
    }
  }

  @Test
  void dictionariesWithinOthersComeBack() throws ArrowFormatException {
    try (Table table = NestedDictionaries.table(device)) {
      assertComesBack(table, NestedDictionaries.ROWS);
    }
  }

  @Test
  void tablesMayBeClosedOnAnotherStreamsBehalf() throws ArrowFormatException {
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(SCHEMA, 50);
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).buildOnHost(device);
        VectorSchemaRoot root = exporter().export(table, dictionaries, device.hostStream());
        DeviceStream other = device.device().createStream()) {
      Table imported = importer().importTable(root, dictionaries);
      try (Table copy = imported.copyTo(device.memory(), device.stream(), other)) {
        imported.close();
        assertThat(device.rows(copy)).isEqualTo(rows);
      }
    }
  }
}

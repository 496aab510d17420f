// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.VectorRows;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DataTypes;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.CDataDictionaryProvider;
import org.apache.arrow.c.Data;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Arrays in the memory of the process's device. */
class ArrowCDeviceTest extends ArrowCDeviceTestCase {
  private static final Schema SCHEMA = DataTypes.schema(DataTypes.all());
  private static final double[] NULL_PROBABILITIES = {0, 0.3, 1};
  // Types that Arrow lays out as a column does.
  private static final Schema SHARED =
      DataTypes.schema(
          List.of(
              DataType.INT64,
              DataType.STRING,
              DataType.decimal(38, 10),
              DataType.timestamp(9),
              DataType.list(DataType.INT32),
              DataType.dictionary(DataType.STRING)));

  private Table random(Schema schema, int rowCount) {
    return new RandomTables(random.random(), 0.3).generate(schema, rowCount, device);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 511, 512, 513, 2_000})
  void everyTypeComesBack(int rowCount) throws ArrowFormatException {
    for (double nullProbability : NULL_PROBABILITIES) {
      RandomTables tables = new RandomTables(random.random(), nullProbability);
      List<List<Object>> rows = tables.rows(SCHEMA, rowCount);
      Table table = TableBuilder.ofRows(SCHEMA, rows).build(device);
      try (ArrowDeviceArray array = own(table);
          Table imported = fromArrowDevice(SCHEMA, array)) {
        assertThat(imported.schema()).isEqualTo(SCHEMA);
        assertThat(device.rows(imported)).isEqualTo(rows);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 100, 2_000})
  void slicesComeBack(int rowCount) throws ArrowFormatException {
    RandomTables tables = new RandomTables(random.random(), 0.3);
    try (Table whole = tables.generateSliced(SCHEMA, 1_000 + rowCount, device);
        Table slice = whole.slice(900, rowCount);
        ArrowDeviceArray array = view(slice);
        Table imported = fromArrowDevice(SCHEMA, array)) {
      assertThat(device.rows(imported)).isEqualTo(device.rows(slice));
    }
  }

  @Test
  void slicesOfNestedColumnsComeBackWithoutTheRowsBefore() throws ArrowFormatException {
    try (Table whole = random(SCHEMA, 2_000);
        Table slice = whole.slice(1_500, 300);
        ArrowDeviceArray array = view(slice)) {
      for (int i = 0; i < SCHEMA.size(); i++) {
        CArray column = new CArray(array.address()).child(i);
        assertThat(column.length()).isEqualTo(300);
        assertThat(column.offset()).as("what is skipped stays aligned").isEqualTo(1_500 - 1_024);
      }
      try (Table imported = fromArrowDevice(SCHEMA, array)) {
        assertThat(device.rows(imported)).isEqualTo(device.rows(slice));
      }
    }
  }

  @Test
  void whatIsUnderNullsBeforeASliceIsNotChecked() throws ArrowFormatException {
    for (DataType type :
        List.of(DataType.decimal(9, 0), DataType.decimal(18, 0), DataType.decimal(20, 0))) {
      int width = type.id().byteWidth();
      Buffer data = Buffer.allocate(2L * width, device.stream(), device.memory());
      Buffer mask = Buffer.allocate(Column.maskBytes(2), device.stream(), device.memory());
      try (AccessScope scope = AccessScope.on(device.stream())) {
        long values = data.access(AccessMode.WRITE, scope);
        device.stream().fill(values, (byte) 0x7f, width);
        device.stream().fill(values + width, (byte) 0, width);
        long bits = mask.access(AccessMode.WRITE, scope);
        device.stream().fill(bits, (byte) 0, Column.maskBytes(2));
        device.stream().fill(bits, (byte) 2, 1);
      }
      Schema schema = DataTypes.schema(List.of(type));
      try (Column column = new Column(type, 2, 0, data, mask, List.of());
          Column slice = column.slice(1, 1)) {
        assertThat(slice.nullCount(device.stream())).isZero();
        try (Table table = new Table(schema, List.of(slice.share()), 1);
            ArrowDeviceArray array = view(table);
            Table imported = fromArrowDevice(schema, array)) {
          assertThat(device.rows(imported)).isEqualTo(device.rows(table));
        }
      }
    }
  }

  @Test
  void columnsComeBack() throws ArrowFormatException {
    try (Table table = random(SCHEMA, 100)) {
      for (int i = 0; i < SCHEMA.size(); i++) {
        ArrowSchema schema = closedAfterwards(exporter().toArrowSchema(SCHEMA.field(i)));
        List<Object> expected = TableRows.of(table.column(i), device);
        Column copy = table.column(i).copyTo(device.memory(), device.stream(), device.stream());
        try (ArrowDeviceArray owned =
                exporter().toArrowDevice(copy, device.stream(), device.memory());
            ArrowDeviceArray view =
                exporter().viewToArrowDevice(table.column(i), device.stream(), device.memory())) {
          for (ArrowDeviceArray array : List.of(owned, view)) {
            try (Column imported =
                importer().fromArrowDeviceColumn(schema, array, device.stream(), device.memory())) {
              assertThat(TableRows.of(imported, device)).isEqualTo(expected);
            }
          }
        }
      }
    }
  }

  @Test
  void dictionariesWithinOthersComeBack() throws ArrowFormatException {
    try (Table host = NestedDictionaries.table(device)) {
      Table table = device.copyToDevice(host);
      try (ArrowDeviceArray array = own(table);
          Table imported = fromArrowDevice(table.schema(), array)) {
        assertThat(device.rows(imported)).isEqualTo(NestedDictionaries.ROWS);
      }
    }
  }

  @Test
  void theArrayNamesItsDevice() {
    try (ArrowDeviceArray array = own(random(SHARED, 10))) {
      assertThat(array.deviceType()).isEqualTo(deviceType().code());
      assertThat(array.deviceId()).isEqualTo(device.device().index());
      assertThat(array.syncEvent() != 0).isEqualTo(device.isCuda());
    }
  }

  @Test
  void anArrayThatOwnsATableCopiesNothingThatArrowLaysOutAlike() {
    Table table = random(SHARED, 1_000);
    long held = device.heldBytes();
    try (ArrowDeviceArray array = own(table)) {
      assertThat(device.heldBytes()).isEqualTo(held);
      assertThat(table.column(0).data().orElseThrow().isExposed()).isTrue();
      array.release();
      assertThat(device.heldBytes()).isZero();
      array.release();
    }
  }

  @Test
  void aViewOwnsOnlyWhatWasConverted() {
    try (Table table = random(SCHEMA, 1_000)) {
      List<List<Object>> rows = device.rows(table);
      long held = device.heldBytes();
      try (ArrowDeviceArray array = view(table)) {
        assertThat(array.isReleased()).isFalse();
        assertThat(device.heldBytes()).isGreaterThan(held);
      }
      assertThat(device.heldBytes()).isEqualTo(held);
      assertThat(device.rows(table)).as("the table stays open").isEqualTo(rows);
    }
  }

  @Test
  void sharedMemoryIsCopiedForTheArrayAndNotExposed() throws ArrowFormatException {
    try (Table table = random(SHARED, 100);
        Table shared = table.share()) {
      long held = device.heldBytes();
      try (ArrowDeviceArray array = view(shared);
          Table imported = fromArrowDevice(SHARED, array)) {
        assertThat(shared.column(0).data().orElseThrow().isExposed()).isFalse();
        assertThat(device.rows(imported)).isEqualTo(device.rows(table));
      }
      assertThat(device.heldBytes()).isEqualTo(held);
    }
  }

  @Test
  void anImportPointsAtTheArraysMemory() throws ArrowFormatException {
    Table table = random(DataTypes.schema(List.of(DataType.INT64, DataType.STRING)), 512);
    long held = device.heldBytes();
    try (ArrowDeviceArray array = own(table)) {
      try (Table imported = fromArrowDevice(table.schema(), array)) {
        assertThat(device.heldBytes()).isEqualTo(held);
        assertThat(imported.rowCount()).isEqualTo(512);
      }
      assertThat(array.isReleased()).as("the caller releases").isFalse();
    }
  }

  @Test
  void misalignedBuffersAreCopied() throws ArrowFormatException {
    int rows = 100;
    for (DataType type : List.of(DataType.INT64, DataType.STRING, DataType.decimal(9, 2))) {
      Schema schema = DataTypes.schema(List.of(type));
      try (Table table = random(schema, rows);
          ArrowDeviceArray array = view(table);
          Buffer shifted = Buffer.allocate(rows * 16L + 2, device.stream(), device.memory());
          AccessScope scope = AccessScope.on(device.stream())) {
        CArray column = new CArray(array.address()).child(0);
        long address = shifted.access(AccessMode.WRITE, scope) + 2;
        device.stream().copy(address, column.buffer(1), bytes(type, rows));
        HostMemory.putLong(column.buffers() + Long.BYTES, address);
        try (Table imported = fromArrowDevice(schema, array)) {
          assertThat(device.rows(imported)).isEqualTo(device.rows(table));
        }
      }
    }
  }

  private static long bytes(DataType type, int rows) {
    return type.equals(DataType.STRING)
        ? (rows + 1L) * Integer.BYTES
        : rows * (type.equals(DataType.INT64) ? 8L : 16L);
  }

  @Test
  void arrowReadsAnArrayInHostMemory() {
    assumeFalse(device.isCuda());
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(SCHEMA, 200);
    ArrowSchema schema = exporter().toArrowSchema(SCHEMA);
    try (ArrowDeviceArray array = own(TableBuilder.ofRows(SCHEMA, rows).build(device));
        CDataDictionaryProvider dictionaries = new CDataDictionaryProvider();
        VectorSchemaRoot root =
            Data.importVectorSchemaRoot(allocator, array.array(), schema, dictionaries)) {
      assertThat(array.isReleased()).as("moved by the importer").isTrue();
      assertThat(VectorRows.of(root, SCHEMA, dictionaries)).isEqualTo(rows);
    }
    assertThat(device.heldBytes()).isZero();
  }

  @Test
  void threadsReleaseWhatOthersExported() throws InterruptedException {
    List<ArrowDeviceArray> arrays = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      arrays.add(own(random(SCHEMA, 100)));
    }
    device.stream().synchronize();
    List<Thread> threads = new ArrayList<>();
    for (ArrowDeviceArray array : arrays) {
      threads.add(new Thread(array::close));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(device.heldBytes()).isZero();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowNode;
import io.millrace.arrow.ArrowTypeException;
import io.millrace.arrow.VectorRows;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.testing.DataTypes;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import io.millrace.testing.TableRows;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.CDataDictionaryProvider;
import org.apache.arrow.c.Data;
import org.apache.arrow.c.jni.JniWrapper;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Schemas, and arrays in host memory. */
class ArrowCDeviceHostTest extends ArrowCDeviceTestCase {
  private static final Schema SCHEMA = DataTypes.schema(DataTypes.all());
  private static final double[] NULL_PROBABILITIES = {0, 0.3, 1};

  private ArrowSchema schema;

  @AfterEach
  void closeSchema() {
    if (schema != null) {
      schema.release();
      schema.close();
    }
  }

  /** The table's array and, in {@link #schema}, its schema. */
  private ArrowDeviceArray export(List<List<Object>> rows) {
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).build(device)) {
      return export(table);
    }
  }

  private ArrowDeviceArray export(Table table) {
    schema = exporter().toArrowSchema(table.schema());
    return exporter().toArrowHost(table, device.stream());
  }

  private Table fromArrow(ArrowArray array) throws ArrowFormatException {
    return importer().fromArrow(schema, array, device.stream(), device.memory());
  }

  private Table fromArrowHost(ArrowDeviceArray array) throws ArrowFormatException {
    return importer().fromArrowHost(schema, array, device.stream(), device.memory());
  }

  private List<List<Object>> randomRows(int rowCount, double nullProbability) {
    return new RandomTables(random.random(), nullProbability).rows(SCHEMA, rowCount);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 1000})
  void everyTypeComesBack(int rowCount) throws ArrowFormatException {
    for (double nullProbability : NULL_PROBABILITIES) {
      List<List<Object>> rows = randomRows(rowCount, nullProbability);
      try (ArrowDeviceArray array = export(rows);
          Table fromDeviceArray = fromArrowHost(array);
          Table fromArray = fromArrow(array.array())) {
        assertThat(fromDeviceArray.schema()).isEqualTo(SCHEMA);
        assertThat(device.rows(fromDeviceArray)).isEqualTo(rows);
        assertThat(device.rows(fromArray)).isEqualTo(rows);
        assertThat(array.isReleased()).isFalse();
      }
      closeStructs();
    }
  }

  private void closeStructs() {
    schema.release();
    schema.close();
    schema = null;
  }

  @Test
  void slicesComeBack() throws ArrowFormatException {
    try (Table table =
            new RandomTables(random.random(), 0.3).generateSliced(SCHEMA, 1_000, device);
        ArrowDeviceArray array = export(table);
        Table copy = fromArrowHost(array)) {
      assertThat(device.rows(copy)).isEqualTo(device.rows(table));
    }
  }

  @Test
  void aTableWithoutColumnsComesBack() throws ArrowFormatException {
    try (Table table = new Table(new Schema(List.of()), List.of(), 7);
        ArrowDeviceArray array = export(table);
        Table copy = fromArrowHost(array)) {
      assertThat(copy.rowCount()).isEqualTo(7);
    }
  }

  @Test
  void dictionariesWithinOthersComeBack() throws ArrowFormatException {
    try (Table table = NestedDictionaries.table(device);
        ArrowDeviceArray array = export(table);
        Table copy = fromArrowHost(array)) {
      assertThat(device.rows(copy)).isEqualTo(NestedDictionaries.ROWS);
    }
  }

  @Test
  void columnsComeBack() throws ArrowFormatException {
    List<List<Object>> rows = randomRows(100, 0.3);
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).build(device)) {
      for (int i = 0; i < SCHEMA.size(); i++) {
        int index = i;
        schema = exporter().toArrowSchema(SCHEMA.field(i));
        try (ArrowDeviceArray array = exporter().toArrowHost(table.column(i), device.stream());
            Column fromDeviceArray =
                importer().fromArrowHostColumn(schema, array, device.stream(), device.memory());
            Column fromArray =
                importer()
                    .fromArrowColumn(schema, array.array(), device.stream(), device.memory())) {
          List<Object> expected = new ArrayList<>();
          rows.forEach(row -> expected.add(row.get(index)));
          assertThat(TableRows.of(fromDeviceArray, device)).isEqualTo(expected);
          assertThat(TableRows.of(fromArray, device)).isEqualTo(expected);
        }
        closeStructs();
      }
    }
  }

  @Test
  void arrowReadsWhatIsExported() {
    List<List<Object>> rows = randomRows(200, 0.3);
    try (ArrowDeviceArray array = export(rows);
        CDataDictionaryProvider dictionaries = new CDataDictionaryProvider();
        VectorSchemaRoot root =
            Data.importVectorSchemaRoot(allocator, array.array(), schema, dictionaries)) {
      assertThat(array.isReleased()).as("moved by the importer").isTrue();
      assertThat(VectorRows.of(root, SCHEMA, dictionaries)).isEqualTo(rows);
    }
    schema = null;
  }

  @Test
  void theHostArrayNamesTheHostAndHasNoTiesToTheTable() {
    List<List<Object>> rows = randomRows(10, 0);
    try (ArrowDeviceArray array = export(rows)) {
      assertThat(device.heldBytes()).as("the table is closed").isZero();
      assertThat(array.deviceType()).isEqualTo(ArrowDeviceType.CPU.code());
      assertThat(array.deviceId()).isEqualTo(-1);
      assertThat(array.syncEvent()).isZero();
    }
  }

  @Test
  void releasingFreesOnceFromAnyThreadAndClosingFreesWhatIsNotReleased() throws Exception {
    ArrowDeviceArray array = export(randomRows(100, 0.3));
    assertThat(device.hostMemory().heldBytes()).isPositive();
    Thread consumer = new Thread(array::release);
    consumer.start();
    consumer.join();
    assertThat(array.isReleased()).isTrue();
    assertThat(device.hostMemory().heldBytes()).isZero();
    array.release();
    array.close();
    array.close();
    closeStructs();
    export(randomRows(100, 0.3)).close();
    assertThat(device.hostMemory().heldBytes()).isZero();
  }

  @Test
  void aMovedArrayIsReleasedFromItsNewPlace() {
    try (ArrowDeviceArray target = ArrowDeviceArray.allocate()) {
      try (ArrowDeviceArray array = export(randomRows(100, 0.3))) {
        array.moveTo(target.address());
        assertThat(array.isReleased()).isTrue();
      }
      assertThat(device.hostMemory().heldBytes()).isPositive();
      assertThat(target.isReleased()).isFalse();
      ArrowDeviceArray.wrap(target.address()).release();
      assertThat(device.hostMemory().heldBytes()).isZero();
    }
  }

  @Test
  void aChildThatAConsumerMovedAwayOutlivesTheRest() throws ArrowFormatException {
    List<List<Object>> rows = randomRows(100, 0.3);
    int strings = SCHEMA.names().size() - 2;
    try (ArrowDeviceArray child = ArrowDeviceArray.allocate()) {
      try (ArrowDeviceArray array = export(rows)) {
        CArray moved = new CArray(array.address()).child(strings);
        HostMemory.copy(child.address(), moved.address(), CArray.BYTES);
        moved.markReleased();
      }
      closeStructs();
      schema = exporter().toArrowSchema(SCHEMA.field(strings));
      try (Column column =
          importer().fromArrowColumn(schema, child.array(), device.stream(), device.memory())) {
        List<Object> expected = new ArrayList<>();
        rows.forEach(row -> expected.add(row.get(strings)));
        assertThat(TableRows.of(column, device)).isEqualTo(expected);
      }
      child.release();
      assertThat(device.hostMemory().heldBytes()).isZero();
    }
  }

  @Test
  void importingNeverReleases() throws ArrowFormatException {
    AtomicInteger releases = new AtomicInteger();
    try (ArrowDeviceArray array = export(randomRows(10, 0))) {
      try (ArrowDeviceArray counted = ArrowDeviceArray.allocate()) {
        HostMemory.copy(counted.address(), array.address(), ArrowDeviceArray.STRUCT_BYTES);
        JniWrapper.get().exportArray(counted.address(), releases::incrementAndGet);
        fromArrowHost(counted).close();
        fromArrow(counted.array()).close();
        assertThat(releases).hasValue(0);
        assertThat(schema.snapshot().release).isNotZero();
        new CArray(counted.address()).markReleased();
      }
    }
  }

  @Test
  void anArraysOffsetIsHonoured() throws ArrowFormatException {
    List<List<Object>> rows = randomRows(100, 0.3);
    try (ArrowDeviceArray array = export(rows)) {
      new CArray(array.address()).putNode(new ArrowNode(60, 0, 13));
      try (Table copy = fromArrowHost(array)) {
        assertThat(device.rows(copy)).isEqualTo(rows.subList(13, 73));
      }
    }
  }

  @Test
  void nullAndReleasedStructsAreRefused() {
    try (ArrowDeviceArray array = export(randomRows(3, 0));
        ArrowDeviceArray released = ArrowDeviceArray.allocate()) {
      released.putDevice(ArrowDeviceType.CPU, -1, 0);
      assertRefused("the array is null", () -> fromArrowHost(null));
      assertRefused("the array is null", () -> fromArrow(null));
      assertRefused("the array is null", () -> fromArrow(ArrowArray.wrap(0)));
      assertRefused("the array is released", () -> fromArrowHost(released));
      assertRefused("the array is released", () -> fromArrow(released.array()));
      assertRefused(
          "the schema is null",
          () -> importer().fromArrowHostColumn(null, array, device.stream(), device.memory()));
      schema.release();
      assertRefused("the schema is released", () -> fromArrow(array.array()));
    }
  }

  private void assertRefused(
      String message, org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .isNotInstanceOf(ArrowTypeException.class)
        .hasMessage(message);
  }

  @Test
  void arraysOfOtherDevicesAreNoHostArrays() {
    try (ArrowDeviceArray array = export(randomRows(3, 0))) {
      for (ArrowDeviceType type :
          List.of(ArrowDeviceType.CUDA, ArrowDeviceType.CUDA_HOST, ArrowDeviceType.CUDA_MANAGED)) {
        array.putDevice(type, 0, 0);
        assertRefused(
            "the array is of the Arrow device type " + type.code() + ", not of the host's",
            () -> fromArrowHost(array));
      }
      array.putDevice(ArrowDeviceType.CPU, -1, array.address());
      assertRefused("the host cannot wait for an array's event", () -> fromArrowHost(array));
    }
  }

  @Test
  void anArrayThatIsNoTableIsAnErrorOfTheType() {
    try (Table table = new TableBuilder().column("x", DataType.INT32, 1, 2).build(device);
        ArrowDeviceArray array = exporter().toArrowHost(table.column(0), device.stream())) {
      schema = exporter().toArrowSchema(table.schema().field(0));
      assertThatThrownBy(() -> fromArrowHost(array))
          .isInstanceOf(ArrowTypeException.class)
          .hasMessage("expected a struct array, got Int(32, true)");
    }
  }

  @Test
  void anUnsupportedTypeIsAnErrorOfTheType() {
    schema = ArrowSchema.allocateNew(allocator);
    try (NullVector nulls = new NullVector("nothing", 3);
        ArrowArray array = ArrowArray.allocateNew(allocator)) {
      Data.exportVectorSchemaRoot(allocator, VectorSchemaRoot.of(nulls), null, array, schema);
      assertThatThrownBy(() -> fromArrow(array))
          .isInstanceOf(ArrowTypeException.class)
          .hasMessageContaining("column 'table.nothing' is of the Arrow type Null");
      array.release();
    }
  }
}

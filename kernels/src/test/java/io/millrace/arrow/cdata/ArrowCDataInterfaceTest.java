// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowTypeException;
import io.millrace.arrow.VectorRows;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.util.List;
import java.util.Random;
import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.CDataDictionaryProvider;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArrowCDataInterfaceTest {
  private static final Schema SCHEMA = DataTypes.schema(DataTypes.all());
  private static final double[] NULL_PROBABILITIES = {0, 0.3, 1};

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final BufferAllocator allocator = new RootAllocator();
  private ArrowArray array;
  private ArrowSchema schema;

  @BeforeEach
  void allocateStructs() {
    array = ArrowArray.allocateNew(allocator);
    schema = ArrowSchema.allocateNew(allocator);
  }

  // Closing the allocator fails if memory is still counted.
  @AfterEach
  void closeStructs() {
    array.close();
    schema.close();
    allocator.close();
  }

  private ArrowCDataInterface cData() {
    return new ArrowCDataInterface(allocator, device.hostStream(), device.hostMemory());
  }

  private void export(List<List<Object>> rows) {
    try (Table table = TableBuilder.ofRows(SCHEMA, rows).build(device)) {
      cData().exportTable(table, array, schema, device.stream());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 1000})
  void everyTypeComesBack(int rowCount) throws ArrowFormatException {
    Random values = random.random();
    for (double nullProbability : NULL_PROBABILITIES) {
      List<List<Object>> rows = new RandomTables(values, nullProbability).rows(SCHEMA, rowCount);
      export(rows);
      try (Table imported = cData().importTable(array, schema)) {
        assertThat(imported.schema()).isEqualTo(SCHEMA);
        assertThat(device.rows(imported)).isEqualTo(rows);
      }
      schema = ArrowSchema.allocateNew(allocator);
    }
  }

  @Test
  void dictionariesWithinOthersComeBack() throws ArrowFormatException {
    try (Table table = NestedDictionaries.table(device)) {
      cData().exportTable(table, array, schema, device.hostStream());
    }
    try (Table imported = cData().importTable(array, schema)) {
      assertThat(device.rows(imported)).isEqualTo(NestedDictionaries.ROWS);
    }
  }

  @Test
  void arrowReadsWhatIsExported() {
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(SCHEMA, 200);
    export(rows);
    try (CDataDictionaryProvider dictionaries = new CDataDictionaryProvider();
        VectorSchemaRoot root =
            Data.importVectorSchemaRoot(allocator, array, schema, dictionaries)) {
      assertThat(VectorRows.of(root, SCHEMA, dictionaries)).isEqualTo(rows);
    }
  }

  @Test
  void anUnusedExportIsReleasedByItsCallback() {
    export(new RandomTables(random.random(), 0.3).rows(SCHEMA, 200));
    long held = device.hostMemory().heldBytes();
    assertThat(held).isPositive();
    array.release();
    schema.release();
    assertThat(device.hostMemory().heldBytes()).isZero();
  }

  @Test
  void anArraysOffsetIsHonoured() throws ArrowFormatException {
    int rowCount = 100;
    int offset = 13;
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(SCHEMA, rowCount);
    export(rows);
    moveStart(array.memoryAddress(), offset);
    try (Table imported = cData().importTable(array, schema)) {
      assertThat(device.rows(imported)).isEqualTo(rows.subList(offset, rowCount));
    }
  }

  @Test
  void offsetsOfColumnsAreHonoured() throws ArrowFormatException {
    int rowCount = 100;
    int offset = 13;
    List<List<Object>> rows = new RandomTables(random.random(), 0.3).rows(SCHEMA, rowCount);
    export(rows);
    long children = HostMemory.getLong(array.memoryAddress() + 48);
    for (long i = 0; i < SCHEMA.size(); i++) {
      moveStart(HostMemory.getLong(children + i * Long.BYTES), offset);
    }
    HostMemory.putLong(array.memoryAddress(), rowCount - offset);
    try (Table imported = cData().importTable(array, schema)) {
      assertThat(device.rows(imported)).isEqualTo(rows.subList(offset, rowCount));
    }
  }

  // A producer that slices its arrays changes length, null_count and offset.
  private static void moveStart(long struct, int offset) {
    HostMemory.putLong(struct, HostMemory.getLong(struct) - offset);
    if (HostMemory.getLong(struct + 8) != 0) {
      HostMemory.putLong(struct + 8, -1);
    }
    HostMemory.putLong(struct + 16, offset);
  }

  @Test
  void structsAreTakenOver() throws ArrowFormatException {
    export(new RandomTables(random.random(), 0.3).rows(SCHEMA, 10));
    try (Table imported = cData().importTable(array, schema)) {
      assertThat(imported.rowCount()).isEqualTo(10);
      assertThat(array.snapshot().release).isZero();
      schema = ArrowSchema.allocateNew(allocator);
      assertThatThrownBy(() -> cData().importTable(array, schema))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the array or the schema is released already");
    }
  }

  @Test
  void memoryIsReleasedWhenTheLastSliceIsClosed() throws ArrowFormatException {
    List<List<Object>> rows = new RandomTables(random.random(), 0).rows(SCHEMA, 10);
    export(rows);
    Table slice;
    try (Table imported = cData().importTable(array, schema)) {
      slice = imported.slice(2, 5);
    }
    assertThat(device.rows(slice)).isEqualTo(rows.subList(2, 7));
    assertThat(device.hostMemory().heldBytes()).isPositive();
    slice.close();
    assertThat(device.hostMemory().heldBytes()).isZero();
  }

  @Test
  void unsupportedTypesAreNamedAndReleased() {
    try (NullVector nulls = new NullVector("nothing", 3)) {
      Data.exportVectorSchemaRoot(allocator, VectorSchemaRoot.of(nulls), null, array, schema);
    }
    assertThatThrownBy(() -> cData().importTable(array, schema))
        .isInstanceOf(ArrowTypeException.class)
        .hasMessageContaining("column 'table.nothing' is of the Arrow type Null");
    assertThat(array.snapshot().release).isZero();
  }

  @Test
  void anArrayThatIsNoTableIsRefused() {
    try (IntVector vector = new IntVector("x", allocator)) {
      vector.setSafe(0, 1);
      vector.setValueCount(1);
      Data.exportVector(allocator, vector, null, array, schema);
    }
    assertThatThrownBy(() -> cData().importTable(array, schema))
        .isInstanceOf(ArrowTypeException.class)
        .hasMessage("expected a struct array, got Int(32, true)");
  }

  @Test
  void anArrayOfAnotherSchemaIsRefused() {
    try (Table one = new TableBuilder().column("x", DataType.INT32, 1, 2).buildOnHost(device);
        Table two =
            new TableBuilder()
                .column("x", DataType.INT32, 1)
                .column("y", DataType.INT32, 1)
                .buildOnHost(device);
        ArrowArray otherArray = ArrowArray.allocateNew(allocator);
        ArrowSchema otherSchema = ArrowSchema.allocateNew(allocator)) {
      cData().exportTable(one, array, otherSchema, device.hostStream());
      cData().exportTable(two, otherArray, schema, device.hostStream());
      otherArray.release();
      otherSchema.release();
    }
    assertThatThrownBy(() -> cData().importTable(array, schema))
        .isInstanceOf(ArrowFormatException.class)
        .hasMessageContaining("has 1 children where 2 are needed");
  }

  @Test
  void nullRowsAreRefused() {
    export(new RandomTables(random.random(), 0).rows(SCHEMA, 3));
    long validity = HostMemory.getLong(HostMemory.getLong(array.memoryAddress() + 40));
    assertThat(validity).isNotZero();
    HostMemory.putBit(validity, 1, false);
    HostMemory.putLong(array.memoryAddress() + 8, 1);
    assertThatThrownBy(() -> cData().importTable(array, schema))
        .isInstanceOf(ArrowFormatException.class)
        .hasMessage("1 rows of the table are null");
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ArrowNode;
import io.millrace.arrow.ArrowTypeException;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeferredDevice;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.testing.DataTypes;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.apache.arrow.c.ArrowSchema;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/**
 * Tests of refused arrays and of failures during imports, in the memory of the process's device.
 */
class ArrowCDeviceErrorTest extends ArrowCDeviceTestCase {
  private static final Schema SCHEMA = DataTypes.schema(DataTypes.all());

  private Table random(int rowCount) {
    return new RandomTables(random.random(), 0.3).generate(SCHEMA, rowCount, device);
  }

  /** Runs {@code work} with each of its allocations failing in turn, until none fails. */
  private void assertFailuresLeaveNothing(Consumer<MemoryResource> work) {
    long held = device.heldBytes();
    for (int nth = 1; ; nth++) {
      FailingResourceAdaptor failing = FailingResourceAdaptor.nth(device.memory(), nth);
      try {
        work.accept(failing);
        assertThat(failing.failures()).isZero();
        assertThat(nth).as("allocations that failed").isGreaterThan(3);
        return;
      } catch (GpuOutOfMemoryException e) {
        assertThat(device.heldBytes()).isEqualTo(held);
      }
    }
  }

  @Test
  void aTableWhoseExportFailsStaysTheCallers() {
    try (Table table = random(100)) {
      List<List<Object>> rows = device.rows(table);
      assertFailuresLeaveNothing(
          memory -> exporter().viewToArrowDevice(table, device.stream(), memory).close());
      try (Table copy = device.copyToDevice(table)) {
        FailingResourceAdaptor failing = FailingResourceAdaptor.nth(device.memory(), 3);
        assertThatThrownBy(() -> exporter().toArrowDevice(copy, device.stream(), failing))
            .isInstanceOf(GpuOutOfMemoryException.class);
        assertThat(device.rows(copy)).isEqualTo(rows);
      }
    }
  }

  @Test
  void anImportThatFailsLeavesNothing() {
    ArrowSchema schema = schema(SCHEMA);
    try (ArrowDeviceArray array = own(random(100))) {
      assertFailuresLeaveNothing(
          memory -> {
            try {
              importer().fromArrowDevice(schema, array, device.stream(), memory).close();
            } catch (ArrowFormatException e) {
              throw new AssertionError(e);
            }
          });
      assertThat(array.isReleased()).isFalse();
    }
  }

  @Test
  void memoryOfAnotherDeviceIsRefused() {
    DeviceStream other = new DeferredDevice().createStream();
    try (Table table = random(10)) {
      assertRefused(
          () -> exporter().toArrowDevice(table, other, device.memory()),
          " on a stream of a device that defers its work");
    }
  }

  @Test
  void structsThatAreNullReleasedOrOfAnotherDeviceAreRefused() {
    try (ArrowDeviceArray array = own(random(10));
        ArrowDeviceArray released = ArrowDeviceArray.allocate()) {
      released.putDevice(deviceType(), device.device().index(), 0);
      assertRefused(() -> fromArrowDevice(SCHEMA, null), "the array is null");
      assertRefused(() -> fromArrowDevice(SCHEMA, released), "the array is released");
      assertRefused(
          () -> importer().fromArrowDevice(null, array, device.stream(), device.memory()),
          "the schema is null");
      for (int type : new int[] {0, 1, 2, 3, 4, 13, 14}) {
        HostMemory.putInt(array.address() + 88, type);
        boolean isSupported = device.isCuda() ? type == 2 || type == 3 || type == 13 : type == 1;
        if (!isSupported) {
          assertRefused(() -> fromArrowDevice(SCHEMA, array), "");
          assertRefused(
              () ->
                  importer()
                      .fromArrowDeviceColumn(
                          schema(SCHEMA), array, device.stream(), device.memory()),
              "");
        }
      }
    }
  }

  @Test
  void aCudaDeviceTakesMemoryOfItsOwnGpuOnly() throws ArrowFormatException {
    assumeTrue(device.isCuda());
    try (ArrowDeviceArray array = own(random(10))) {
      array.putDevice(ArrowDeviceType.CUDA, 1_000, array.syncEvent());
      assertRefused(() -> fromArrowDevice(SCHEMA, array), "the array is on GPU 1000, not on 0");
      for (ArrowDeviceType type :
          List.of(ArrowDeviceType.CUDA_HOST, ArrowDeviceType.CUDA_MANAGED)) {
        array.putDevice(type, 0, array.syncEvent());
        fromArrowDevice(SCHEMA, array).close();
      }
    }
  }

  private static void assertRefused(ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .isNotInstanceOf(ArrowTypeException.class)
        .hasMessageContaining(message);
  }

  @Test
  void anArrayThatIsNoTableIsAnErrorOfTheType() {
    try (Table table = random(10);
        ArrowDeviceArray array =
            exporter().viewToArrowDevice(table.column(0), device.stream(), device.memory())) {
      ArrowSchema schema = closedAfterwards(exporter().toArrowSchema(SCHEMA.field(0)));
      assertThatThrownBy(
              () -> importer().fromArrowDevice(schema, array, device.stream(), device.memory()))
          .isInstanceOf(ArrowTypeException.class)
          .hasMessage("expected a struct array, got Bool");
    }
  }

  @Test
  void anArrayOfAnotherSchemaIsRefused() {
    Schema fewer = SCHEMA.select(List.of("c0"));
    try (ArrowDeviceArray array = own(random(10))) {
      assertThatThrownBy(() -> fromArrowDevice(fewer, array))
          .isInstanceOf(ArrowFormatException.class)
          .hasMessageContaining("has " + SCHEMA.size() + " children where 1 are needed");
    }
  }

  @Test
  void structsThatContradictThemselvesAreRefused() {
    assertMisfit(
        DataType.list(DataType.INT32),
        column -> column.child(0).putNode(ArrowNode.of(0, 0)),
        "lists up to");
    assertMisfit(
        DataType.INT32, column -> column.putNode(ArrowNode.of(-1, 0)), "-1 elements behind 0");
    assertMisfit(
        DataType.INT32,
        column -> column.putNode(new ArrowNode(10, 0, Integer.MAX_VALUE)),
        "10 elements behind 2147483647");
    assertMisfit(
        DataType.INT32, column -> column.putNode(ArrowNode.of(5, 0)), "in a field of 10 structs");
    assertMisfit(
        DataType.INT32,
        column -> HostMemory.putLong(column.buffers() + Long.BYTES, 0),
        "10 elements and no buffer of them");
    assertMisfit(
        DataType.STRING,
        column -> HostMemory.putLong(column.buffers() + Long.BYTES, 0),
        "has no offsets");
    assertMisfit(
        DataType.STRING,
        column -> HostMemory.putLong(column.buffers() + 2 * Long.BYTES, 0),
        "bytes and no buffer of them");
    assertMisfit(
        DataType.BOOL,
        column -> {
          HostMemory.putLong(column.buffers(), 0);
          column.putNode(ArrowNode.of(10, 3));
        },
        "3 nulls and no mask");
  }

  private void assertMisfit(DataType type, Consumer<CArray> corrupt, String message) {
    Schema schema = DataTypes.schema(List.of(type));
    Object value = new RandomTables(random.random(), 0).value(type);
    Object nonEmpty =
        type.equals(DataType.STRING) ? "s" : value instanceof List ? List.of(1) : value;
    List<List<Object>> rows = Collections.nCopies(10, List.of(nonEmpty));
    try (ArrowDeviceArray array = own(TableBuilder.ofRows(schema, rows).build(device))) {
      corrupt.accept(new CArray(array.address()).child(0));
      assertThatThrownBy(() -> fromArrowDevice(schema, array))
          .isInstanceOf(ArrowFormatException.class)
          .hasMessageContaining("column '")
          .hasMessageContaining(message);
    }
  }
}

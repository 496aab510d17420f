// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.arrow.ArrowExporter;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import io.millrace.testing.TableBuilder;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that memory whose address Arrow knows stays in place when memory is spilled. */
class ArrowSpillTest {
  private static final Schema SCHEMA = Schema.of(Field.of("x", DataType.INT64));

  private final DeviceStream stream = HostDevice.INSTANCE.createStream();
  private final TrackingResourceAdaptor memory =
      new TrackingResourceAdaptor(HostMemoryResource.INSTANCE);
  private final SpillStatistics statistics = new SpillStatistics(2);
  private final SpillManager manager =
      new SpillManager(
          memory,
          new PinnedHostMemoryResource(HostDevice.INSTANCE),
          Long.MAX_VALUE,
          true,
          statistics,
          () -> 0);
  private final SpillQuota quota =
      manager.openQuota("the test", SpillLimits.DEFAULT.withStatisticsLevel(2));
  private final MemoryResource spillable = quota.resource(MemoryBudget.unlimited());
  private final BufferAllocator allocator = new RootAllocator();

  @AfterEach
  void close() {
    allocator.close();
    quota.close();
    manager.close();
    assertThat(memory.heldBytes()).isZero();
  }

  private Table table() {
    try (Table host =
        TableBuilder.ofRows(SCHEMA, List.of(List.of(1L), List.of(2L)))
            .buildOnHost(stream, memory)) {
      return host.copyTo(spillable, stream, stream);
    }
  }

  private static Buffer data(Table table) {
    return table.column(0).data().orElseThrow();
  }

  private ArrowCDeviceExporter exporter() {
    return new ArrowCDeviceExporter(allocator, stream, memory);
  }

  @Test
  void anExportBringsSpilledMemoryBackForGoodAndIsNamed() {
    Table table = table();
    manager.spill(Long.MAX_VALUE);
    assertThat(data(table).tier()).isEqualTo(SpillTier.HOST);
    try (ArrowDeviceArray array = exporter().toArrowDevice(table, stream, spillable)) {
      assertThat(manager.spill(Long.MAX_VALUE)).isZero();
      assertThat(data(table).tier()).isEqualTo(SpillTier.DEVICE);
      assertThat(data(table).isExposed()).isTrue();
      assertThat(array.isReleased()).isFalse();
    }
    assertThat(statistics.exposures())
        .anySatisfy(
            exposure -> {
              assertThat(exposure.spilledBytes()).isEqualTo(16);
              assertThat(exposure.site().toString())
                  .contains("ArrowCDeviceExporter.toArrowDevice", "ArrowSpillTest");
            });
  }

  @Test
  void aViewKeepsTheMemoryInItsPlaceUntilItIsReleased() {
    try (Table table = table()) {
      manager.spill(Long.MAX_VALUE);
      try (ArrowDeviceArray array = exporter().viewToArrowDevice(table, stream, spillable)) {
        assertThat(manager.spill(Long.MAX_VALUE)).isZero();
        assertThat(data(table).tier()).isEqualTo(SpillTier.DEVICE);
        assertThat(HostMemory.getLong(new CArray(array.address()).child(0).buffer(1)))
            .isEqualTo(1L);
      }
      assertThat(data(table).isExposed()).isFalse();
      long held = memory.heldBytes();
      try (Table copy = table.shallowCopy(stream)) {
        assertThat(memory.heldBytes()).as("a shallow copy is none of the memory").isEqualTo(held);
        assertThat(copy.rowCount()).isEqualTo(2);
      }
      assertThat(manager.spill(Long.MAX_VALUE)).isEqualTo(16);
      assertThat(data(table).tier()).isEqualTo(SpillTier.HOST);
    }
    assertThat(statistics.exposures()).isEmpty();
  }

  @Test
  void aViewOfSharedMemoryCopiesNothingAndOutlivesTheTable() {
    ArrowDeviceArray view;
    try (Table table = table();
        Table shared = table.share()) {
      long held = memory.heldBytes();
      view = exporter().viewToArrowDevice(shared, stream, spillable);
      assertThat(memory.heldBytes()).isEqualTo(held);
    }
    try (view) {
      assertThat(HostMemory.getLong(new CArray(view.address()).child(0).buffer(1) + Long.BYTES))
          .isEqualTo(2L);
    }
    assertThat(memory.heldBytes()).isZero();
  }

  @Test
  void vectorsKeepTheMemoryInItsPlaceUntilTheyAreClosed() {
    ArrowExporter exporter = new ArrowExporter(allocator, stream, memory);
    try (Table table = table();
        MapDictionaryProvider dictionaries = new MapDictionaryProvider()) {
      try (VectorSchemaRoot root = exporter.export(table, dictionaries, stream)) {
        manager.spill(Long.MAX_VALUE);
        assertThat(data(table).tier()).isEqualTo(SpillTier.DEVICE);
        assertThat(data(table).isExposed()).isFalse();
        assertThat(((BigIntVector) root.getVector(0)).get(1)).isEqualTo(2L);
      }
      manager.spill(Long.MAX_VALUE);
      assertThat(data(table).tier()).isEqualTo(SpillTier.HOST);
    }
  }
}

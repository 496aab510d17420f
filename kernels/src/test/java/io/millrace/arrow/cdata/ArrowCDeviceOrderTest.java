// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeferredDevice;
import io.millrace.device.Device;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.CudaAsyncMemoryResource;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The order of producers and consumers on streams of their own that an array's event makes. */
class ArrowCDeviceOrderTest {
  private static final Schema SCHEMA = Schema.of(new Field("x", DataType.INT64, false));
  private static final long VALUE = 0x0707070707070707L;
  private static final long LARGE_BYTES = 4L << 30;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private final BufferAllocator allocator = new RootAllocator();

  @AfterEach
  void closeAllocator() {
    allocator.close();
  }

  private static Buffer zero(DeviceStream stream, MemoryResource resource) {
    Buffer buffer = Buffer.allocate(Long.BYTES, stream, resource);
    fill(buffer, (byte) 0, stream);
    stream.synchronize();
    return buffer;
  }

  private static void fill(Buffer buffer, byte value, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.fill(buffer.access(AccessMode.WRITE, scope), value, buffer.size());
    }
  }

  /** A table of one value that {@code stream} has yet to write. */
  private static Table table(Buffer buffer, DeviceStream stream) {
    fill(buffer, (byte) VALUE, stream);
    return new Table(SCHEMA, List.of(new Column(DataType.INT64, 1, 0, buffer, null, List.of())), 1);
  }

  private ArrowDeviceArray export(Table table, DeviceStream stream, MemoryResource resource) {
    return new ArrowCDeviceExporter(allocator, device.hostStream(), device.hostMemory())
        .toArrowDevice(table, stream, resource);
  }

  private Table fromArrowDevice(
      ArrowDeviceArray array, DeviceStream stream, MemoryResource resource)
      throws ArrowFormatException {
    try (ArrowSchema schema = CSchema.export(SCHEMA, allocator)) {
      try {
        return new ArrowCDeviceImporter(allocator, device.hostStream(), device.hostMemory())
            .fromArrowDevice(schema, array, stream, resource);
      } finally {
        schema.release();
      }
    }
  }

  /** Reads the value on {@code stream}, which alone is waited for. */
  private static long read(Table table, DeviceStream stream) {
    try (StagingBuffer result = stream.device().stagingPool().acquire(Long.BYTES)) {
      try (AccessScope scope = AccessScope.on(stream)) {
        Buffer data = table.column(0).data().orElseThrow();
        stream.copy(result.address(), data.access(AccessMode.READ, scope), Long.BYTES);
      }
      stream.synchronize();
      return HostMemory.getLong(result.address());
    }
  }

  @Test
  void aConsumerWaitsForTheArraysEventAndTheHostDoesNot() throws ArrowFormatException {
    Device deferred = new DeferredDevice();
    TrackingResourceAdaptor memory =
        new TrackingResourceAdaptor(new CudaAsyncMemoryResource(deferred));
    try (DeviceStream owner = deferred.createStream();
        DeviceStream producer = deferred.createStream();
        DeviceStream consumer = deferred.createStream();
        ArrowDeviceArray array = export(table(zero(owner, memory), owner), producer, memory);
        Table imported = fromArrowDevice(array, consumer, memory)) {
      long address = new CArray(array.address()).child(0).buffer(1);
      assertThat(HostMemory.getLong(address)).as("written").isZero();
      assertThat(read(imported, consumer)).isEqualTo(VALUE);
    }
    assertThat(memory.heldBytes()).isZero();
  }

  @Test
  void whatIsCopiedToTheDeviceMayBeReleasedAtOnce() throws ArrowFormatException {
    Device deferred = new DeferredDevice();
    TrackingResourceAdaptor memory =
        new TrackingResourceAdaptor(new CudaAsyncMemoryResource(deferred));
    try (DeviceStream consumer = deferred.createStream();
        Table host = table(zero(device.hostStream(), device.hostMemory()), device.hostStream());
        ArrowDeviceArray array =
            new ArrowCDeviceExporter(allocator, device.hostStream(), device.hostMemory())
                .toArrowHost(host, device.hostStream());
        ArrowSchema schema = CSchema.export(SCHEMA, allocator);
        Table copy =
            new ArrowCDeviceImporter(allocator, device.hostStream(), device.hostMemory())
                .fromArrowHost(schema, array, consumer, memory)) {
      HostMemory.putLong(new CArray(array.address()).child(0).buffer(1), 0);
      assertThat(read(copy, consumer)).isEqualTo(VALUE);
      schema.release();
    }
    assertThat(memory.heldBytes()).isZero();
  }

  @Test
  void aGpuStreamWaitsForTheArraysEventAndTheHostDoesNot() throws ArrowFormatException {
    assumeTrue(device.isCuda());
    for (int run = 0; run < 2; run++) {
      try (DeviceStream owner = device.device().createStream();
          DeviceStream producer = device.device().createStream();
          DeviceStream consumer = device.device().createStream();
          Buffer large = Buffer.allocate(LARGE_BYTES, owner, device.fixedMemory())) {
        Buffer value = zero(owner, device.fixedMemory());
        for (int i = 0; i < 100; i++) {
          fill(large, (byte) i, owner);
        }
        try (ArrowDeviceArray array = export(table(value, owner), producer, device.fixedMemory());
            Table imported = fromArrowDevice(array, consumer, device.fixedMemory());
            DeviceEvent written = owner.recordEvent()) {
          assertThat(run == 0 || !written.isReached())
              .as("the host is ahead of the GPU, once its code is warm")
              .isTrue();
          assertThat(read(imported, consumer)).isEqualTo(VALUE);
          assertThat(written.isReached()).isTrue();
        }
      }
    }
  }
}

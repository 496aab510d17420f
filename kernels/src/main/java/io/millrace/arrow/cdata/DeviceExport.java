// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.ArrowLayout;
import io.millrace.arrow.ArrowNode;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.Device;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/**
 * Arrays over the memory of columns on any device, and the memory of converted columns: BOOL,
 * DECIMAL32 and DECIMAL64. Nothing waits. A column that is a slice becomes an array with an offset.
 *
 * <p>An export that gives the columns away exposes their memory and copies shared buffers, since a
 * consumer may write to its array. A view only reads: it shares the buffers and keeps them in place
 * until it is closed.
 */
final class DeviceExport implements AutoCloseable {
  // The skipped elements keep all buffers aligned to 64 bytes.
  private static final int SKIPPED_AT_ONCE = Long.SIZE * Byte.SIZE;

  private final DeviceStream stream;
  private final MemoryResource resource;
  private final boolean isView;
  private final AccessScope scope;
  // Memory that was allocated, and of a view also the shared buffers.
  private final List<Buffer> made = new ArrayList<>();
  private DeviceEvent event;
  private long eventPointer;

  /**
   * @param stream orders conversions and new memory
   * @param resource memory of the stream's device
   * @param isView whether the columns stay their owner's, to be read only
   */
  DeviceExport(DeviceStream stream, MemoryResource resource, boolean isView) {
    this.isView = isView;
    this.stream = stream;
    this.resource = resource;
    this.scope = AccessScope.on(stream);
  }

  ExportedArray array(Table table) {
    return ExportedArray.table(
        table.rowCount(), table.columns().stream().map(this::array).toList());
  }

  ExportedArray array(Column column) {
    column.device().ifPresent(this::check);
    return array(column, 0, column.size());
  }

  private void check(Device device) {
    if (device != stream.device()) {
      throw new IllegalArgumentException(
          "memory of " + device.description() + " on a stream of " + stream.device().description());
    }
  }

  /**
   * Ends the work.
   *
   * @return where a pointer to an event behind it is, until this is closed; 0 on the host
   */
  long finish() {
    if (!isView) {
      scope.close();
    }
    if (stream.device().isHostAccessible()) {
      return 0;
    }
    event = stream.recordEvent();
    eventPointer = HostMemory.allocate(Long.BYTES);
    HostMemory.putLong(eventPointer, event.handle());
    return eventPointer;
  }

  /** The elements {@code [start, start + length)} of {@code column}. */
  private ExportedArray array(Column column, int start, int length) {
    int first = column.offset() + start;
    int offset = first % SKIPPED_AT_ONCE;
    int skipped = first - offset;
    int elements = offset + length;
    List<Long> buffers = new ArrayList<>();
    buffers.add(column.isNullable() ? address(column.validity().orElseThrow()) + skipped / 8 : 0);
    List<ExportedArray> children = new ArrayList<>();
    ExportedArray dictionary = null;
    switch (column.type().id()) {
      case BOOL -> buffers.add(packed(column, skipped, elements));
      case DECIMAL32, DECIMAL64 -> buffers.add(widened(column, skipped, elements));
      case STRING, BINARY -> {
        buffers.add(offsets(column, skipped));
        buffers.add(address(column.data().orElseThrow()));
      }
      case LIST -> {
        buffers.add(offsets(column, skipped));
        children.add(array(column.child(1)));
      }
      case STRUCT, TIMESTAMP_NANOS -> {
        for (Column child : column.children()) {
          children.add(array(child, skipped, elements));
        }
      }
      case DICTIONARY -> {
        buffers.add(values(column, skipped));
        dictionary = array(column.child(0));
      }
      default -> buffers.add(values(column, skipped));
    }
    ArrowNode node = new ArrowNode(length, nullCount(column, start, length), offset);
    return new ExportedArray(node, buffers, children, dictionary);
  }

  private long nullCount(Column column, int start, int length) {
    if (!column.isNullCountKnown()) {
      return ArrowNode.UNKNOWN;
    }
    int nulls = column.nullCount(stream);
    return nulls == 0 || (start == 0 && length == column.size()) ? nulls : ArrowNode.UNKNOWN;
  }

  private long values(Column column, int skipped) {
    long width = column.type().id().byteWidth();
    return address(column.data().orElseThrow()) + skipped * width;
  }

  private long offsets(Column column, int skipped) {
    Column offsets = column.child(0);
    return values(offsets, offsets.offset() + skipped);
  }

  private long packed(Column column, int skipped, int elements) {
    Buffer target = allocate(Column.maskBytes(elements));
    long source = column.data().orElseThrow().access(AccessMode.READ, scope) + skipped;
    long address = target.access(AccessMode.WRITE, scope);
    ArrowLayout.on(stream).pack(address, source, elements);
    return made(target, address);
  }

  private long widened(Column column, int skipped, int elements) {
    int width = column.type().id().byteWidth();
    int wide = TypeId.DECIMAL128.byteWidth();
    Buffer target = allocate((long) elements * wide);
    long source =
        column.data().orElseThrow().access(AccessMode.READ, scope) + (long) skipped * width;
    long address = target.access(AccessMode.WRITE, scope);
    ArrowLayout.on(stream)
        .convert(address, wide, ArrowLayout.Integers.signed(source, width), elements);
    return made(target, address);
  }

  // A view's scope keeps the memory where it is.
  private long made(Buffer target, long address) {
    return isView ? address : target.expose(scope);
  }

  private long address(Buffer buffer) {
    if (isView) {
      Buffer shared = buffer.share();
      made.add(shared);
      return shared.access(AccessMode.READ, scope);
    }
    if (buffer.liveSlices() == 1) {
      return buffer.expose(scope);
    }
    Buffer copy = allocate(buffer.size());
    stream.copy(
        copy.access(AccessMode.WRITE, scope), buffer.access(AccessMode.READ, scope), buffer.size());
    return copy.expose(scope);
  }

  private Buffer allocate(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, stream, resource);
    made.add(buffer);
    return buffer;
  }

  /** Frees the memory that was made and the event, and ends a view's use of the columns'. */
  @Override
  public void close() {
    try (scope) {
      made.forEach(Buffer::close);
    } finally {
      if (event != null) {
        event.close();
        HostMemory.free(eventPointer);
      }
    }
  }
}

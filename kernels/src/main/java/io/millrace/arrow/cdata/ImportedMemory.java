// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import io.millrace.arrow.BitMask;
import io.millrace.column.Column;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The memory of columns that are being made of arrays: views of the arrays' memory, memory that is
 * converted or copied into, and what the host reads of both. Frees all of it when it is closed,
 * unless it was given away to the columns. Used by one thread.
 */
final class ImportedMemory implements AutoCloseable {
  private final DeviceStream stream;
  private final MemoryResource resource;
  private final AccessScope scope;
  private final DeviceReads reads;
  private final Map<Buffer, Long> readBuffers = new HashMap<>();
  private final List<Buffer> opened = new ArrayList<>();
  private final List<Buffer> temporary = new ArrayList<>();

  /**
   * @param stream what copies are enqueued on and whose order new memory follows
   * @param resource memory of the stream's device
   */
  ImportedMemory(DeviceStream stream, MemoryResource resource) {
    this.stream = stream;
    this.resource = resource;
    this.scope = AccessScope.on(stream);
    this.reads = new DeviceReads(stream);
  }

  /** The host's reads; closed with this. */
  DeviceReads reads() {
    return reads;
  }

  /** Adds all of {@code buffer} to what the host reads. */
  void readOnHost(Buffer buffer) {
    if (buffer.size() > 0) {
      readBuffers.put(buffer, reads.add(read(buffer), buffer.size()));
    }
  }

  /** The host address of a buffer of {@link #readOnHost}. */
  long hostAddress(Buffer buffer) {
    return buffer.size() == 0 ? 0 : reads.address(readBuffers.get(buffer));
  }

  /** Memory of an array, or a copy of it if the device cannot load values from there. */
  Buffer view(long address, long bytes, int alignment) {
    if (address % alignment != 0) {
      return copy(address, bytes);
    }
    Buffer view = Buffer.wrap(address, bytes, stream, resource, () -> {});
    opened.add(view);
    return view;
  }

  /**
   * The padded mask of an array's first {@code end} elements; null if none of them is null. The
   * null count does not tell of those before the offset.
   */
  Buffer mask(CArray array, long end) {
    if (array.buffer(0) == 0 || (array.nullCount() == 0 && array.offset() == 0)) {
      return null;
    }
    long bytes = BitMask.bytes(end);
    long padded = Column.maskBytes(end);
    if (bytes == padded) {
      return view(array.buffer(0), bytes, Integer.BYTES);
    }
    Buffer copy = allocate(padded);
    long address = write(copy);
    stream.fill(address + bytes, (byte) 0, padded - bytes);
    stream.copy(address, array.buffer(0), bytes);
    return copy;
  }

  /** The address to load values of an array from until this is closed. */
  long aligned(long address, long values, int width) {
    return address % Math.min(width, Long.BYTES) == 0
        ? address
        : write(temporary(copy(address, values * width)));
  }

  private Buffer copy(long address, long bytes) {
    Buffer copy = allocate(bytes);
    stream.copy(write(copy), address, bytes);
    return copy;
  }

  /** Makes {@code buffer} one that no column gets. */
  Buffer temporary(Buffer buffer) {
    opened.remove(buffer);
    temporary.add(buffer);
    return buffer;
  }

  Buffer allocate(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, stream, resource);
    opened.add(buffer);
    return buffer;
  }

  /** The buffer's address for writing, until this is closed. */
  long write(Buffer buffer) {
    return buffer.access(AccessMode.WRITE, scope);
  }

  /** The buffer's address for reading, until this is closed. */
  long read(Buffer buffer) {
    return buffer.access(AccessMode.READ, scope);
  }

  /** Passes the ownership of all memory that is not temporary to the columns. */
  void give() {
    opened.clear();
  }

  @Override
  public void close() {
    try (scope;
        reads) {
      temporary.forEach(Buffer::close);
      opened.forEach(Buffer::close);
    }
  }
}

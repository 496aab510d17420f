// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;
import java.util.Objects;

/**
 * Builds a column in host memory, element by element; buffers grow by doubling. After {@link
 * #finish} the builder is empty and can build the next column, and starts it with as much memory as
 * the last column took. Used by one thread.
 *
 * <p>The appending methods of the subclass that fits the type are named after Java's types; the
 * caller must use the method that fits the type, which is not checked for each element.
 */
@PublicEvolving
public abstract class ColumnBuilder implements AutoCloseable {
  private static final int MIN_CAPACITY = 64;
  // One less than Integer.MAX_VALUE, because an offsets child has one more element.
  private static final int MAX_CAPACITY = Integer.MAX_VALUE - 1;

  final DataType type;
  final DeviceStream stream;
  final MemoryResource resource;
  int size;
  int capacity;
  private int expectedSize = MIN_CAPACITY;
  private final GrowingBuffer validity;
  private int nulls;

  ColumnBuilder(DataType type, DeviceStream stream, MemoryResource resource) {
    this.type = type;
    this.stream = stream;
    this.resource = resource;
    this.validity = new GrowingBuffer(stream, resource);
  }

  /**
   * A builder for {@code type}.
   *
   * @param stream a host stream, which must stay open as long as the columns built
   * @param resource ordinary or pinned host memory
   */
  public static ColumnBuilder of(DataType type, DeviceStream stream, MemoryResource resource) {
    return switch (type.id()) {
      case STRING, BINARY -> new VariableWidthColumnBuilder(type, stream, resource);
      case LIST -> new ListColumnBuilder(type, stream, resource);
      case STRUCT, TIMESTAMP_NANOS -> new StructColumnBuilder(type, stream, resource);
      case DICTIONARY ->
          throw new IllegalArgumentException("dictionaries are not built element by element");
      default -> new FixedWidthColumnBuilder(type, stream, resource);
    };
  }

  public DataType type() {
    return type;
  }

  /** Elements appended since the last {@link #finish}. */
  public int size() {
    return size;
  }

  /** Bytes that the elements appended so far take. */
  public abstract long sizeInBytes();

  /** Appends a null; the value under it is zero or empty. */
  public final void appendNull() {
    if (nulls == 0) {
      coverMask(Math.max(1, capacity));
    }
    nulls++;
    try {
      appendEmpty();
    } catch (RuntimeException | Error e) {
      nulls--;
      throw e;
    }
    HostMemory.putBit(validity.address(), size - 1L, false);
  }

  /** Appends the value under a null. */
  abstract void appendEmpty();

  /** Makes room for one more element and counts it. */
  final int next() {
    if (size == capacity) {
      grow();
    }
    return size++;
  }

  private void grow() {
    int larger = (int) Math.min(MAX_CAPACITY, Math.max(expectedSize, capacity * 2L));
    if (larger == size) {
      throw new IllegalStateException("a column has at most " + larger + " elements");
    }
    grow(larger);
    if (nulls > 0) {
      coverMask(larger);
    }
    capacity = larger;
  }

  /**
   * Removes the last elements, and children that belong to no element, such as after a row that
   * could not be appended to all columns of a table.
   *
   * @param elements the number of elements that remain
   * @throws IndexOutOfBoundsException if there are fewer
   */
  public final void truncate(int elements) {
    Objects.checkFromIndexSize(0, elements, size);
    truncateValues(elements);
    if (nulls > 0) {
      nulls -= HostMemory.countZeroBits(validity.address(), elements, size - elements);
      for (long i = elements; i < size; i++) {
        HostMemory.putBit(validity.address(), i, true);
      }
    }
    size = elements;
  }

  abstract void truncateValues(int elements);

  // Bits beyond the last null are always one, so that valid elements need no write.
  private void coverMask(int elements) {
    long needed = Column.maskBytes(elements);
    long covered = validity.capacity();
    if (needed > covered) {
      validity.ensure(needed);
      HostMemory.fill(validity.address() + covered, validity.capacity() - covered, (byte) 0xff);
    }
  }

  /** Makes the element buffers hold {@code newCapacity} elements. */
  abstract void grow(int newCapacity);

  /** Allocates the memory that {@link #finish} needs, so that it cannot run out of memory. */
  final void reserve() {
    if (nulls > 0) {
      coverMask(Math.max(1, size));
    }
    reserveValues();
  }

  abstract void reserveValues();

  /**
   * The column of all elements appended; the caller owns it. If it runs out of memory, the builder
   * is as before.
   */
  public final Column finish() {
    reserve();
    Buffer mask = nulls > 0 ? validity.finish(Column.maskBytes(size)) : null;
    Column column;
    try {
      column = finish(size, mask);
    } catch (RuntimeException | Error e) {
      if (mask != null) {
        mask.close();
      }
      throw e;
    }
    column.withNullCount(nulls);
    expectedSize = Math.max(MIN_CAPACITY, size);
    size = 0;
    capacity = 0;
    nulls = 0;
    return column;
  }

  abstract Column finish(int elements, Buffer mask);

  /** Frees the elements that are not finished. */
  @Override
  public void close() {
    validity.close();
    size = 0;
    capacity = 0;
    nulls = 0;
  }

  /** A column of offsets from a buffer of {@code elements + 1} int32 values. */
  static List<Column> offsets(Buffer buffer, int elements) {
    return List.of(new Column(DataType.INT32, elements + 1, 0, buffer, null, List.of()));
  }

  /** Host memory that grows by doubling and keeps its content. */
  static final class GrowingBuffer implements AutoCloseable {
    private final DeviceStream stream;
    private final MemoryResource resource;
    private Buffer buffer;
    private AccessScope scope;
    private long address;
    private long expectedBytes;

    GrowingBuffer(DeviceStream stream, MemoryResource resource) {
      this.stream = stream;
      this.resource = resource;
    }

    long address() {
      return address;
    }

    long capacity() {
      return buffer == null ? 0 : buffer.size();
    }

    void ensure(long bytes) {
      if (bytes <= capacity()) {
        return;
      }
      long used = capacity();
      long wanted = used == 0 ? expectedBytes : used * 2;
      Buffer larger = Buffer.allocate(Math.max(bytes, wanted), stream, resource);
      AccessScope largerScope = AccessScope.on(stream);
      long largerAddress;
      try {
        largerAddress = larger.access(AccessMode.WRITE, largerScope);
      } catch (RuntimeException | Error e) {
        larger.close();
        throw e;
      }
      HostMemory.copy(largerAddress, address, used);
      close();
      buffer = larger;
      scope = largerScope;
      address = largerAddress;
    }

    /** The first {@code bytes} bytes; this becomes empty. */
    Buffer finish(long bytes) {
      ensure(Math.max(1, bytes));
      Buffer finished = buffer.slice(0, bytes);
      close();
      expectedBytes = bytes;
      return finished;
    }

    @Override
    public void close() {
      if (buffer != null) {
        scope.close();
        buffer.close();
        buffer = null;
        address = 0;
      }
    }
  }
}

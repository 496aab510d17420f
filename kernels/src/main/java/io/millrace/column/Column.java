// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A sequence of {@code size} values of one type, any of which may be null: a data buffer, a
 * validity mask (bit set = valid, least significant bit first, padded to 64 bytes; absent = all
 * valid) and children, laid out as {@link TypeId} says, like Arrow's arrays.
 *
 * <p>{@code offset} is the first element's position in the buffers: a column may be a slice. The
 * offset applies to the data buffer of fixed-width types, to the mask, to the offsets child, and to
 * the children of a STRUCT or TIMESTAMP(7..9).
 *
 * <p>A column owns its buffers and children; its holder closes it once. It is immutable; values
 * under a null are undefined.
 */
@PublicEvolving
public final class Column implements AutoCloseable {
  /** The padding of masks, in bytes. */
  public static final int MASK_PADDING_BYTES = 64;

  private static final int MASK_PADDING_ELEMENTS = MASK_PADDING_BYTES * Byte.SIZE;
  private static final int UNKNOWN = -1;

  private final DataType type;
  private final int size;
  private final int offset;
  private final Buffer data;
  private final Buffer validity;
  private final List<Column> children;
  private volatile int nullCount;

  /**
   * Takes ownership of the buffers and children. If this throws, the caller still owns them.
   *
   * @param data null for types without a data buffer
   * @param validity of {@link #maskBytes} of {@code offset + size} or more; null if all elements
   *     are valid
   * @throws IllegalArgumentException if a part is missing, too small or of the wrong type, or if
   *     {@code offset + size} is above 2^31 - 1
   */
  public Column(
      DataType type, int size, int offset, Buffer data, Buffer validity, List<Column> children) {
    this.type = Objects.requireNonNull(type, "type is null");
    this.size = size;
    this.offset = offset;
    this.data = data;
    this.validity = validity;
    this.children = List.copyOf(children);
    this.nullCount = validity == null ? 0 : UNKNOWN;
    checkParts();
  }

  private void checkParts() {
    if (size < 0 || offset < 0) {
      throw new IllegalArgumentException("size " + size + " or offset " + offset + " is negative");
    }
    long end = (long) offset + size;
    if (end > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          size + " elements at offset " + offset + " are more than " + Integer.MAX_VALUE);
    }
    boolean hasData = type.id().isFixedWidth() || type.id().isVariableWidth();
    if (hasData != (data != null)) {
      throw new IllegalArgumentException(
          type + (hasData ? " needs a" : " has no") + " data buffer");
    }
    if (type.id().isFixedWidth() && data.size() < end * type.id().byteWidth()) {
      throw new IllegalArgumentException(
          "data of " + data.size() + " bytes is too small for " + end + " elements of " + type);
    }
    if (validity != null && validity.size() < maskBytes(end)) {
      throw new IllegalArgumentException(
          "expected at least " + maskBytes(end) + " padded bytes of mask, got " + validity.size());
    }
    checkChildren(end);
  }

  private void checkChildren(long end) {
    List<DataType> types = type.childTypes();
    if (types.isEmpty() && children.isEmpty()) {
      return;
    }
    if (!types.equals(children.stream().map(Column::type).toList())) {
      throw new IllegalArgumentException(type + " needs the children " + types);
    }
    if (hasOffsets() && children.get(0).size() < end + 1) {
      throw new IllegalArgumentException(
          children.get(0).size() + " offsets are too few for " + end + " elements");
    }
    boolean parallel = type.id() == TypeId.STRUCT || type.id() == TypeId.TIMESTAMP_NANOS;
    if (parallel && children.stream().anyMatch(child -> child.size() < end)) {
      throw new IllegalArgumentException("a child has fewer than " + end + " elements");
    }
  }

  /** Bytes of a mask for {@code elements} elements, padding included. */
  public static long maskBytes(long elements) {
    long bytes = (elements + 7) / 8;
    return (bytes + MASK_PADDING_BYTES - 1) / MASK_PADDING_BYTES * MASK_PADDING_BYTES;
  }

  public DataType type() {
    return type;
  }

  /** The number of elements of this column, or of its slice. */
  public int size() {
    return size;
  }

  /** The first element's position in the buffers; 0 unless this is a slice. */
  public int offset() {
    return offset;
  }

  /** The data buffer, if the type has one. Still owned by this column. */
  public Optional<Buffer> data() {
    return Optional.ofNullable(data);
  }

  /** The address of the first element of a column of a fixed-width type, for reading. */
  public long dataAddress(AccessScope scope) {
    return data.access(AccessMode.READ, scope) + (long) offset * type.id().byteWidth();
  }

  /** The mask, if the column has one. Still owned by this column. */
  public Optional<Buffer> validity() {
    return Optional.ofNullable(validity);
  }

  /** The children, still owned by this column; not narrowed to this column's slice. */
  public List<Column> children() {
    return children;
  }

  public Column child(int index) {
    return children.get(index);
  }

  /** Whether the first child holds offsets. */
  public boolean hasOffsets() {
    return type.id().isVariableWidth() || type.id() == TypeId.LIST;
  }

  /** Whether some element may be null. */
  public boolean isNullable() {
    return validity != null;
  }

  /** Whether the null count is known without asking the device. */
  public boolean isNullCountKnown() {
    return nullCount != UNKNOWN;
  }

  /**
   * The number of null elements. Counted at the first call, which copies the mask to the host and
   * waits for {@code stream}.
   */
  public int nullCount(DeviceStream stream) {
    if (nullCount == UNKNOWN) {
      nullCount = NullCount.of(validity, offset, size, stream);
    }
    return nullCount;
  }

  /** The null count if it is known, else 0. */
  int knownNullCount() {
    return Math.max(0, nullCount);
  }

  /**
   * Sets a null count that the creator of this column knows, so that it need not be counted.
   *
   * @return this column
   */
  public Column withNullCount(int knownNullCount) {
    this.nullCount = knownNullCount;
    return this;
  }

  /** The device of this column's first buffer; empty if the column has no buffer. */
  public Optional<Device> device() {
    if (data != null) {
      return Optional.of(data.device());
    }
    if (validity != null) {
      return Optional.of(validity.device());
    }
    return children.stream().flatMap(child -> child.device().stream()).findFirst();
  }

  /**
   * Elements {@code [start, start + elements)} as a new column over the same memory.
   *
   * @throws IndexOutOfBoundsException if the range is not within this column
   */
  public Column slice(int start, int elements) {
    Objects.checkFromIndexSize(start, elements, size);
    Column slice = derive(elements, offset + start, Buffer::share, Column::share);
    boolean knowsNulls = nullCount == 0 || (start == 0 && elements == size);
    return knowsNulls ? slice.withNullCount(nullCount) : slice;
  }

  /** The first elements over the same buffers and children, which this column still owns. */
  Column first(int elements) {
    Objects.checkFromIndexSize(0, elements, size);
    Column first = new Column(type, elements, offset, data, validity, children);
    boolean knowsNulls = nullCount == 0 || elements == size;
    return knowsNulls ? first.withNullCount(nullCount) : first;
  }

  /** A new column over the same memory, with the data buffer cut to {@code bytes} bytes. */
  Column firstBytes(long bytes) {
    return derive(
            size,
            offset,
            buffer -> buffer == data ? buffer.slice(0, bytes) : buffer.share(),
            Column::share)
        .withNullCount(nullCount);
  }

  /** A new column over the same memory, for reading. */
  public Column share() {
    return slice(0, size);
  }

  /**
   * A column of the same content; later writes to either column are invisible to the other: {@link
   * Buffer#shallowCopy} of each part.
   *
   * @param stream the stream of copies of exposed memory, which also orders it
   */
  public Column shallowCopy(DeviceStream stream) {
    return derive(
            size, offset, buffer -> buffer.shallowCopy(stream), child -> child.shallowCopy(stream))
        .withNullCount(nullCount);
  }

  /**
   * A column of the same content in memory of its own. Parts that cannot be written to in place are
   * copied shallowly: elements of STRING, BINARY and LIST have no fixed place, so a change makes a
   * new column, and the values of a DICTIONARY are only replaced as a whole.
   *
   * @param stream the stream that copies are enqueued on and that orders their memory
   */
  public Column deepCopy(DeviceStream stream) {
    if (hasOffsets()) {
      return shallowCopy(stream);
    }
    boolean isDictionary = type.id() == TypeId.DICTIONARY;
    return derive(
            size,
            offset,
            buffer -> buffer.deepCopy(stream),
            child -> isDictionary ? child.shallowCopy(stream) : child.deepCopy(stream))
        .withNullCount(nullCount);
  }

  /** A column of this type, part by part; if a part fails, the earlier parts are closed. */
  private Column derive(
      int newSize, int newOffset, UnaryOperator<Buffer> buffers, UnaryOperator<Column> columns) {
    List<Column> newChildren = new ArrayList<>(children.size());
    Buffer newData = null;
    Buffer newValidity = null;
    try {
      for (Column child : children) {
        newChildren.add(columns.apply(child));
      }
      newData = data == null ? null : buffers.apply(data);
      newValidity = validity == null ? null : buffers.apply(validity);
      return new Column(type, newSize, newOffset, newData, newValidity, newChildren);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      close(newData, newValidity, newChildren, failure);
      throw e;
    }
  }

  /**
   * Enqueues a copy of the column into memory of {@code target}. For a slice only its own elements
   * are copied, except for the bytes of strings and the elements of lists, whose range only the
   * device knows, and for dictionaries. If either side is ordinary host memory the copy is done
   * when this returns; for pinned memory and device memory it is done when the work of {@code
   * stream} is.
   *
   * @param stream a stream of the GPU if a GPU is involved
   * @param targetStream orders the new memory; a stream of the target's device
   */
  public Column copyTo(MemoryResource target, DeviceStream targetStream, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      return copyTo(target, targetStream, scope);
    }
  }

  Column copyTo(MemoryResource target, DeviceStream targetStream, AccessScope scope) {
    if (offset >= MASK_PADDING_ELEMENTS || hasElementsBehind()) {
      try (Column narrowed = narrowed()) {
        return narrowed.copyParts(target, targetStream, scope);
      }
    }
    return copyParts(target, targetStream, scope);
  }

  private Column copyParts(MemoryResource target, DeviceStream targetStream, AccessScope scope) {
    return derive(
            size,
            offset,
            buffer -> buffer.copyTo(target, targetStream, scope),
            child -> child.copyTo(target, targetStream, scope))
        .withNullCount(nullCount);
  }

  private boolean hasElementsBehind() {
    long end = (long) offset + size;
    if (type.id().isFixedWidth()) {
      return data.size() > end * type.id().byteWidth();
    }
    return hasOffsets() ? children.get(0).size() > end + 1 : firstChildSize() > end;
  }

  private int firstChildSize() {
    return children.isEmpty() ? 0 : children.get(0).size();
  }

  // Whole units of padding before the slice are left out, so that the mask stays padded.
  private Column narrowed() {
    int kept = offset % MASK_PADDING_ELEMENTS;
    int dropped = offset - kept;
    int elements = kept + size;
    return derive(
            size,
            kept,
            buffer ->
                buffer == data ? narrowedData(dropped, elements) : narrowedMask(dropped, elements),
            child -> narrowedChild(child, dropped, elements))
        .withNullCount(nullCount);
  }

  private Buffer narrowedData(int dropped, int elements) {
    long width = type.id().byteWidth();
    return type.id().isFixedWidth() ? data.slice(dropped * width, elements * width) : data.share();
  }

  private Buffer narrowedMask(int dropped, int elements) {
    return validity.slice(dropped / Byte.SIZE, maskBytes(elements));
  }

  private Column narrowedChild(Column child, int dropped, int elements) {
    if (hasOffsets() && child == children.get(0)) {
      return child.slice(dropped, elements + 1);
    }
    boolean isParallel = type.id() == TypeId.STRUCT || type.id() == TypeId.TIMESTAMP_NANOS;
    return isParallel ? child.slice(dropped, elements) : child.share();
  }

  /** Closes every part, also after failures, and then throws the first failure. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    close(data, validity, children, failure);
    failure.rethrow();
  }

  private static void close(
      Buffer data, Buffer validity, List<Column> children, FirstFailure failure) {
    if (data != null) {
      failure.run(data::close);
    }
    if (validity != null) {
      failure.run(validity::close);
    }
    children.forEach(child -> failure.run(child::close));
  }

  @Override
  public String toString() {
    return type + "[" + size + "]";
  }
}

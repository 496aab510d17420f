package io.millrace.column;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A sequence of {@code size} values of one type, any of which may be null: a data buffer, a
 * validity mask (bit set = valid, least significant bit first, padded to 64 bytes; absent = all
 * valid) and children, laid out as {@link TypeId} says, like Arrow's arrays.
 *
 * <p>{@code offset} is the first element's position in the buffers: a column may be a slice. The
 * offset applies to the data buffer of fixed-width types, to the mask, to the offsets child, and to
 * the children of a STRUCT or TIMESTAMP(7..9).
 *
 * <p>A column owns its buffers and children and is closed once by whoever holds it. It is
 * immutable; values under a null are undefined.
 */
public final class Column implements AutoCloseable {
  /** What masks are padded to, in bytes. */
  public static final int MASK_PADDING_BYTES = 64;

  private static final int UNKNOWN = -1;

  private final DataType type;
  private final int size;
  private final int offset;
  private final Buffer data;
  private final Buffer validity;
  private final List<Column> children;
  private volatile int nullCount;

  /**
   * Takes ownership of the buffers and children.
   *
   * @param data null for types without a data buffer
   * @param validity null if all elements are valid
   * @throws IllegalArgumentException if a part is missing, too small or of the wrong type
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
    boolean hasData = type.id().isFixedWidth() || type.id().isVariableWidth();
    if (hasData != (data != null)) {
      throw new IllegalArgumentException(
          type + (hasData ? " needs a" : " has no") + " data buffer");
    }
    if (type.id().isFixedWidth() && data.size() < end * type.id().byteWidth()) {
      throw new IllegalArgumentException(
          "data of " + data.size() + " bytes is too small for " + end + " elements of " + type);
    }
    if (validity != null && validity.size() < (end + 7) / 8) {
      throw new IllegalArgumentException(
          "mask of " + validity.size() + " bytes is too small for " + end + " elements");
    }
    checkChildren(end);
  }

  private void checkChildren(long end) {
    List<DataType> types = type.childTypes();
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

  /** Elements of this column; of a slice, those of the slice. */
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
   * How many elements are null. Counted at the first call, which copies the mask to the host and
   * waits for {@code stream}.
   */
  public int nullCount(DeviceStream stream) {
    if (nullCount == UNKNOWN) {
      nullCount = NullCount.of(validity, offset, size, stream);
    }
    return nullCount;
  }

  /**
   * Tells this column a null count that its maker knows already, so that nobody has to count.
   *
   * @return this column
   */
  public Column withNullCount(int knownNullCount) {
    this.nullCount = knownNullCount;
    return this;
  }

  /** Where this column's memory is; the first buffer found decides, empty if there is none. */
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
    Column slice =
        new Column(
            type,
            elements,
            offset + start,
            data == null ? null : data.share(),
            validity == null ? null : validity.share(),
            children.stream().map(Column::share).toList());
    if (nullCount == 0 || (start == 0 && elements == size)) {
      slice.nullCount = nullCount;
    }
    return slice;
  }

  /** A new column over the same memory: a shallow copy. */
  public Column share() {
    return slice(0, size);
  }

  /**
   * Enqueues a copy of the whole column, slice offset included, into memory of {@code target}. If
   * either side is ordinary host memory the copy is done when this returns; for pinned memory and
   * device memory it is done when the work of {@code stream} is.
   *
   * @param stream a stream of the device that is not the host, if one is involved
   * @param targetStream orders the new memory; a stream of the target's device
   */
  public Column copyTo(MemoryResource target, DeviceStream targetStream, DeviceStream stream) {
    List<Column> copies = new ArrayList<>();
    Buffer dataCopy = null;
    Buffer validityCopy = null;
    try {
      for (Column child : children) {
        copies.add(child.copyTo(target, targetStream, stream));
      }
      dataCopy = data == null ? null : copy(data, target, targetStream, stream);
      validityCopy = validity == null ? null : copy(validity, target, targetStream, stream);
      return new Column(type, size, offset, dataCopy, validityCopy, copies)
          .withNullCount(nullCount);
    } catch (RuntimeException | Error e) {
      close(dataCopy, validityCopy, copies);
      throw e;
    }
  }

  private static Buffer copy(
      Buffer source, MemoryResource target, DeviceStream targetStream, DeviceStream stream) {
    Buffer copy = Buffer.allocate(source.size(), targetStream, target);
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.copy(
          copy.access(AccessMode.WRITE, scope),
          source.access(AccessMode.READ, scope),
          source.size());
      return copy;
    } catch (RuntimeException | Error e) {
      copy.close();
      throw e;
    }
  }

  @Override
  public void close() {
    close(data, validity, children);
  }

  private static void close(Buffer data, Buffer validity, List<Column> children) {
    if (data != null) {
      data.close();
    }
    if (validity != null) {
      validity.close();
    }
    children.forEach(Column::close);
  }

  @Override
  public String toString() {
    return type + "[" + size + "]";
  }
}
